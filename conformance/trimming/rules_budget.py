"""Rules on room: within the limit, nothing given up without need, and refusals that are true and clear."""

from __future__ import annotations

from collections.abc import Iterator

from contextproof.conformance.judgement import At, Judgement, judge
from contextproof.conformance.requirements.registry import MUST
from contextproof.conformance.trimming.aligning import missing
from contextproof.conformance.trimming.formats import WrongShape
from contextproof.conformance.trimming.rules import rule
from contextproof.conformance.trimming.rules_contents import returned
from contextproof.conformance.trimming.session import Asked, Broken, Raised, Returned, Session
from contextproof.conformance.trimming.telling import tokens_told, told

OVER = "more was handed over than the limit"
JUST_OVER = "one token more was handed over than the limit"
JUST_FITS = "just as much was handed over as the limit"
OTHER_SCRIPTS = "text in other scripts than Latin, and too little room for all"
CALLS_TO_COUNT = "calls whose arguments count, and too little room for all"
ROOM = "room for everything by any count"
LONG = "twenty messages or more, and room for them"
ITS_OWN = "its own shorter answer handed over to it"
IMPOSSIBLE = "what must not be given up is more than the limit"
BY_ONE_TOKEN = "what must not be given up is one token more than the limit"  # noqa: S105 -- not a secret
PLAIN = "ordinary text, and room for what must not be given up"
TRIMMED_PLAIN = "ordinary text that must be trimmed to fit"
HOSTILE = "text with special tokens, controls or invisible characters"
BLANK = "an empty text"
VERY_LONG = "a text of fifty thousand characters or more"
NOTHING = "no message, or a system text alone"
A_CALL = "a call"

_LONG, _VERY_LONG = 20, 50_000
#: The first character behind the Latin blocks, and what lays ordinary text out.
_LATIN_END, _LAYOUT = "\u0250", str.maketrans("", "", "\n\r\t")
#: What an exception is that tells of a slip in the code, not of a limit.
_SLIPS = frozenset(
    {
        *("IndexError", "KeyError", "TypeError", "AttributeError", "NameError", "ZeroDivisionError"),
        *("AssertionError", "RecursionError", "UnicodeError", "StopIteration", "MemoryError", "SystemExit"),
    }
)


@rule(
    "CTX-06.2",
    MUST,
    witnesses=(OVER, JUST_OVER, OTHER_SCRIPTS, CALLS_TO_COUNT),
    cost="The provider refuses the request as too long, in the middle of somebody's work.",
)
def within_the_limit(session: Session) -> Iterator[Judgement]:
    """What comes back has at most as many tokens as the limit, by exact count.

    Counted are the texts, results, and the calls' names and arguments; what a provider adds for roles
    and structure is not.
    """
    for at, asked, kept in returned(session):
        if asked.cannot_fit:
            continue
        measured = asked.size(kept)
        yield judge(
            measured <= asked.limit,
            at=at,
            seen=f"{tokens_told(measured)} came back under a limit of {asked.limit}",
            required=f"at most {tokens_told(asked.limit)}",
            witnesses=_size_witnesses(asked),
        )


def _size_witnesses(asked: Asked) -> Iterator[str]:
    size = asked.given_size
    if size == asked.limit:
        yield JUST_FITS
    if size <= asked.limit:
        return
    yield OVER
    if size == asked.limit + 1:
        yield JUST_OVER
    if any(_is_beyond_latin(entry.text) for entry in asked.entries):
        yield OTHER_SCRIPTS
    if any(entry.kind == "call" for entry in asked.entries):
        yield CALLS_TO_COUNT


@rule(
    "CTX-08.1",
    MUST,
    witnesses=(ROOM, LONG, ITS_OWN),
    follows=("CTX-08.8", "CTX-09.1", "CTX-06.2", "CTX-08.3", "CTX-10.1"),
    cost="The model forgets what there was room for.",
)
def nothing_goes_without_need(session: Session) -> Iterator[Judgement]:
    """Where there is room for everything by any count, everything comes back.

    By any count means as many tokens as the messages have bytes of JSON. And what it gave back fits by
    its own count: handed over again under the same limit, all of it comes back.
    """
    for at, asked, kept in returned(session):
        if asked.has_room:
            lost = [entry for entry in missing(asked.entries, kept) if not entry.is_blank]
            yield judge(
                not lost,
                at=at,
                seen=f"left out with room for everything: {told(lost)}",
                required=f"all messages: they have no more bytes than the limit of {asked.limit} has tokens",
                witnesses=(ROOM, LONG) if len(asked.given) >= _LONG else (ROOM,),
            )
        if asked.of_its_own is not None:
            yield _same_again(at, asked)


def _same_again(at: At, asked: Asked) -> Judgement:
    back = asked.of_its_own
    messages = back.messages if isinstance(back, Returned) else None
    seen = "its own answer came back shorter" if isinstance(back, Returned) else f"it answered {_said(back)}"
    return judge(
        isinstance(asked.answer, Returned) and messages == asked.answer.messages,
        at=at,
        seen=f"handed its own answer under the same limit, {seen} or changed",
        required="its own answer, as it is: it fits by its own count",
        witnesses=(ITS_OWN,) if len(asked.kept or []) < len(asked.entries) else (),
    )


@rule(
    "CTX-08.5",
    MUST,
    witnesses=(IMPOSSIBLE, BY_ONE_TOKEN),
    cost="A request goes out without what it is about, or fails for a reason that nobody is told.",
)
def what_cannot_fit_is_refused(session: Session) -> Iterator[Judgement]:
    """Where what must not be given up is more than the limit, it raises an exception that says so.

    Messages are no answer then, and an exception that tells of a slip in the code (an index, a key, a
    type) or says nothing is no refusal.
    """
    for index, asked in enumerate(session.asked):
        if not asked.cannot_fit or isinstance(asked.answer, Broken):
            continue
        answer = asked.answer
        over = asked.size([e for e in asked.least if e.kind != "result"]) - asked.limit
        yield judge(
            isinstance(answer, Raised) and _is_clear(answer),
            at=At(record=index),
            seen=f"{_said(answer)} where what must not be given up is {tokens_told(over)} over the limit",
            required="an exception of its own, or a ValueError, that says that it does not fit",
            witnesses=(IMPOSSIBLE, BY_ONE_TOKEN) if over == 1 else (IMPOSSIBLE,),
            follows=("CTX-06.2", "CTX-08.3") if asked.kept else (),
        )


def _is_clear(answer: Raised) -> bool:
    return bool(answer.says.strip()) and not _SLIPS.intersection(answer.kinds)


def _said(answer: object) -> str:
    match answer:
        case Returned():
            return f"{len(answer.messages)} messages"
        case Raised():
            return str(answer)
        case Broken():
            return answer.problem
        case _:
            return "nothing"


@rule(
    "CTX-08.9",
    MUST,
    witnesses=(PLAIN, TRIMMED_PLAIN),
    cost="A session ends that could have gone on.",
)
def it_refuses_only_what_cannot_fit(session: Session) -> Iterator[Judgement]:
    """Where what must not be given up fits by any count, ordinary text gets messages and no exception."""
    for index, asked in enumerate(session.asked):
        if asked.can_fit and _is_plain(asked) and not isinstance(asked.answer, Broken):
            yield _no_exception(index, asked, (PLAIN, TRIMMED_PLAIN) if asked.is_over else (PLAIN,))


@rule(
    "CTX-11.6",
    MUST,
    witnesses=(HOSTILE, BLANK, VERY_LONG, NOTHING, OTHER_SCRIPTS),
    follows=("CTX-08.9",),
    cost="One web page or one odd message ends the session, and every retry fails alike.",
)
def any_text_gets_an_answer(session: Session) -> Iterator[Judgement]:
    """No text makes it raise: special tokens, controls, any script, nothing at all, or a great deal."""
    for index, asked in enumerate(session.asked):
        witnesses = tuple(_text_witnesses(asked))
        if asked.can_fit and witnesses and not isinstance(asked.answer, Broken):
            yield _no_exception(index, asked, witnesses)


def _no_exception(index: int, asked: Asked, witnesses: tuple[str, ...]) -> Judgement:
    return judge(
        not isinstance(asked.answer, Raised),
        at=At(record=index),
        seen=f"it raised {asked.answer}",
        required=f"messages: what must not be given up fits into {tokens_told(asked.limit)} by any count",
        witnesses=witnesses,
    )


def _is_plain(asked: Asked) -> bool:
    return not any(_text_witnesses(asked))


def _text_witnesses(asked: Asked) -> Iterator[str]:
    texts = [entry.text for entry in asked.entries]
    if not any(entry.kind == "user" for entry in asked.entries):
        yield NOTHING
    if any(not text.strip() for text in texts):
        yield BLANK
    if any(len(text) >= _VERY_LONG for text in texts):
        yield VERY_LONG
    if any(map(_is_beyond_latin, texts)):
        yield OTHER_SCRIPTS
    if any(map(_is_hostile, texts)):
        yield HOSTILE


def _is_beyond_latin(text: str) -> bool:
    return not text.isascii() and max(text) >= _LATIN_END


def _is_hostile(text: str) -> bool:
    shown = text.translate(_LAYOUT)
    return not shown.isprintable() or "<|" in shown or "[INST]" in shown


@rule(
    "TRIM-2",
    MUST,
    witnesses=(A_CALL, OVER, IMPOSSIBLE),
    cost="The agent hangs, or dies where nobody expects it.",
)
def every_call_ends(session: Session) -> Iterator[Judgement]:
    """Every call ends in time, with a list of messages of the format or with an exception."""
    for index, asked in enumerate(session.asked):
        problem = _problem(asked)
        yield judge(
            not problem,
            at=At(record=index),
            seen=problem,
            required="a list of messages of the format, or an exception, in time",
            witnesses=[
                A_CALL,
                *((OVER,) if asked.is_over else ()),
                *((IMPOSSIBLE,) if asked.cannot_fit else ()),
            ],
        )


def _problem(asked: Asked) -> str:
    if isinstance(asked.answer, Broken):
        return asked.answer.problem
    if isinstance(asked.answer, Returned):
        try:
            asked.setting.format.read(asked.answer.messages)
        except WrongShape as error:
            return str(error)
    return ""
