"""Every call of the contract as a message: its name, its arguments, and the answers it can have.

In process the arguments are passed by keyword; over stdio the same message is a JSON-RPC call. The
reverse calls, from a builder to the suite, stand at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from pydantic import TypeAdapter

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.contract.items import LogItem, ToolCall
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.plan import BuildInputs, Calibration, Plan
from contextproof.conformance.contract.ports import Summary, SummaryPart
from contextproof.conformance.contract.request import Block, Estimate, Request
from contextproof.conformance.contract.session import CallContext, Change, Live, Opening
from contextproof.conformance.contract.tokenizers import TokenizerName
from contextproof.conformance.contract.vocabulary import Decision
from contextproof.conformance.contract.working_state import StateUpdate, WorkingState, WriteOrigin


class OpenSessionCall(Frozen):
    """Arguments of ``open_session``."""

    context: CallContext
    """Where the call is made."""
    opening: Opening
    """What the session opens with."""


class ApplyCall(Frozen):
    """Arguments of ``apply``."""

    context: CallContext
    """Where the call is made."""
    plan: Plan
    """The plan in force."""
    change: Change
    """What changed."""
    live: Live
    """What is so now, after the change."""


class BuildCall(Frozen):
    """Arguments of ``build``."""

    context: CallContext
    """Where the call is made."""
    plan: Plan
    """The plan in force."""
    inputs: BuildInputs
    """All else that the request depends on."""


class ValidateCall(Frozen):
    """Arguments of ``validate``."""

    context: CallContext
    """Where the call is made."""
    request: Request
    """What is to be looked at."""


class CompactCall(Frozen):
    """Arguments of ``compact``; in process ``summarize`` is passed too, over stdio it is a reverse call."""

    context: CallContext
    """Where the call is made."""
    plan: Plan
    """The plan in force."""
    inputs: BuildInputs
    """The same as for a build."""


class EstimateCall(Frozen):
    """Arguments of ``estimate``."""

    context: CallContext
    """Where the call is made."""
    calibration: Calibration
    """What was learned so far."""
    blocks: tuple[Block, ...]
    """What is to be estimated."""


class ReconcileCall(Frozen):
    """Arguments of ``reconcile``. ``usage`` is tokens."""

    context: CallContext
    """Where the call is made."""
    calibration: Calibration
    """What was learned so far."""
    estimate: Estimate
    """What was estimated for the request."""
    usage: Count
    """Input tokens that the provider reported for it."""


class AuthorizeCall(Frozen):
    """Arguments of ``authorize``."""

    context: CallContext
    """Where the call is made."""
    plan: Plan
    """The plan in force."""
    live: Live
    """What is so now; permissions above all."""
    call: ToolCall
    """The call that the model wants to make."""


class UpdateCall(Frozen):
    """Arguments of ``update``."""

    context: CallContext
    """Where the call is made."""
    state: WorkingState
    """The state as it stands."""
    update: StateUpdate
    """The change that is asked for."""
    origin: WriteOrigin
    """Who asks."""


class CarryCall(Frozen):
    """Arguments of ``carry``."""

    context: CallContext
    """Where the call is made."""
    log: tuple[LogItem, ...]
    """The log, which ends with the user message that starts the turn."""


class CandidatesCall(Frozen):
    """Arguments of ``candidates``."""

    context: CallContext
    """Where the call is made."""
    plan: Plan
    """The plan in force."""
    log: tuple[LogItem, ...]
    """The log so far."""
    state: WorkingState
    """The state as it stands."""


Call = (
    OpenSessionCall
    | ApplyCall
    | BuildCall
    | ValidateCall
    | CompactCall
    | EstimateCall
    | ReconcileCall
    | AuthorizeCall
    | UpdateCall
    | CarryCall
    | CandidatesCall
)


@dataclass(frozen=True)
class Method:
    """One call of the contract.

    Attributes:
        name: the method's name, in process and on the wire.
        arguments: the model of its arguments.
        answer_type: what it may answer.
        decisions: the decisions that cannot be claimed without answering it.
    """

    name: str
    arguments: type[Frozen]
    answer_type: Any
    decisions: tuple[Decision, ...]

    @property
    def answers(self) -> tuple[type[Frozen], ...]:
        """The models of its answers."""
        union = get_args(self.answer_type)[0] if get_args(self.answer_type) else self.answer_type
        return get_args(union) or (union,)

    @cached_property
    def answer(self) -> TypeAdapter[Any]:
        """Validates an answer."""
        return TypeAdapter(self.answer_type)


_D = Decision

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "open_session",
            OpenSessionCall,
            a.PlanAnswer,
            (_D.REGIONS, _D.ORDER, _D.PREFIX_STABILITY, _D.PINNED_TOOLS, _D.CAPS, _D.PREFIX_NEVER_YIELDS),
        ),
        Method("apply", ApplyCall, a.PlanAnswer, (_D.PINNED_TOOLS, _D.EPOCHS)),
        Method(
            "build",
            BuildCall,
            a.BuildAnswer,
            (
                *(_D.REGIONS, _D.ORDER, _D.PREFIX_STABILITY, _D.CAPS, _D.YIELD_ORDER, _D.ATOMIC_PAIRS),
                *(_D.PURITY, _D.ENVELOPES, _D.BODY_REUSE),
            ),
        ),
        Method("validate", ValidateCall, a.Validated, (_D.ATOMIC_PAIRS,)),
        Method("compact", CompactCall, a.CompactAnswer, (_D.COMPACTION,)),
        Method("estimate", EstimateCall, a.Estimated, (_D.ESTIMATION,)),
        Method("reconcile", ReconcileCall, a.Reconciled, (_D.ESTIMATION,)),
        Method("authorize", AuthorizeCall, a.AuthorizeAnswer, (_D.PINNED_TOOLS,)),
        Method("update", UpdateCall, a.UpdateAnswer, (_D.WORKING_STATE,)),
        Method("carry", CarryCall, a.Updated, (_D.WORKING_STATE,)),
        Method("candidates", CandidatesCall, a.Candidates, (_D.FORMATION,)),
    )
}
METHOD_OF: dict[type[Frozen], Method] = {method.arguments: method for method in METHODS.values()}


class InitializeCall(Frozen):
    """The handshake over stdio: the suite names the contract's version it speaks."""

    contract: int
    """The version that the suite speaks."""


class Initialized(Frozen):
    """The builder's side of the handshake: what it declares, and the calls it answers."""

    manifest: Manifest
    """What the builder declares."""
    ports: tuple[str, ...]
    """Names of the calls that it answers."""


class ShutdownCall(Frozen):
    """The last call over stdio: the builder answers it and ends. It has no arguments."""


class ShutDown(Frozen):
    """The builder's answer to ``shutdown``: an empty object."""


class SummarizeCall(Frozen):
    """Reverse call ``summarize``: parts, and the most tokens wanted back. Answered by a Summary."""

    parts: tuple[SummaryPart, ...]
    """What is to be summarized, in order."""
    max_tokens: Count
    """The most tokens wanted back."""


class CountCall(Frozen):
    """Reverse call ``count``: exact tokens of texts, for a builder without that tokenizer."""

    tokenizer: TokenizerName
    """By which tokenizer."""
    texts: tuple[str, ...]
    """The texts to count, each by itself."""


class Counted(Frozen):
    """Tokens of each text, in order."""

    tokens: tuple[Count, ...]
    """Tokens of each text, in order."""


REVERSE: dict[str, tuple[type[Frozen], type[Frozen]]] = {
    "summarize": (SummarizeCall, Summary),
    "count": (CountCall, Counted),
}
