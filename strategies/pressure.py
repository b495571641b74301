"""Words for scarcity: results, recall and history that press a small body, and what may never yield.

Sizes are shares of the session's body, so that the same words press every window: a few turns are
enough to lose recall, to truncate results by need and by their cap, to need compaction, and to
exhaust the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contextproof.conformance.contract.caps import CAPS
from contextproof.conformance.contract.vocabulary import TokenClass, Trust
from contextproof.conformance.play.scenario import LabelledItem, Recall, Text
from contextproof.strategies import tables, texts, turns
from contextproof.strategies.author import Answer, Asked, Author, Field, Move, Sent, Wording
from contextproof.strategies.changes import corrected
from contextproof.strategies.sizes import exact_share, results_cap, share_of_body, text_of_tokens
from contextproof.strategies.state import (
    FIELDS,
    STATE_TOKENS,
    WRITERS,
    Writer,
    Written,
    write,
    written,
)

_TEXT = tables.PROSE[0]

RESULT_SIZES: tuple[Wording, ...] = (
    "x",
    share_of_body(1, 16, _TEXT),
    share_of_body(1, 8, tables.PROSE[-1]),
    share_of_body(1, 10, tables.CODE[0]),
    share_of_body(1, 16, tables.TRANSLATED[0]),
    results_cap(),
    results_cap(-1),
    results_cap(1),
    share_of_body(1, 2, _TEXT),
    share_of_body(5, 4, _TEXT),
)
"""A word; a sixteenth to an eighth of the body; the cap to the token; half of the body; more than all."""

SMALL_RESULTS = RESULT_SIZES[:5]
"""Several of these stay within their cap while all else presses."""

MESSAGE_SIZES: tuple[Wording, ...] = (
    "x",
    share_of_body(1, 10, _TEXT),
    share_of_body(1, 5, _TEXT),
    share_of_body(1, 3, tables.CODE[0]),
)

RECALL_CAP = CAPS[TokenClass.RECALL]


def answered(wording: Wording, trust: Trust | None = None, status: Literal["ok", "error"] = "ok") -> Asked:
    """A call whose result has that size."""
    return Asked(answer=Answer(text=wording, trust=trust, status=status))


@cache
def presses(sizes: tuple[Wording, ...] = RESULT_SIZES) -> SearchStrategy[Move]:
    """One to three calls in one message, with results of these sizes."""
    call = st.builds(
        answered,
        st.sampled_from(sizes),
        st.sampled_from((None, Trust.INTERNAL, Trust.EXTERNAL_UNTRUSTED)),
        st.sampled_from(("ok", "ok", "error")),
    )
    return st.builds(_presses, st.lists(call, min_size=1, max_size=3), st.integers(0, 5), turns.SENT)


def _presses(asked: Sequence[Asked], order: int, sent: Sent) -> Move:
    def move(author: Author) -> None:
        author.request(sent)
        author.reply("", asked, order=order)

    return move


@cache
def talks() -> SearchStrategy[Move]:
    """A turn whose question and answer take up to a third of the body each: history grows."""
    return st.builds(_talks, st.sampled_from(MESSAGE_SIZES), st.sampled_from(MESSAGE_SIZES[1:]))


def _talks(question: Wording, answer: Wording) -> Move:
    def move(author: Author) -> None:
        author.user(question)
        author.reply(answer)

    return move


def squeezes() -> SearchStrategy[Move]:
    """Results well within their cap, then talk until nothing fits: they give way one after the other."""
    return st.builds(_squeezes, st.sampled_from((4, 2, 3)), st.integers(0, 5), st.sampled_from((6, 9, 40)))


def _squeezes(results: int, beyond: int, denominator: int) -> Move:
    """``beyond`` is how many turns of that share of the body follow once half of it is talked full."""
    size = share_of_body(1, denominator, _TEXT)

    def move(author: Author) -> None:
        author.user("Look at these.")
        for _ in range(results):
            author.reply("", [answered(share_of_body(1, 17, _TEXT))])
        author.reply("I have.")
        for _ in range(denominator // 2 + beyond):
            author.user("Go on.")
            author.reply(size)

    return move


def trickles() -> SearchStrategy[Move]:
    """Results at their cap give way to talk that grows slowly: two of four, then the others."""
    return st.builds(_trickles, st.integers(22, 25), st.sampled_from((55, 70)))


def _trickles(turns_of_talk: int, denominator: int) -> Move:
    def move(author: Author) -> None:
        author.user("Look at these.")
        for _ in range(4):
            author.reply("", [answered(exact_share(1, 16))])
        sizes = [share_of_body(9, 40, _TEXT)] * 2 + [share_of_body(1, denominator, _TEXT)] * turns_of_talk
        for size in sizes:
            author.reply(size)
            author.user("Go on.")
        author.request()

    return move


@cache
def recalls_much() -> SearchStrategy[Move]:
    """Recall at its cap, over it, with an item that alone exceeds it, or large beside a full body."""
    item = st.tuples(
        st.sampled_from(
            (
                "x",
                _tokens(RECALL_CAP // 2),
                _tokens(RECALL_CAP),
                _tokens(RECALL_CAP + 1),
                exact_share(1, 8),
                exact_share(1, 2),
                share_of_body(1, 6, _TEXT),
            )
        ),
        st.sampled_from((None, Trust.INTERNAL)),
    )
    return st.builds(_recalls_much, st.lists(item, min_size=1, max_size=4), st.booleans())


def _tokens(number: int) -> Wording:
    return lambda author: text_of_tokens(author.model.tokenizer, number)


def _recalls_much(drawn: Sequence[tuple[Wording, Trust | None]], sent: bool) -> Move:
    def move(author: Author) -> None:
        if not author.in_turn:
            author.user()
        items = tuple(
            LabelledItem(id=author.new_id("q"), text=author.word(text), trust=trust, source="memory")
            for text, trust in drawn
        )
        author.add(Recall(items=items))
        if sent:
            author.request()

    return move


# --- What never yields --------------------------------------------------------------------------------


def exhausts() -> SearchStrategy[Move]:
    """Something that may never yield is over its cap or the limit, and a request is tried.

    What would stand in every later request too is taken back then, so that the session goes on.
    """
    return st.sampled_from((_huge_message, _huge_arguments, _much_environment, _many_corrections))


def _huge_message(author: Author) -> None:
    author.user(exact_share(3, 2))
    author.request()


def _huge_arguments(author: Author) -> None:
    author.reply("", [Asked(arguments=exact_share(3, 2))])
    author.request()


def _much_environment(author: Author) -> None:
    _environment(1)(author)
    author.request()
    turns.told([])(author)


def _many_corrections(author: Author) -> None:
    corrected(_tokens(CAPS[TokenClass.MEMORY_CORRECTIONS] + 1))(author)
    author.request()
    corrected("x")(author)


def _environment(plus: int) -> Move:
    return turns.told([_tokens(CAPS[TokenClass.ENVIRONMENT] + plus)])


def keeps_in_mind() -> SearchStrategy[Move]:
    """Working state of a sixth of the body, or of almost all that it may have where that is less."""
    return st.builds(_keeps, st.sampled_from(WRITERS), st.sampled_from(FIELDS))


def _keeps(by: Writer, field: Field) -> Move:
    def text(author: Author) -> Text:
        return text_of_tokens(author.model.tokenizer, min(author.body // 6, STATE_TOKENS - 20))

    return lambda author: write(author, by, written([Written(field, text, old=0)]))


def stands() -> SearchStrategy[Move]:
    """What never yields is exactly at its cap: environment, corrections; or nearly fills the body."""
    return st.sampled_from(
        (
            _environment(0),
            _environment(-1),
            corrected(_tokens(CAPS[TokenClass.MEMORY_CORRECTIONS])),
            _says(exact_share(1, 2)),
            _says(exact_share(4, 5)),
        )
    )


def _says(wording: Wording) -> Move:
    return lambda author: author.user(wording)


# --- Hostile content that is cut ----------------------------------------------------------------------


@cache
def cuts_hostile() -> SearchStrategy[Move]:
    """A long hostile result, cut wherever the builder cuts: emoji at every offset, delimiters, runs."""
    long = texts.families(30, 150, 400) | texts.runs(300, 3_000) | _repeated()
    return st.builds(_cuts, long, st.booleans())


def _repeated() -> SearchStrategy[Text]:
    """A long text of hostile pieces over and over, at every shift."""
    return st.builds(_over_and_over, st.sampled_from(tables.LITERAL_HOSTILE), st.integers(0, 9))


def _over_and_over(text: str, shift: int) -> Text:
    return texts.repeated("x" * shift, text)


def _cuts(text: Text, then: bool) -> Move:
    def move(author: Author) -> None:
        author.reply("", [answered(text)])
        if then:
            author.reply("", [answered(results_cap())])
        author.request()

    return move
