"""Hand-written records beside builds: compactions, estimates, working state, formation, validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract import items as i
from contextproof.conformance.contract.events import UsageReconciled
from contextproof.conformance.contract.plan import Calibration, Checkpoint, ModelCalibration
from contextproof.conformance.contract.ports import Summary, SummaryPart
from contextproof.conformance.contract.request import Block, ElidedSpan, Reference, Request
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.contract.working_state import (
    Constraint,
    Fact,
    OpenQuestion,
    StateUpdate,
    Task,
    TaskStatus,
    WorkingState,
    WriteOrigin,
)
from contextproof.conformance.play import trace as tr
from requirements import traces as t

LEARNED = Calibration(models=(ModelCalibration(model="model-a", values=(1,)),))
"""A calibration that is not empty."""

MODEL, USER, RUNTIME = (
    WriteOrigin(by="model", item_id="k1"),
    WriteOrigin(by="user"),
    WriteOrigin(by="runtime"),
)


# Compaction ------------------------------------------------------------------------------------


def elision(*item_ids: str, size: int, trust: Trust = Trust.EXTERNAL_UNTRUSTED, **more: object) -> ElidedSpan:
    """An elision pointer to whole items."""
    fields = {"references": tuple(Reference(item_id=name) for name in item_ids), **more}
    return ElidedSpan.model_validate({"trust": trust, "size": size, **fields})


def checkpoint(covers: int, summary: str = "They spoke.", *, depth: int = 1, **more: object) -> Checkpoint:
    """A checkpoint over the log's first ``covers`` entries."""
    fields = {"id": "cp-1", "covers": covers, "summary": summary, "depth": depth, **more}
    return Checkpoint.model_validate(fields)


def part(*items: i.Message | Checkpoint, text: str | None = None) -> SummaryPart:
    """A part that holds these items' contents, one a line, unless its text is given."""
    lines = [item.summary if isinstance(item, Checkpoint) else i.content(item) for item in items]
    return SummaryPart(
        item_ids=tuple(item.id for item in items), text="\n".join(lines) if text is None else text
    )


def summarizer_call(
    *parts: SummaryPart, wrote: str | None = "They spoke.", complete: bool = True
) -> tr.SummarizerCall:
    """One call of the summarizer; ``wrote`` is None where it failed."""
    return tr.SummarizerCall(
        parts=parts,
        max_tokens=100,
        summary=None if wrote is None else Summary(text=wrote, complete=complete),
        error="it timed out" if wrote is None else None,
    )


def compacted(
    log: Sequence[i.LogItem],
    answer: Checkpoint | a.CompactAnswer,
    *calls: tr.SummarizerCall,
    forced: bool = False,
    index: int = 0,
    turn: int = 1,
    request: int = 1,
    **given: Any,
) -> tr.CompactRecord:
    """A compaction over a leading part of the log, and its answer (a checkpoint for short)."""
    told = a.Compacted(checkpoint=answer) if isinstance(answer, Checkpoint) else answer
    return tr.CompactRecord(
        context=t.context(turn=turn, request=request),
        step=0,
        forced=forced,
        plan=index,
        inputs=t.inputs(log, **given),
        calls=calls,
        answer=told,
    )


def asked(log: Sequence[i.LogItem], **how: object) -> tr.BuildRecord:
    """A build over a log that asks for compaction."""
    built = t.build(log, **how)  # type: ignore[arg-type]
    assert isinstance(built.answer, a.Built)
    answer = a.CompactionNeeded(estimate=built.answer.request.estimate)
    return built.model_copy(update={"answer": answer})


# The validator, the estimator ------------------------------------------------------------------


def request(of: tr.BuildRecord) -> Request:
    """The request of a build."""
    assert isinstance(of.answer, a.Built)
    return of.answer.request


def validated(
    of: tr.BuildRecord, *found: str, defect: str | None = None, change: _Change | None = None
) -> tr.ValidateRecord:
    """The validator's word on a request, altered first where a change is given."""
    sent = request(of)
    blocks = tuple(change(sent.blocks)) if change else sent.blocks
    violations = tuple(a.Violation(kind=a.InvalidKind.MALFORMED, subject=name) for name in found)
    return tr.ValidateRecord(
        context=of.context,
        step=0,
        defect=defect,
        request=sent.model_copy(update={"blocks": blocks}),
        answer=a.Validated(violations=violations),
    )


_Change = Callable[[tuple[Block, ...]], Iterable[Block]]


def estimated(of: tr.BuildRecord, when: str, *, plus: int = 0) -> tr.EstimateRecord:
    """An estimate of a request's blocks: the request's own, with so many tokens added to its first class."""
    sent = request(of)
    first, *rest = sent.estimate.by_class
    return tr.EstimateRecord.model_validate(
        {
            "context": of.context,
            "step": 0,
            "when": when,
            "calibration": Calibration(),
            "request": sent,
            "answer": a.Estimated(by_class=(first.model_copy(update={"tokens": first.tokens + plus}), *rest)),
        }
    )


def reconciled(of: tr.BuildRecord, usage: int, *events: object) -> tr.ReconcileRecord:
    """A usage reconciled; the true event is told unless others are given."""
    sent = request(of)
    true = UsageReconciled(
        session="s",
        epoch=of.context.epoch,
        turn=of.context.turn,
        request=of.context.request,
        model=of.context.model.name,
        estimated=sent.estimate.total,
        reported=usage,
    )
    told = tuple(true if event is True else event for event in events)
    return tr.ReconcileRecord.model_validate(
        {
            "context": of.context,
            "step": 0,
            "calibration": Calibration(),
            "estimate": sent.estimate,
            "usage": usage,
            "answer": a.Reconciled.model_validate({"calibration": LEARNED, "events": told}),
        }
    )


# Working state and formation -------------------------------------------------------------------


def constraint(name: str, text: str = "No flights.", **more: object) -> Constraint:
    """A constraint."""
    return Constraint.model_validate({"id": name, "text": text, **more})


def task(name: str, text: str = "Book it.", status: str = "pending") -> Task:
    """A task."""
    return Task(id=name, text=text, status=TaskStatus(status))


def fact(name: str, text: str = "Trains run.", **more: object) -> Fact:
    """A fact."""
    return Fact.model_validate({"id": name, "text": text, **more})


def question(name: str, text: str = "Which day?", *, resolved: bool = False) -> OpenQuestion:
    """An open question."""
    return OpenQuestion(id=name, text=text, resolved=resolved)


def updated(
    state: WorkingState,
    update: StateUpdate,
    answer: WorkingState | a.Rejected,
    origin: WriteOrigin = USER,
    *,
    at: CallContext | None = None,
) -> tr.UpdateRecord:
    """An update and its answer (a state for short)."""
    told = a.Updated(state=answer) if isinstance(answer, WorkingState) else answer
    return tr.UpdateRecord(
        context=at or t.context(), step=0, state=state, update=update, origin=origin, answer=told
    )


def rejected(field: str = "constraints", cap: int | None = None) -> a.Rejected:
    """A rejection."""
    return a.Rejected.model_validate({"field": field, "cap": cap, "reason": "it may not be"})


def carried(log: Sequence[i.LogItem], before: WorkingState, after: WorkingState) -> tr.CarryRecord:
    """What crossed into the turn that the log's last user message starts."""
    return tr.CarryRecord(
        context=t.context(), step=0, log_length=len(log), state=before, answer=a.Updated(state=after)
    )


def state_call(
    name: str, message: str, update: StateUpdate, *, status: str = "ok"
) -> tuple[i.ToolCall, i.ToolResult]:
    """A call of the working-state tool, with the runtime's result."""
    call = t.call(
        name, message, name=i.WORKING_STATE_TOOL, arguments=update.model_dump_json(exclude_defaults=True)
    )
    result = t.result(f"{name}:result", name, "done", status=status, source="runtime", trust=Trust.INTERNAL)
    return call, result


def offered(
    log: Sequence[i.LogItem], state: WorkingState, *candidates: a.Candidate, closed: bool = True
) -> tr.CandidatesRecord:
    """Formation's answer."""
    return tr.CandidatesRecord(
        context=t.context(),
        step=0,
        closed=closed,
        log_length=len(log),
        plan=0,
        state=state,
        answer=a.Candidates(candidates=candidates),
    )


def candidate(of: Fact, *, eligible: bool = True, reason: str | None = None, **more: object) -> a.Candidate:
    """A candidate with the fact's own provenance."""
    fields = {"provenance": of.derived_from, "eligible": eligible, "reason": reason, **more}
    return a.Candidate.model_validate({"fact": of, **fields})
