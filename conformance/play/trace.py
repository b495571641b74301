"""A trace: everything observable about one play, as frozen data.

Records stand in the order in which things happened. Entries of the log are kept once, in `log`; a
record says how much of it there was. The same holds for plans. Requirements read traces through the
small views at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

from pydantic import Field

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.contract.events import Event
from contextproof.conformance.contract.items import (
    EnvironmentItem,
    LogItem,
    MemoryCorrection,
    RecallItem,
    ToolCall,
)
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.plan import BuildInputs, Calibration, Checkpoint, Plan
from contextproof.conformance.contract.ports import Summary, SummaryPart
from contextproof.conformance.contract.request import Estimate, Request, Yielded
from contextproof.conformance.contract.session import CallContext, Change, Live, Opening
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.working_state import StateUpdate, WorkingState, WriteOrigin

TRACE_VERSION: Final = 1
T = TypeVar("T")

OpenPurpose = Literal["main", "reordered", "other_secret", "roomy"]
BuildPurpose = Literal["main", "retry", "repeat", "other_live", "roomy", "probe"]
EstimateTime = Literal["before", "after", "other_model_before", "other_model_after"]


class _Record(Frozen):
    context: CallContext
    #: Index of the scenario's step that led to it; -1 for the opening.
    step: int


class OpenRecord(_Record):
    """A session was opened.

    ``purpose``: ``main`` is the session played. The others are opened beside it: ``reordered`` with
    tools and schema keys in another order, ``other_secret`` with another platform secret, ``roomy``
    with a window many times as large.
    """

    record: Literal["open"] = "open"
    purpose: OpenPurpose = "main"
    opening: Opening
    answer: a.PlanAnswer


class ApplyRecord(_Record):
    """The engine was told of a change. ``plan`` is the index of the plan in force before."""

    record: Literal["apply"] = "apply"
    plan: Count
    change: Change
    live: Live
    answer: a.PlanAnswer


class RecordedInputs(Frozen):
    """A build's inputs, with the log as the length of the trace's log, plus entries only probed."""

    log_length: Count
    probed: tuple[LogItem, ...] = ()
    checkpoint: Checkpoint | None
    working_state: WorkingState
    corrections: tuple[MemoryCorrection, ...]
    recall: tuple[RecallItem, ...]
    environment: tuple[EnvironmentItem, ...]
    calibration: Calibration
    yielded: tuple[Yielded, ...]
    live: Live


class BuildRecord(_Record):
    """A build.

    ``purpose``: ``main`` is one the session depends on (its request is sent, its refusal acted on);
    ``retry`` follows a failed send; ``repeat`` is the same call once more; ``other_live`` has other
    live values, ``roomy`` the roomy plan; ``probe`` has probed log entries. ``inputs_unchanged``
    tells whether the builder left what it was handed alone.
    """

    record: Literal["build"] = "build"
    purpose: BuildPurpose
    plan: Count
    inputs: RecordedInputs
    answer: a.BuildAnswer
    inputs_unchanged: bool = True


class SendRecord(_Record):
    """The request of the latest main or retry build was sent, or failed to be.

    ``count`` is the whole request's by the model's own tokenizer, overhead included; ``usage`` what
    the response reported (None for a failed send). Tokens.
    """

    record: Literal["send"] = "send"
    delivered: bool
    count: Count
    usage: Count | None


class ValidateRecord(_Record):
    """The validator was shown a request. ``defect`` is None for one as built, else what was done to it."""

    record: Literal["validate"] = "validate"
    defect: str | None
    request: Request
    answer: a.Validated


class SummarizerCall(Frozen):
    """One call of the summarizer: parts given, tokens wanted, and what came of it."""

    parts: tuple[SummaryPart, ...]
    max_tokens: Count
    summary: Summary | None
    error: str | None = None


class CompactRecord(_Record):
    """A compaction, forced or because the build before it asked."""

    record: Literal["compact"] = "compact"
    forced: bool
    plan: Count
    inputs: RecordedInputs
    calls: tuple[SummarizerCall, ...]
    answer: a.CompactAnswer


class EstimateRecord(_Record):
    """The estimator was shown the blocks of a sent request, with the calibration named.

    ``when`` is ``before`` (as the build had it) or ``after`` the reconciliation of that request's
    usage; ``other_model`` is the same after, asked as for another model.
    """

    record: Literal["estimate"] = "estimate"
    when: EstimateTime
    calibration: Calibration
    request: Request
    answer: a.Estimated


class ReconcileRecord(_Record):
    """A response's usage was reconciled."""

    record: Literal["reconcile"] = "reconcile"
    calibration: Calibration
    estimate: Estimate
    usage: Count
    answer: a.Reconciled


class AuthorizeRecord(_Record):
    """A call was put to the policy gate."""

    record: Literal["authorize"] = "authorize"
    plan: Count
    live: Live
    call: ToolCall
    answer: a.AuthorizeAnswer


class UpdateRecord(_Record):
    """Working state was to be changed."""

    record: Literal["update"] = "update"
    state: WorkingState
    update: StateUpdate
    origin: WriteOrigin
    answer: a.UpdateAnswer


class CarryRecord(_Record):
    """Working state crossed into a new turn. ``state`` is what it was before."""

    record: Literal["carry"] = "carry"
    log_length: Count
    state: WorkingState
    answer: a.Updated


class CandidatesRecord(_Record):
    """Formation was asked, after a turn or at the session boundary (``closed``)."""

    record: Literal["candidates"] = "candidates"
    closed: bool
    log_length: Count
    plan: Count
    state: WorkingState
    answer: a.Candidates


class ResumeRecord(_Record):
    """The session went on in a fresh process (``fresh`` is false where the builder has none)."""

    record: Literal["resume"] = "resume"
    fresh: bool


class SkipRecord(_Record):
    """A step of the scenario could not be played, and why."""

    record: Literal["skip"] = "skip"
    reason: str


Record = Annotated[
    OpenRecord
    | ApplyRecord
    | BuildRecord
    | SendRecord
    | ValidateRecord
    | CompactRecord
    | EstimateRecord
    | ReconcileRecord
    | AuthorizeRecord
    | UpdateRecord
    | CarryRecord
    | CandidatesRecord
    | ResumeRecord
    | SkipRecord,
    Field(discriminator="record"),
]


class Sent(NamedTuple):
    """A delivered request with all that led to it. ``record`` is the index of its build."""

    record: int
    build: BuildRecord
    request: Request
    plan: Plan
    send: SendRecord


class Trace(Frozen):
    """One play of a scenario against one builder.

    Attributes:
        scenario: the scenario's name. ``secret`` and recipes are resolved in `log` and records.
        manifest: what the builder declared.
        ports: names of the calls it answers.
        log: every log entry, in order.
        plans: every plan in force, in order.
        records: what happened, in order.
        ended: how the play ended: ``closed`` or ``escalated`` by the scenario's own course,
            ``refused`` where the session did not open, ``out of steps`` otherwise.
    """

    version: Literal[1] = TRACE_VERSION
    scenario: Id
    manifest: Manifest
    ports: tuple[str, ...]
    log: tuple[LogItem, ...]
    plans: tuple[Plan, ...]
    records: tuple[Record, ...]
    ended: Literal["closed", "escalated", "refused", "out of steps"]

    def builds(self, *purposes: str) -> Iterator[tuple[int, BuildRecord]]:
        """Builds with their place among the records, of some purposes or of all."""
        for index, record in enumerate(self.records):
            if isinstance(record, BuildRecord) and (not purposes or record.purpose in purposes):
                yield index, record

    def inputs(self, record: BuildRecord | CompactRecord) -> BuildInputs:
        """The inputs as they were handed over."""
        recorded = record.inputs
        return BuildInputs(
            log=self.log[: recorded.log_length] + recorded.probed,
            checkpoint=recorded.checkpoint,
            working_state=recorded.working_state,
            corrections=recorded.corrections,
            recall=recorded.recall,
            environment=recorded.environment,
            calibration=recorded.calibration,
            yielded=recorded.yielded,
            live=recorded.live,
        )

    @cached_property
    def _found(self) -> dict[Callable[[Trace], Any], Any]:
        return {}

    def once(self, view: Callable[[Trace], T]) -> T:
        """What a view of this trace gives, worked out the first time it is asked for."""
        if view not in self._found:
            self._found[view] = view(self)
        found: T = self._found[view]
        return found

    @cached_property
    def sent(self) -> tuple[Sent, ...]:
        """Every request that was delivered, in order."""
        found: list[Sent] = []
        latest: tuple[int, BuildRecord] | None = None
        for index, record in enumerate(self.records):
            if isinstance(record, BuildRecord) and record.purpose in ("main", "retry"):
                latest = index, record
            elif isinstance(record, SendRecord) and record.delivered and latest is not None:
                at, build = latest
                if isinstance(build.answer, a.Built):
                    found.append(Sent(at, build, build.answer.request, self.plans[build.plan], record))
        return tuple(found)

    @cached_property
    def events(self) -> tuple[tuple[int, Event], ...]:
        """The events of all answers the session depended on, each with its record's index."""
        return tuple(
            (index, event)
            for index, record in enumerate(self.records)
            if getattr(record, "purpose", "main") in ("main", "retry") and hasattr(record, "answer")
            for event in record.answer.events
        )


def tokens(context: CallContext, text: str) -> int:
    """Tokens of a text by the tokenizer of the model in force, overhead not included."""
    return count(context.model.tokenizer, text)


def body_count(context: CallContext, request: Request) -> int:
    """The body's count: tokens of its blocks' texts, plus the model's overhead for each block."""
    return sum(
        tokens(context, block.text) + context.model.overhead_per_block
        for block in request.blocks
        if block.region == "B"
    )


def prefix_count(context: CallContext, request: Request) -> int:
    """The prefix's count, likewise."""
    return sum(
        tokens(context, block.text) + context.model.overhead_per_block
        for block in request.blocks
        if block.region == "A"
    )
