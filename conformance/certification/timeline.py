"""A counterexample step by step: what became of each, and the request in which the violation shows."""

from __future__ import annotations

from collections.abc import Iterator

from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.request import Request
from contextproof.conformance.judgement import At
from contextproof.conformance.play import trace as t

#: What is done beside the main line, or only looked at, is no part of the story.
_BESIDE = (t.EstimateRecord, t.ReconcileRecord, t.ValidateRecord, t.CandidatesRecord, t.CarryRecord)


class Happening(Frozen):
    """One thing that happened: the step it came from (-1 for the opening), the call, and its answer.

    ``is_place`` marks where the requirement was violated.
    """

    step: int
    what: str
    answer: str
    is_place: bool = False


class Timeline(Frozen):
    """What happened, in order, and the request at the violated place, where there is one."""

    happenings: tuple[Happening, ...]
    request: Request | None


def timeline(trace: t.Trace, at: At) -> Timeline:
    """The timeline of a trace that shows a violation at a place."""
    return Timeline(happenings=tuple(_happenings(trace, at)), request=_request_at(trace, at))


def _happenings(trace: t.Trace, at: At) -> Iterator[Happening]:
    for index, record in enumerate(trace.records):
        is_place = index == at.record
        beside = isinstance(record, _BESIDE) or getattr(record, "purpose", "main") not in ("main", "retry")
        if is_place or not beside:
            yield Happening(step=record.step, what=_what(record), answer=_answer(record), is_place=is_place)


def _what(record: t.Record) -> str:
    purpose = getattr(record, "purpose", "main")
    change = getattr(record, "change", None)
    named = record.record if change is None else f"{record.record} {change.kind.replace('_', ' ')}"
    return named if purpose == "main" else f"{named} ({purpose.replace('_', ' ')})"


def _answer(record: t.Record) -> str:
    if isinstance(record, t.SendRecord):
        return f"{'delivered' if record.delivered else 'failed'}, {record.count:,} tokens"
    if isinstance(record, t.SkipRecord):
        return record.reason
    if isinstance(record, t.ResumeRecord):
        return "in a fresh process" if record.fresh else "in the same process"
    answer = record.answer
    told = answer.answer.replace("_", " ")
    if answer.answer == "built":
        told = f"built, {len(answer.request.blocks)} blocks"
    elif answer.answer == "planned":
        told = f"planned, epoch {answer.plan.epoch}"
    events = [event.type.removeprefix("context.") for event in answer.events]
    return f"{told}; {', '.join(events)}" if events else told


def _request_at(trace: t.Trace, at: At) -> Request | None:
    """The request that the violated record holds, else the latest one built until then."""
    for record in reversed(trace.records[: at.record + 1]):
        request = getattr(record, "request", None) or getattr(
            getattr(record, "answer", None), "request", None
        )
        if isinstance(request, Request):
            return request
    return None
