"""The ports of a builder. It implements those it has; `Engine` is one that has them all.

Everything is passed in and nothing is held: an answer depends on the arguments alone. Any method may
be a coroutine. ``context`` says where in which session a call is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from contextproof.conformance.contract.answers import (
    AuthorizeAnswer,
    BuildAnswer,
    Candidates,
    CompactAnswer,
    Estimated,
    PlanAnswer,
    Reconciled,
    UpdateAnswer,
    Updated,
    Validated,
)
from contextproof.conformance.contract.base import Frozen, Id
from contextproof.conformance.contract.items import LogItem, ToolCall
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.plan import BuildInputs, Calibration, Plan
from contextproof.conformance.contract.request import Block, Estimate, Request
from contextproof.conformance.contract.session import CallContext, Change, Live, Opening
from contextproof.conformance.contract.working_state import StateUpdate, WorkingState, WriteOrigin


class SummaryPart(Frozen):
    """A part handed to the summarizer: text, and the ids of the items (or checkpoint) it renders."""

    item_ids: tuple[Id, ...]
    """Ids of the items (or of the checkpoint) that it renders."""
    text: str
    """What is to be summarized."""


class Summary(Frozen):
    """What the summarizer wrote. ``complete`` is false where it was cut short."""

    text: str
    """What the summarizer wrote."""
    complete: bool = True
    """False where it was cut short."""


class SummarizerError(Exception):
    """The summarizer raised or timed out."""


Summarize = Callable[[Sequence[SummaryPart], int], Summary]
"""Called with parts and the most tokens wanted back. Raises SummarizerError."""


@runtime_checkable
class ContextPlanner(Protocol):
    """Opens sessions, and decides on rotation."""

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        """The first plan, or the class that is over its cap."""

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        """The same plan, or the next epoch's, or a refusal that leaves the old one standing."""


@runtime_checkable
class ContextBuilder(Protocol):
    """Builds requests, purely."""

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        """The request, or why there is none."""

    def validate(self, context: CallContext, request: Request) -> Validated:
        """What is wrong with a request before it is sent."""


@runtime_checkable
class Compactor(Protocol):
    """Writes checkpoints."""

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        """A new checkpoint, or why there is none."""


@runtime_checkable
class TokenEstimator(Protocol):
    """Estimates what is not measured, and learns from what responses report."""

    def estimate(
        self, context: CallContext, calibration: Calibration, blocks: tuple[Block, ...]
    ) -> Estimated:
        """Tokens by class: region A exact, region B conservative."""

    def reconcile(
        self, context: CallContext, calibration: Calibration, estimate: Estimate, usage: int
    ) -> Reconciled:
        """The calibration after ``usage`` tokens were reported for what was estimated."""


@runtime_checkable
class PolicyGate(Protocol):
    """Authorizes calls when they are made."""

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        """Allowed, or denied with the result item that closes the call."""


@runtime_checkable
class WorkingStateTool(Protocol):
    """Keeps working state."""

    def update(
        self, context: CallContext, state: WorkingState, update: StateUpdate, origin: WriteOrigin
    ) -> UpdateAnswer:
        """The new state, or the field and cap that forbid it."""

    def carry(self, context: CallContext, log: tuple[LogItem, ...]) -> Updated:
        """The state that crosses into the turn which the log's last user message starts."""


@runtime_checkable
class MemoryFormation(Protocol):
    """Offers facts to memory."""

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        """The facts of the state, once the log says that the session is closed."""


class HasManifest(Protocol):
    """Declares what it is."""

    @property
    def manifest(self) -> Manifest:
        """The builder's declaration; the same whenever asked."""


class Engine(
    HasManifest,
    ContextPlanner,
    ContextBuilder,
    Compactor,
    TokenEstimator,
    PolicyGate,
    WorkingStateTool,
    MemoryFormation,
    Protocol,
):
    """A builder with every port."""
