"""Rules on sameness: the same in, the same out, nothing changed on the way, and what was sent stays sent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from contextproof.conformance.judgement import At, Judgement, judge
from contextproof.conformance.requirements.registry import MUST, SHOULD
from contextproof.conformance.trimming.aligning import aligned
from contextproof.conformance.trimming.rules import rule
from contextproof.conformance.trimming.rules_contents import GAVE_WAY, returned
from contextproof.conformance.trimming.session import Answer, Asked, Broken, Raised, Returned, Session
from contextproof.conformance.trimming.telling import tokens_told

SAME_CALL = "the same call twice"
OTHER_PROCESS = "the same call in another process"
HANDED_OVER = "messages that were handed over"
SENT_TWICE = "a message that came back from two calls in a row"
SHORTENED_TWICE = "a shortened result that came back from two calls in a row"
GAVE_WAY_AGAIN = "something more was left out later in the conversation"

#: As CTX-16.3 has it: a tenth of what there is room for is to be added before more has to go.
_TENTH = 10


@rule(
    "CTX-10.1",
    MUST,
    witnesses=(SAME_CALL, GAVE_WAY),
    cost="A retry sends another request, and no failure can be reproduced.",
)
def same_in_same_out(session: Session) -> Iterator[Judgement]:
    """The same messages and limit, handed over again, give the same answer."""
    for index, asked in enumerate(session.asked):
        if asked.again is not None and not isinstance(asked.answer, Broken):
            yield _the_same(index, asked, asked.again, SAME_CALL, "the second time")


@rule(
    "CTX-10.3",
    MUST,
    witnesses=(OTHER_PROCESS, GAVE_WAY),
    follows=("CTX-10.1",),
    cost="After a restart, or on another machine, the same conversation is sent otherwise.",
)
def same_in_another_process(session: Session) -> Iterator[Judgement]:
    """Another process, with another hash seed, time zone and working directory, gives the same answer.

    It was not handed the conversation's earlier states, and others in between.
    """
    for index, asked in enumerate(session.asked):
        if asked.elsewhere is not None and not isinstance(asked.answer, Broken):
            yield _the_same(index, asked, asked.elsewhere, OTHER_PROCESS, "in the other process")


def _the_same(index: int, asked: Asked, other: Answer, witness: str, where: str) -> Judgement:
    gave_way = asked.kept is not None and len(asked.kept) < len(asked.entries)
    return judge(
        _essence(asked.answer) == _essence(other),
        at=At(record=index),
        seen=f"{_counted(asked.answer)}, and {where} {_counted(other)}",
        required="the same answer",
        witnesses=(witness, GAVE_WAY) if gave_way else (witness,),
    )


def _essence(answer: Answer) -> object:
    """What must be the same; an exception may word its message as it likes."""
    if isinstance(answer, Returned):
        return answer.messages
    return answer.type if isinstance(answer, Raised) else None


def _counted(answer: Answer) -> str:
    match answer:
        case Returned():
            return f"{len(answer.messages)} messages came back"
        case Raised():
            return f"it raised {answer.type}"
        case Broken():
            return answer.problem


@rule(
    "CTX-10.2",
    MUST,
    witnesses=(HANDED_OVER, GAVE_WAY),
    cost="The caller's own history is damaged, and the next request lacks or doubles something.",
)
def input_is_not_changed(session: Session) -> Iterator[Judgement]:
    """The messages handed over are after the call what they were before, at every depth."""
    for index, asked in enumerate(session.asked):
        if not isinstance(asked.answer, Broken) and asked.given:
            gave_way = asked.kept is not None and len(asked.kept) < len(asked.entries)
            yield judge(
                not asked.answer.changed,
                at=At(record=index),
                seen="the messages handed over are not what they were",
                required="the messages as they were handed over",
                witnesses=(HANDED_OVER, GAVE_WAY) if gave_way else (HANDED_OVER,),
            )


@rule(
    "CTX-16.1",
    SHOULD,
    witnesses=(SENT_TWICE, SHORTENED_TWICE),
    optional=(SHORTENED_TWICE,),
    follows=("CTX-10.1",),
    cost="The provider's cache ends at the message that changed, and all behind it is billed again.",
)
def what_was_sent_stays_as_it_was(session: Session) -> Iterator[Judgement]:
    """As a conversation grows, what came back once comes back in the same bytes until it is left out.

    A result may be made shorter once. That the rest is word for word and in order, CTX-08.8 and CTX-02.4
    say.
    """
    for at, earlier, later in _in_a_row(session):
        before, after = _sent(earlier), _sent(later)
        both = [place for place in before if place in after]
        short = [place for place in both if before[place] != earlier.entries[place].text]
        altered = [place for place in short if after[place] not in {before[place], later.entries[place].text}]
        yield judge(
            not altered,
            at=at,
            seen=f"the shortened result of {_ids(later, altered)} has other words now",
            required="the words that were sent before",
            witnesses=[*((SENT_TWICE,) if both else ()), *((SHORTENED_TWICE,) if short else ())],
        )


def _ids(asked: Asked, places: list[int]) -> str:
    return ", ".join(asked.entries[place].id for place in places)


@rule(
    "CTX-16.3",
    SHOULD,
    witnesses=(GAVE_WAY_AGAIN,),
    optional=(GAVE_WAY_AGAIN,),
    follows=("CTX-06.2", "CTX-08.1", "CTX-09.1", "CTX-10.1", "CTX-10.3", "CTX-16.1"),
    cost="Every request drops a little more, and the provider's cache never pays.",
)
def giving_way_is_amortized(session: Session) -> Iterator[Judgement]:
    """Once something was left out, no more has to go before a tenth of the limit has been added.

    Not judged where what must not be given up takes more than half of the limit by some count. What had
    to be kept only while it was worked on may go at any time.
    """
    latest: Asked | None = None
    for at, earlier, later in _in_a_row(session):
        before, after = _sent(earlier), _sent(later)
        went = [place for place, text in before.items() if after.get(place) != text]
        if all(earlier.entries[place] in earlier.least for place in went):
            continue
        if latest is not None and latest.has_slack and later.has_slack:
            added = later.size(later.entries) - latest.size(latest.entries)
            yield judge(
                added * _TENTH >= later.limit,
                at=at,
                seen=f"more was left out after {tokens_told(added)} more, under a limit of {later.limit}",
                required=f"no more before {tokens_told(-(-later.limit // _TENTH))} have been added",
                witnesses=(GAVE_WAY_AGAIN,),
            )
        latest = later


def _in_a_row(session: Session) -> Iterator[tuple[At, Asked, Asked]]:
    """Successive calls to which messages came back that can be told apart by their places."""
    answered = [
        (at, asked) for at, asked, kept in returned(session) if aligned(asked.entries, kept) is not None
    ]
    for (_, earlier), (at, later) in pairwise(answered):
        yield at, earlier, later


def _sent(asked: Asked) -> dict[int, str]:
    """What came back: by its place among what was handed over, the text."""
    kept = asked.kept or []
    return dict(zip(aligned(asked.entries, kept) or (), (entry.text for entry in kept), strict=True))
