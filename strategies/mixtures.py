"""How sessions are mixed: an opening, a list of moves, and an end.

Words stand in each mixture from the simplest to the rarest, and Hypothesis shrinks towards the first.
Every example switches some of the extra words off (swarm testing), so that rare situations are not
diluted by common ones.
"""

from __future__ import annotations

import random
from functools import cache
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from contextproof.conformance.play.scenario import Scenario, ScenarioOpening
from contextproof.strategies import tables
from contextproof.strategies.author import Author, Move

Moves = tuple[SearchStrategy[Move], ...]


class Mixture(NamedTuple):
    """What sessions are made of.

    ``core`` words are in every session, each ``extra`` one in half of them. ``least`` and ``most``
    bound the number of moves, among which are some that do nothing: so sessions are long as a rule, and
    shrink to one step. ``closes`` is how many sessions in four end by closing.
    """

    openings: SearchStrategy[ScenarioOpening]
    core: Moves
    extra: Moves = ()
    least: int = 5
    most: int = 16
    closes: int = 2


@st.composite
def written(draw: DrawFn, name: str, mixtures: tuple[Mixture, ...]) -> Scenario:
    """A session by one of the mixtures."""
    mixture = draw(_one_of(mixtures))
    mark = draw(_MARK)
    author = Author(draw(mixture.openings), mark)
    switches = draw(_switches(len(mixture.extra))) if mixture.extra else 0
    for move in draw(_moves(mixture, switches)):
        move(author)
    if not author.steps:
        author.request()
    if draw(_QUARTERS) < mixture.closes:
        author.close()
    return author.scenario(name)


_MARK = st.sampled_from((*[""] * 6, *tables.MARKS))
_QUARTERS = st.integers(0, 3).map(lambda quarter: 3 - quarter)


@cache
def _one_of(mixtures: tuple[Mixture, ...]) -> SearchStrategy[Mixture]:
    return st.sampled_from(mixtures)


@cache
def _switches(words: int) -> SearchStrategy[int]:
    """Which of some words are on, as bits: half of them in some way, or all.

    Only so many ways, the same in every run: a strategy is made for each, which takes longer than
    drawing from it.
    """
    chance = random.Random(words)  # noqa: S311 -- nobody is to be kept from guessing these
    ways = {sum(1 << n for n in chance.sample(range(words), (words + 1) // 2)) for _ in range(_WAYS)}
    return st.sampled_from((*sorted(ways), 2**words - 1))


#: How many ways to switch words on; enough for any two words to be on, and any one off, in several.
_WAYS = 20


@cache
def _moves(mixture: Mixture, switches: int) -> SearchStrategy[list[Move]]:
    extra = [word for n, word in enumerate(mixture.extra) if switches >> n & 1]
    moves = st.one_of(_NOTHING, *mixture.core, *extra)
    return st.lists(moves, min_size=mixture.least, max_size=mixture.most)


def _nothing(author: Author) -> None:
    """Nothing happens."""


_NOTHING: SearchStrategy[Move] = st.just(_nothing)
