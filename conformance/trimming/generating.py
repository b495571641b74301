"""Cases to put a trimmer to, as Hypothesis strategies: small texts, small limits, every path in a few turns.

Limits are drawn at what must be kept, at the whole, at any message, and one token to either side.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contextproof.conformance.play.scenario import Text
from contextproof.conformance.trimming.dialogue import Conversation, Step, ToolUse, Trait, Turn
from contextproof.conformance.trimming.session import Case, Limit
from contextproof.strategies import tables, texts

StrategyName = Literal["pressure", "edges", "refusals", "growing", "texts", "room"]
STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)

TOOLS = ("search", "read_file", "run")
#: Turns of a conversation that is to grow: enough to leave something out more than once.
_GROWING = (7, 12)


@cache
def plain() -> SearchStrategy[Text]:
    """Ordinary English and code, from a word to a few hundred tokens."""
    return st.sampled_from(tables.PLAIN) | texts.from_corpus((*tables.PROSE, *tables.CODE), most=400)


@cache
def any_text() -> SearchStrategy[Text]:
    """Every script, special tokens, controls, invisible characters, long runs, and nothing."""
    kinds = (
        *(tables.SCRIPTS, tables.SPECIAL_TOKENS, tables.CONTROLS, tables.INVISIBLE),
        *(tables.STRUCTURED, tables.COMPOSED, tables.BLANK),
    )
    return st.one_of(
        st.sampled_from(tables.PLAIN),
        *(st.sampled_from(kind) for kind in kinds),
        texts.runs(3, 40, 300),
        texts.families(1, 6, 30),
        texts.from_corpus(tables.TRANSLATED, most=400),
    )


def uses(text: SearchStrategy[Text]) -> SearchStrategy[ToolUse]:
    """A call with its result."""
    return st.builds(ToolUse, tool=st.sampled_from(TOOLS), argument=text, result=text)


def steps(text: SearchStrategy[Text]) -> SearchStrategy[Step]:
    """An assistant message with one to three calls."""
    return st.builds(
        Step,
        says=st.just("") | text,
        uses=st.lists(uses(text), min_size=1, max_size=3).map(tuple),
        is_reversed=st.booleans(),
    )


def turns(text: SearchStrategy[Text], most_steps: int = 2) -> SearchStrategy[Turn]:
    """A turn, now and then an interrupted one."""
    return st.builds(
        Turn,
        user=text,
        steps=st.lists(steps(text), max_size=most_steps).map(tuple),
        answer=st.one_of(*[text.map(_alone)] * 3, st.just(())),
    )


def _alone(text: Text) -> tuple[Text]:
    return (text,)


def conversations(
    text: SearchStrategy[Text], least: int = 1, most: int = 5, most_steps: int = 2
) -> SearchStrategy[Conversation]:
    """A conversation of so many turns."""
    return st.builds(
        Conversation,
        system=st.lists(text, max_size=2).map(tuple),
        turns=st.lists(turns(text, most_steps), min_size=least, max_size=most).map(tuple),
        traits=st.lists(st.sampled_from(get_args(Trait)), unique=True).map(tuple),
    )


def between() -> SearchStrategy[Limit]:
    """A limit at which something must go, and something need not."""
    return st.builds(Limit, of=st.just("between"), n=st.integers(0, 990)) | st.builds(
        Limit, of=st.just("newest"), n=st.integers(1, 12)
    )


def edges() -> SearchStrategy[Limit]:
    """A limit at an edge, or a token to either side."""
    near = st.integers(-1, 1)
    return st.one_of(
        st.builds(Limit, of=st.just("least"), plus=st.sampled_from((-1, -1, 0, 1))),
        st.builds(Limit, of=st.just("whole"), plus=near),
        st.builds(Limit, of=st.just("newest"), n=st.integers(1, 12), plus=near),
    )


def too_little() -> SearchStrategy[Limit]:
    """A limit below what must not be given up, and now and then just above it."""
    return st.builds(Limit, of=st.just("bare"), plus=st.sampled_from((-1, -1, -1, -2, -20, 0, 1)))


def room() -> SearchStrategy[Limit]:
    """A limit with room for everything, just so or by far."""
    return st.builds(Limit, of=st.just("room"), plus=st.sampled_from((0, 1, 10_000)))


def cases(name: StrategyName) -> SearchStrategy[Case]:
    """Cases of one kind."""
    match name:
        case "pressure":
            return _case(name, conversations(plain()), between())
        case "edges":
            return _case(name, conversations(plain(), most=4), edges())
        case "refusals":
            return _case(name, conversations(plain(), most=3), too_little())
        case "growing":
            limits = st.builds(Limit, of=st.just("between"), n=st.integers(150, 700))
            talk = conversations(plain(), *_GROWING, most_steps=1)
            return _case(name, talk, limits, is_growing=True)
        case "texts":
            return _case(name, conversations(any_text(), 0, 4), between() | room())
        case "room":
            return _case(name, conversations(plain() | any_text(), 0, 8), room())


def _case(
    name: StrategyName,
    talk: SearchStrategy[Conversation],
    limits: SearchStrategy[Limit],
    *,
    is_growing: bool = False,
) -> SearchStrategy[Case]:
    return st.builds(
        Case, name=st.just(name), conversation=talk, limit=limits, is_growing=st.just(is_growing)
    )
