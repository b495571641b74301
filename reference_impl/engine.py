"""The way in: an engine with every port of the contract, and a factory that makes one.

Name it ``contextproof.reference_impl.engine:factory``.
"""

from __future__ import annotations

from typing import Final

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
from contextproof.conformance.contract.items import LogItem, ToolCall
from contextproof.conformance.contract.manifest import Manifest, TypeCodec
from contextproof.conformance.contract.plan import BuildInputs, Calibration, Plan
from contextproof.conformance.contract.ports import Engine, Summarize
from contextproof.conformance.contract.request import Block, Estimate, Request
from contextproof.conformance.contract.session import CallContext, Change, Live, Opening
from contextproof.conformance.contract.vocabulary import (
    FRAMING,
    PLATFORM_POLICY,
    Decision,
    Region,
    declared_types,
)
from contextproof.conformance.contract.working_state import StateUpdate, WorkingState, WriteOrigin
from contextproof.reference_impl import (
    builder,
    compactor,
    estimator,
    formation,
    planner,
    policy,
    validator,
    working_state,
)
from contextproof.reference_impl.envelope import CODEC, DELIMITERS
from contextproof.reference_impl.regions import ORDER

_ENVELOPED: Final = tuple(
    name
    for name in declared_types()
    if name not in (PLATFORM_POLICY, FRAMING) and name not in declared_types(Region.NONE)
)

MANIFEST: Final = Manifest(
    name="contextproof-reference",
    version="1.0",
    claims=tuple(Decision),
    order=ORDER,
    delimiters=DELIMITERS,
    codecs=tuple(TypeCodec(type=name, codec=CODEC) for name in _ENVELOPED),
    summary_bound=compactor.SUMMARY_BOUND,
)


class ReferenceEngine:
    """Every port, each carried out by the module named after its decision. It holds nothing."""

    manifest: Manifest = MANIFEST

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        """The first plan, or the class that is over its cap."""
        return planner.open_session(context, opening)

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        """The same plan, or the next epoch's, or a refusal that leaves the old one standing."""
        del live  # what is live stays out of the next epoch too
        return planner.apply(context, plan, change)

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        """The request, or why there is none."""
        return builder.build(context, plan, inputs)

    def validate(self, context: CallContext, request: Request) -> Validated:
        """What is wrong with a request before it is sent."""
        del context
        return validator.validate(request)

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        """A new checkpoint, or why there is none."""
        return compactor.compact(context, plan, inputs, summarize)

    def estimate(
        self, context: CallContext, calibration: Calibration, blocks: tuple[Block, ...]
    ) -> Estimated:
        """Tokens by class: region A exact, region B conservative."""
        return estimator.estimate(context, calibration, blocks)

    def reconcile(
        self, context: CallContext, calibration: Calibration, estimate: Estimate, usage: int
    ) -> Reconciled:
        """The calibration after ``usage`` tokens were reported for what was estimated."""
        return estimator.reconcile(context, calibration, estimate, usage)

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        """Allowed, or denied with the result item that closes the call."""
        del context
        return policy.authorize(plan, live, call)

    def update(
        self, context: CallContext, state: WorkingState, update: StateUpdate, origin: WriteOrigin
    ) -> UpdateAnswer:
        """The new state, or the field and cap that forbid it."""
        return working_state.update(context.model, state, update, origin)

    def carry(self, context: CallContext, log: tuple[LogItem, ...]) -> Updated:
        """The state that a log tells, as it crosses into the turn of its last user message."""
        del context
        return working_state.carry(log)

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        """The facts of the state, once the log says that the session is closed."""
        del context
        return formation.candidates(plan, log, state)


def factory() -> Engine:
    """A reference engine."""
    return ReferenceEngine()
