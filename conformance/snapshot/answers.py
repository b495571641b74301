"""Snapshots of answers: every refusal, and every word on inputs that cannot be a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from contextproof.conformance.contract import answers as a
from contextproof.conformance.play.scenario import ProbeBuild, SetSummarizer, WriteState
from contextproof.conformance.play.trace import (
    AuthorizeRecord,
    BuildRecord,
    CompactRecord,
    Record,
    UpdateRecord,
)
from contextproof.conformance.snapshot import sessions
from contextproof.conformance.snapshot.files import Files, add, of_value, safe
from contextproof.conformance.snapshot.sessions import Played

#: Answers that go on: all others refuse something.
_CONSENTS = frozenset(
    {
        "planned",
        "built",
        "compacted",
        "allowed",
        "updated",
        "estimated",
        "reconciled",
        "validated",
        "candidates",
    }
)


def answers(played: Mapping[str, Played]) -> Files:
    """Every answer of the short sessions that refuses something, named by what was asked."""
    files = Files()
    for session, one in played.items():
        if session == sessions.FIFTY_TURNS:
            continue
        for record in one.trace.records:
            answer = getattr(record, "answer", None)
            if answer is not None and answer.answer not in _CONSENTS:
                subject = "-".join(safe(part) for part in _subject(session, one, record))
                title = f"{answer.answer} in {session}, in turn {record.context.turn}"
                add(files, f"{answer.answer}/{subject}", of_value(title, _told(answer)))
    return files


def _subject(session: str, played: Played, record: Record) -> Iterator[str]:
    """What was asked, in a few words that no builder has a say in."""
    short = session.rsplit("/", maxsplit=1)[-1]
    match record:
        case BuildRecord(purpose="probe"):
            step = played.scenario.steps[record.step]
            assert isinstance(step, ProbeBuild)
            yield _last_id(step)
        case AuthorizeRecord():
            yield from (short, record.call.id)
        case UpdateRecord():
            step = played.scenario.steps[record.step]
            yield record.origin.item_id or (step.id if isinstance(step, WriteState) else short)
        case CompactRecord():
            yield from (short, f"turn {record.context.turn}", _summarizer(played, record.step))
        case _ if record.step >= 0:
            yield from (short, f"turn {record.context.turn}")
        case _:
            yield short


def _last_id(step: ProbeBuild) -> str:
    """The entry that matters in a probe: the one whose name says what is wrong."""
    return max((item.id for item in step.items), key=len)


def _summarizer(played: Played, step: int) -> str:
    """How the summarizer behaved at a step."""
    told = [s.mode for s in played.scenario.steps[:step] if isinstance(s, SetSummarizer)]
    return f"summarizer {told[-1]}" if told else "summarizer faithful"


def _told(answer: Any) -> dict[str, Any]:
    """An answer without its events, and with no more of what it estimates than the total."""
    told: dict[str, Any] = to_jsonable_python(answer)
    told.pop("events", None)
    if isinstance(answer, a.CompactionNeeded):
        told["estimate"] = {"tokens": answer.estimate.total}
    return told
