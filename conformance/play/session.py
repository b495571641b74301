"""The state of a play: what the runtime around an engine keeps between calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from contextproof.conformance.builder import Builder
from contextproof.conformance.contract.calls import Call
from contextproof.conformance.contract.items import (
    EnvironmentItem,
    LogItem,
    MemoryCorrection,
    MemoryItem,
    RecallItem,
    ToolCall,
    ToolDefinition,
)
from contextproof.conformance.contract.plan import BuildInputs, Calibration, Checkpoint, Plan
from contextproof.conformance.contract.ports import Summarize
from contextproof.conformance.contract.request import Yielded
from contextproof.conformance.contract.session import CallContext, Live, ModelSpec
from contextproof.conformance.contract.working_state import WorkingState
from contextproof.conformance.play.clock import later
from contextproof.conformance.play.recipes import Resolver
from contextproof.conformance.play.scenario import Scenario, SetSummarizer
from contextproof.conformance.play.trace import Record, RecordedInputs, SkipRecord

#: How many fresh ids an engine is offered with each call.
_IDS_OFFERED = 4

Ending = Literal["closed", "escalated", "refused", "out of steps"]


@dataclass
class Session:
    """A session being played. Only the modules of this room change it."""

    scenario: Scenario
    builder: Builder
    resolver: Resolver
    sides: frozenset[str]
    between: Callable[[Builder], None] | None = None
    resume_in: Builder | None = None

    records: list[Record] = field(default_factory=list)
    log: tuple[LogItem, ...] = ()
    plans: list[Plan] = field(default_factory=list)
    roomy_plan: Plan | None = None
    step: int = -1
    turn: int = 0
    request: int = 0
    ids_used: int = 0

    clock: str = ""
    permissions: tuple[str, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    memory: tuple[MemoryItem, ...] = ()
    known_ids: set[str] = field(default_factory=set)

    checkpoint: Checkpoint | None = None
    working_state: WorkingState = field(default_factory=WorkingState)
    corrections: tuple[MemoryCorrection, ...] = ()
    recall: tuple[RecallItem, ...] = ()
    environment: tuple[EnvironmentItem, ...] = ()
    calibration: Calibration = field(default_factory=Calibration)
    yielded: tuple[Yielded, ...] = ()
    summarizer: SetSummarizer = field(default_factory=lambda: SetSummarizer(mode="faithful"))

    model: ModelSpec | None = None
    open_calls: dict[str, ToolCall] = field(default_factory=dict)
    awaits_reply: bool = False
    unsent: str | None = None
    ended: Ending | None = None
    defects_shown: int = 0
    fresh_builder: Builder | None = None
    #: Set once the builder changed what it was handed: from then on it is handed copies.
    hands_copies: bool = False

    @property
    def plan(self) -> Plan:
        """The plan in force."""
        return self.plans[-1]

    @property
    def plan_index(self) -> int:
        """Its place among the plans."""
        return len(self.plans) - 1

    def context(self, model: ModelSpec | None = None) -> CallContext:
        """Where the session is now; with another model, as if routed to that."""
        routed = model or self.model
        assert routed is not None, "the model is sized before the first call"
        return CallContext(
            session=self.scenario.name,
            epoch=self.plan.epoch if self.plans else 1,
            turn=self.turn,
            request=self.request,
            model=routed,
        )

    def live(self, attempt: int = 1) -> Live:
        """What is so right now."""
        return Live(
            clock=later(self.clock, self.request),
            permissions=self.permissions,
            tools=self.tools,
            memory=self.memory,
            ids=tuple(f"rt-{self.ids_used + n}" for n in range(_IDS_OFFERED)),
            attempt=attempt,
        )

    def inputs(self, attempt: int = 1, probed: tuple[LogItem, ...] = ()) -> BuildInputs:
        """Everything a build is handed."""
        return BuildInputs(
            log=self.log + probed,
            checkpoint=self.checkpoint,
            working_state=self.working_state,
            corrections=self.corrections,
            recall=self.recall,
            environment=self.environment,
            calibration=self.calibration,
            yielded=self.yielded,
            live=self.live(attempt),
        )

    def restore(self, inputs: BuildInputs) -> None:
        """Take up again what inputs hold: after a resume, or when a builder changed what it was handed."""
        self.log = inputs.log
        self.checkpoint, self.working_state = inputs.checkpoint, inputs.working_state
        self.corrections, self.recall = inputs.corrections, inputs.recall
        self.environment, self.calibration = inputs.environment, inputs.calibration
        self.yielded = inputs.yielded

    def recorded(self, inputs: BuildInputs, probed: tuple[LogItem, ...] = ()) -> RecordedInputs:
        """The same, as a record keeps it."""
        return RecordedInputs(
            log_length=len(inputs.log) - len(probed),
            probed=probed,
            checkpoint=inputs.checkpoint,
            working_state=inputs.working_state,
            corrections=inputs.corrections,
            recall=inputs.recall,
            environment=inputs.environment,
            calibration=inputs.calibration,
            yielded=inputs.yielded,
            live=inputs.live,
        )

    def answers(self, *ports: str) -> bool:
        """Whether the builder has these ports."""
        return self.builder.ports.issuperset(ports)

    def call(self, call: Call, summarize: Summarize | None = None) -> Any:
        """Make a call. Raises BuilderError."""
        return self.builder.call(call, summarize)

    def note(self, record: Record) -> None:
        """Write a record down."""
        self.records.append(record)

    def skip(self, reason: str) -> None:
        """Write down that the present step cannot be played, and why."""
        self.note(SkipRecord(context=self.context(), step=self.step, reason=reason))

    def append(self, *items: LogItem) -> None:
        """Add entries to the log."""
        self.log += items
        self.known_ids.update(item.id for item in items)

    def known(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Those ids that really came into the session; a skipped step's items never did."""
        return tuple(name for name in ids if name in self.known_ids)

    def use_ids(self, used: Sequence[str | None]) -> None:
        """Do not offer ids again, once an engine has taken one of them."""
        offered = set(self.live().ids)
        if any(name in offered for name in used):
            self.ids_used += _IDS_OFFERED
