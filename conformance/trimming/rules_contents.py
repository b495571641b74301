"""Rules on what comes back: whole pairs, nothing reworded or made up, in order, what counts still there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from contextproof.conformance.judgement import At, Judgement, judge
from contextproof.conformance.requirements.registry import MUST
from contextproof.conformance.trimming.aligning import aligned, missing, strangers
from contextproof.conformance.trimming.formats import Entry, flat
from contextproof.conformance.trimming.rules import rule
from contextproof.conformance.trimming.session import Asked, Session
from contextproof.conformance.trimming.telling import told

GAVE_WAY = "something was left out"
PARALLEL_CALLS = "two calls in one message"
RESULTS_OUT_OF_ORDER = "results in another order than their calls"
REUSED_CALL_ID = "a call id that an earlier turn used for another call"
SYSTEM_TEXT = "a system text, and too little room for all"
CALLS_BEHIND_THE_USER = "calls behind the current user message, and too little room for all"
WORDS_BEHIND_RESULTS = "a user's words right after results, and too little room for all"
USERS_IN_A_ROW = "two user messages in a row"
SEVERAL = "two messages or more came back"
NEW_OPENING = "the first message was left out"


def returned(session: Session) -> Iterator[tuple[At, Asked, list[Entry]]]:
    """Calls to which messages came back, with their entries."""
    for index, asked in enumerate(session.asked):
        if asked.kept is not None:
            yield At(record=index), asked, asked.kept


@rule(
    "CTX-09.1",
    MUST,
    witnesses=(GAVE_WAY, PARALLEL_CALLS, RESULTS_OUT_OF_ORDER, REUSED_CALL_ID),
    cost="The provider refuses the request, and the session cannot go on.",
)
def every_pair_is_whole(session: Session) -> Iterator[Judgement]:
    """Each call comes back with exactly one result right behind its message, and no result without its call.

    Pairing goes by message: a call id may recur in a later turn.
    """
    for at, asked, kept in returned(session):
        problem = _torn(asked.returned or [])
        yield judge(
            not problem,
            at=at,
            seen=problem,
            required="every call with its one result right behind its message, or neither of them",
            witnesses=_pair_witnesses(asked, kept),
        )


def _torn(messages: Sequence[Sequence[Entry]]) -> str:
    """What is wrong with the pairs; nothing where they are whole."""
    open_calls: list[str] = []
    for message in messages:
        for entry in message:
            if entry.kind == "result":
                if entry.id not in open_calls:
                    return f"the result of {entry.id} answers no call in the message before it"
                open_calls.remove(entry.id)
            elif open_calls and entry.kind != "call":
                return f"no result right behind the call {open_calls[0]}"
        calls = [entry.id for entry in message if entry.kind == "call"]
        if calls and open_calls:
            return f"no result right behind the call {open_calls[0]}"
        open_calls = calls or open_calls
    return f"no result right behind the call {open_calls[0]}" if open_calls else ""


def _pair_witnesses(asked: Asked, kept: list[Entry]) -> Iterator[str]:
    calls = [line.calls for line in asked.said if line.calls]
    ids = [call.id for batch in calls for call in batch]
    results = [line.results for line in asked.said if line.results]
    if calls and len(kept) < len(asked.entries):
        yield GAVE_WAY
    if any(len(batch) > 1 for batch in calls):
        yield PARALLEL_CALLS
    if any([c.id for c in b] != [r.id for r in got] for b, got in zip(calls, results, strict=True)):
        yield RESULTS_OUT_OF_ORDER
    if len(set(ids)) < len(ids):
        yield REUSED_CALL_ID


@rule(
    "CTX-08.3",
    MUST,
    witnesses=(SYSTEM_TEXT, CALLS_BEHIND_THE_USER, WORDS_BEHIND_RESULTS),
    optional=(SYSTEM_TEXT, WORDS_BEHIND_RESULTS),
    follows=("CTX-08.8",),
    cost="The model answers without its instructions, or something that nobody asked.",
)
def what_counts_is_kept(session: Session) -> Iterator[Judgement]:
    """The system text, the current user message and the calls being worked on come back.

    These are the calls of the latest assistant message behind the current user message. Their results
    come back too, and may be shorter.
    """
    for at, asked, kept in returned(session):
        if asked.cannot_fit:
            continue  # CTX-08.5 says what is to be done then
        lost = missing([entry for entry in asked.least if not entry.is_blank], kept)
        yield judge(
            not lost,
            at=at,
            seen=f"left out: {told(lost)}",
            required="system text, current user message, and the latest calls behind it with their results",
            witnesses=_pressure_witnesses(asked),
            follows=_causes(lost, kept),
        )


def _causes(lost: list[Entry], kept: list[Entry]) -> tuple[str, ...]:
    """What explains a loss: all was given up at once, or a pair was torn and nothing else lost."""
    if not kept:
        return ("CTX-08.5",)
    is_half_a_pair = all(entry.kind in {"call", "result"} for entry in lost)
    return ("CTX-09.1",) if is_half_a_pair else ()


def _pressure_witnesses(asked: Asked) -> Iterator[str]:
    if not asked.is_over:
        return
    if any(entry.kind == "system" for entry in asked.entries) and asked.setting.format.has_system:
        yield SYSTEM_TEXT
    if asked.said[-1].role == "results":
        yield CALLS_BEHIND_THE_USER
    before = asked.said[-2].role if len(asked.said) > 1 else None
    if before == "results" and not asked.setting.format.has_system:
        yield WORDS_BEHIND_RESULTS


@rule(
    "CTX-08.8",
    MUST,
    witnesses=(GAVE_WAY, USERS_IN_A_ROW),
    cost="The model reads what nobody said, and the provider's cache ends where it was reworded.",
)
def nothing_is_reworded_or_made_up(session: Session) -> Iterator[Judgement]:
    """All that comes back was handed over, word for word and no more often.

    Only a result may come back shorter than it was.
    """
    for at, asked, kept in returned(session):
        strange = strangers(asked.entries, kept)
        roles = [line.role for line in asked.said]
        in_a_row = any(pair == ("user", "user") for pair in pairwise(roles))
        yield judge(
            not strange,
            at=at,
            seen=f"came back and was not handed over so: {told(strange)}",
            required="only messages that were handed over, each as it was",
            witnesses=[
                *((GAVE_WAY,) if len(kept) < len(asked.entries) else ()),
                *((USERS_IN_A_ROW,) if in_a_row else ()),
            ],
        )


@rule(
    "CTX-02.4",
    MUST,
    witnesses=(SEVERAL, GAVE_WAY),
    follows=("CTX-08.8",),
    cost="The model reads answers before their questions.",
)
def order_is_kept(session: Session) -> Iterator[Judgement]:
    """What comes back stands in the order in which it was said."""
    for at, asked, kept in returned(session):
        if strangers(asked.entries, kept):
            continue  # what was not handed over has no place
        yield judge(
            aligned(asked.entries, kept) is not None,
            at=at,
            seen=f"came back in another order: {told(kept)}",
            required=f"the order in which they were handed over: {told(asked.entries)}",
            witnesses=[
                *((SEVERAL,) if len(kept) > 1 else ()),
                *((GAVE_WAY,) if len(kept) < len(asked.entries) else ()),
            ],
        )


@rule(
    "TRIM-1",
    MUST,
    witnesses=(NEW_OPENING,),
    follows=("CTX-09.1", "CTX-08.3"),
    cost="The provider refuses a request whose first message is not the user's.",
    applies=lambda setting: setting.format.opens_with_user,
)
def the_user_opens(session: Session) -> Iterator[Judgement]:
    """The first message that comes back is the user's own, neither the assistant's nor results."""
    for at, asked, _ in returned(session):
        back = flat(asked.returned or [])
        first = asked.entries[1 if asked.system is not None else 0 :][:1]
        yield judge(
            not back or back[0].kind == "user",
            at=at,
            seen=f"the first thing that came back: {told(back[:1])}",
            required="a user message first",
            witnesses=(NEW_OPENING,) if back and back[:1] != first else (),
        )
