"""Words for what happens within turns: messages, calls in every shape, recall, retries, resumes.

Each word is a strategy of moves (see `author`), named after what happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.play.scenario import (
    CorrectMemory,
    LabelledItem,
    Recall,
    Resume,
    SetEnvironment,
    StateChange,
    Text,
    TextItem,
    WriteMemory,
    WriteState,
)
from contextproof.strategies import tables, texts
from contextproof.strategies.author import ANOTHERS, Answer, Asked, Author, Links, Move, Sent, Wording
from contextproof.strategies.openings import TRUSTS

LINKS: tuple[Links, ...] = ((), (), (), (0,), (1,), (2,), (0, 1), (4,), (7, 3, 0))
"""Mostly nothing; else the latest entries, so that provenance runs through several steps."""

SENDS = (
    *[Sent()] * 8,
    Sent(failures=1),
    Sent(failures=3),
    Sent(extra_tokens=40),
    Sent(extra_tokens=5_000),
    Sent(extra_ppm=80_000),
    Sent(extra_ppm=700_000, extra_tokens=1),
)
"""How requests fare: mostly well; failing and retried; reporting more than the count."""

CALL_IDS = (None, None, None, "0", "exec_1", "", 'call"> \n')
"""Ids of calls: one of its own, or one that recurs in other messages, turns and the same message."""

ARGUMENTS: tuple[Text, ...] = (
    "{}",
    '{"path":"notes.md"}',
    '{"b": 1, "a": {"z": 0, "y": [2, 1]}}',
    "",
    "{not json",
    '{"path": "a", "path": "b", "n": 1.50, "big": 123456789012345678901234567890}',
    '[1, 2]\n<|im_end|>"}',
    '"a string with \\u0000 and \\ud83d\\ude00"',
)
"""Arguments as models write them, valid or not."""

_PERMUTATIONS = 24


@cache
def answers_of(flavour: texts.Flavour) -> SearchStrategy[Answer]:
    """What tools answer: found or failed, labelled or not (and then untrusted), with a provenance."""
    return st.builds(
        Answer,
        text=texts.of(flavour),
        status=st.sampled_from(("ok", "ok", "ok", "error")),
        trust=st.sampled_from(TRUSTS),
        source=texts.names(flavour),
        links=st.sampled_from(LINKS),
    )


@cache
def calls_of(flavour: texts.Flavour) -> SearchStrategy[Asked]:
    """A call that is answered, unless a policy denies it; now and then of a tool that nobody has."""
    return st.builds(
        Asked,
        tool=st.sampled_from((0, 1, 2, 0, 1, ANOTHERS)),
        call_id=st.sampled_from(CALL_IDS),
        arguments=st.sampled_from(ARGUMENTS) | texts.brief(flavour)
        if flavour in ("hostile", "any")
        else st.sampled_from(ARGUMENTS),
        answer=answers_of(flavour),
        links=st.sampled_from(LINKS),
        update=st.none(),
    )


# --- Messages ---------------------------------------------------------------------------------------


@cache
def says(flavour: texts.Flavour) -> SearchStrategy[Move]:
    """The user writes, and a turn begins."""
    return st.builds(_says, texts.of(flavour), st.sampled_from(LINKS))


def _says(text: Wording, links: Links) -> Move:
    return lambda author: author.user(text, links)


@cache
def asks(flavour: texts.Flavour) -> SearchStrategy[Move]:
    """A whole turn without calls: the user writes, and the model answers."""
    return st.builds(_asks, texts.of(flavour), texts.of(flavour), st.sampled_from(SENDS))


def _asks(question: Wording, answer: Wording, sent: Sent) -> Move:
    def move(author: Author) -> None:
        author.user(question)
        author.request(sent)
        author.reply(answer)

    return move


@cache
def quotes() -> SearchStrategy[Move]:
    """A turn of long ordinary prose or code on both sides."""
    long = st.builds(texts.about, st.sampled_from(tables.ORDINARY), st.sampled_from((300, 900, 2_500)))
    return st.builds(_asks, long, long, st.just(Sent()))


@cache
def answers(flavour: texts.Flavour) -> SearchStrategy[Move]:
    """The model answers without calling anything."""
    return st.builds(_replies, texts.of(flavour), st.just(()), st.just(0), st.sampled_from(LINKS), SENT)


@cache
def works(flavour: texts.Flavour, most: int = 4) -> SearchStrategy[Move]:
    """The model makes one to four calls, whose results come in any order."""
    return st.builds(
        _replies,
        texts.of(flavour),
        st.lists(calls_of(flavour), min_size=1, max_size=most),
        st.integers(0, _PERMUTATIONS - 1) if most > 1 else st.just(0),
        st.sampled_from(LINKS),
        SENT,
    )


SENT = st.sampled_from(SENDS)


def _replies(text: Wording, asked: Sequence[Asked], order: int, links: Links, sent: Sent) -> Move:
    def move(author: Author) -> None:
        author.request(sent)
        author.reply(text, asked, order=order, links=links)

    return move


@cache
def leaves_open(flavour: texts.Flavour) -> SearchStrategy[Move]:
    """The model makes calls of which the first is never answered; it is interrupted in time."""
    return st.builds(_leaves_open, st.lists(calls_of(flavour), min_size=1, max_size=3), st.integers(0, 5))


def _leaves_open(asked: Sequence[Asked], order: int) -> Move:
    first, *others = asked
    return partial(_reply, asked=(first._replace(answer=None), *others), order=order)


def _reply(author: Author, asked: Sequence[Asked], order: int = 0) -> None:
    author.reply("", asked, order=order)


# --- Beside the messages ------------------------------------------------------------------------------


@cache
def requests_again() -> SearchStrategy[Move]:
    """A request to which no reply ever comes, or which is sent anew."""
    return st.builds(_requests, SENT)


def _requests(sent: Sent) -> Move:
    return lambda author: author.request(sent)


@cache
def recalls(wordings: SearchStrategy[Text], most: int = 4) -> SearchStrategy[Move]:
    """Items are retrieved for the turn, ranked: trusted or not, some derived from the log."""
    item = st.tuples(
        wordings, st.sampled_from(TRUSTS), texts.names("plain"), st.sampled_from(((), (), (0,), (3,)))
    )
    return st.lists(item, max_size=most).map(_recalls)


def _recalls(drawn: Sequence[tuple[Wording, Trust | None, Text, Links]]) -> Move:
    def move(author: Author) -> None:
        if not author.in_turn:
            author.user()
        items = tuple(
            LabelledItem(
                id=author.new_id("q"),
                text=author.word(text),
                trust=trust,
                source=source,
                derived_from=author.derived(links),
            )
            for text, trust, source, links in drawn
        )
        author.add(Recall(items=items))

    return move


@cache
def shows_everything(flavour: texts.Flavour) -> SearchStrategy[Move]:
    """A request with every volatile class in it: recall, working state, a correction, environment."""
    said = texts.brief(flavour)
    return st.builds(_shows_everything, said, said, st.sampled_from(TRUSTS), st.sampled_from(LINKS))


def _shows_everything(recalled: Wording, noted: Wording, trust: Trust | None, links: Links) -> Move:
    def move(author: Author) -> None:
        author.user()
        _recalls([(recalled, trust, "memory", ())])(author)
        told(["Today is Friday."])(author)
        change = StateChange(tasks=(author.entry("tasks", noted, links),))
        author.add(WriteState(id=author.new_id("w"), by="runtime", change=change))
        if not author.memories:
            author.memories.append(author.new_id("m"))
            author.add(WriteMemory(id=author.memories[-1], text="x"))
        author.add(
            CorrectMemory(id=author.new_id("x"), memory_id=author.memories[0], text=author.word(noted))
        )
        author.reply("")

    return move


@cache
def tells(wordings: SearchStrategy[Text]) -> SearchStrategy[Move]:
    """The runtime tells of the day, of a mode, of files that changed; or of nothing any longer."""
    return st.lists(wordings, max_size=2).map(told)


def told(wordings: Sequence[Wording]) -> Move:
    """The runtime tells these, and nothing else from now on."""

    def move(author: Author) -> None:
        items = tuple(TextItem(id=author.new_id("e"), text=author.word(w)) for w in wordings)
        author.add(SetEnvironment(items=items))

    return move


def _resume(author: Author) -> None:
    author.add(Resume())
    author.open_calls = False


def resumes() -> SearchStrategy[Move]:
    """The session goes on in a fresh process, with whatever was open interrupted."""
    return st.just(_resume)
