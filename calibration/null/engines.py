"""The null engines. Each claims every decision, answers every call, and thinks about none."""

from __future__ import annotations

from collections.abc import Iterable

from contextproof.conformance.contract.answers import (
    Allowed,
    AuthorizeAnswer,
    BudgetExhausted,
    BuildAnswer,
    Built,
    Candidates,
    CompactAnswer,
    Estimated,
    NothingToGain,
    PlanAnswer,
    Planned,
    Reconciled,
    Refused,
    UpdateAnswer,
    Updated,
    Validated,
)
from contextproof.conformance.contract.caps import ContextBudget
from contextproof.conformance.contract.items import (
    LogItem,
    Message,
    PrefixItem,
    RenderedItem,
    ToolCall,
    UserMessage,
    content,
    own_trust,
    source,
)
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.plan import BuildInputs, Calibration, Plan
from contextproof.conformance.contract.ports import Summarize
from contextproof.conformance.contract.request import Block, Estimate, Request, prefix_sha256
from contextproof.conformance.contract.session import CallContext, Change, Live, Opening
from contextproof.conformance.contract.vocabulary import (
    PLATFORM_POLICY,
    Decision,
    Region,
    Role,
    Slot,
    TokenClass,
    Trust,
    declaration,
)
from contextproof.conformance.contract.working_state import StateUpdate, WorkingState, WriteOrigin

_NO_BUDGET = ContextBudget(**dict.fromkeys(ContextBudget.model_fields, 0))
#: How `TruncateToFit` guesses tokens.
_CHARACTERS_A_TOKEN = 4


def bare(item: RenderedItem, slot: Slot | None = None) -> Block:
    """An item's content as it is."""
    declared = declaration(item.type)
    prefix = declared is not None and declared.region is Region.A
    return Block(
        item_id=item.id,
        type=item.type,
        slot=slot,
        region=Region.A if prefix else Region.B,
        role=Role.SYSTEM if prefix else Role.USER,
        label=own_trust(item),
        source=source(item),
        text=content(item),
    )


def _prefix(opening: Opening) -> tuple[PrefixItem, ...]:
    return (*opening.policy, *opening.instructions, *opening.tools, *opening.memory)


def _messages(inputs: BuildInputs) -> tuple[Block, ...]:
    """Every message as it is; from the last user message on, as of the turn that is under way."""
    said = [item for item in inputs.log if isinstance(item, Message)]
    now = max((n for n, item in enumerate(said) if isinstance(item, UserMessage)), default=len(said))
    history = (bare(item, Slot.HISTORY) for item in said[:now])
    active = (bare(item, Slot.ACTIVE) for item in said[now + 1 :])
    return (*history, *active, *(bare(item, Slot.CURRENT) for item in said[now : now + 1]))


class Empty:
    """Plans nothing, sends nothing, counts nothing."""

    manifest = Manifest(
        name="null", version="1", claims=tuple(Decision), delimiters=(), codecs=(), summary_bound=0
    )

    def prefix(self, opening: Opening) -> Iterable[Block]:
        """The blocks that a plan has."""
        del opening
        return ()

    def body(self, inputs: BuildInputs) -> Iterable[Block]:
        """The blocks that a request has behind its plan's."""
        del inputs
        return ()

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        """A plan, whatever is asked for."""
        blocks = tuple(self.prefix(opening))
        return Planned(
            plan=Plan(
                session=context.session,
                epoch=1,
                opening=opening,
                blocks=blocks,
                tokens=(),
                prefix_tokens=0,
                prefix_sha256=prefix_sha256(blocks),
                budget=_NO_BUDGET,
            )
        )

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        """Nothing ever changes."""
        del context, change, live
        return Planned(plan=plan)

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        """The plan's blocks and the body's."""
        return Built(
            request=Request(
                session=context.session,
                epoch=plan.epoch,
                turn=context.turn,
                request=context.request,
                model=context.model.name,
                blocks=(*plan.blocks, *self.body(inputs)),
                prefix_sha256=plan.prefix_sha256,
                estimate=Estimate.nothing(),
            )
        )

    def validate(self, context: CallContext, request: Request) -> Validated:
        """All is well."""
        del context, request
        return Validated()

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        """There is nothing to gain."""
        del context, plan, inputs, summarize
        return NothingToGain()

    def estimate(
        self, context: CallContext, calibration: Calibration, blocks: tuple[Block, ...]
    ) -> Estimated:
        """It costs nothing."""
        del context, calibration, blocks
        return Estimated(by_class=())

    def reconcile(
        self, context: CallContext, calibration: Calibration, estimate: Estimate, usage: int
    ) -> Reconciled:
        """Nothing is learned."""
        del context, estimate, usage
        return Reconciled(calibration=calibration)

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        """Everything is allowed."""
        del context, plan, live, call
        return Allowed()

    def update(
        self, context: CallContext, state: WorkingState, update: StateUpdate, origin: WriteOrigin
    ) -> UpdateAnswer:
        """The state stays as it is."""
        del context, update, origin
        return Updated(state=state)

    def carry(self, context: CallContext, log: tuple[LogItem, ...]) -> Updated:
        """No state crosses a turn."""
        del context, log
        return Updated(state=WorkingState())

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        """There is nothing to remember."""
        del context, plan, log, state
        return Candidates()


class Echo(Empty):
    """Sends everything it is given, as it is."""

    def prefix(self, opening: Opening) -> Iterable[Block]:
        """The opening's items."""
        return (bare(item) for item in _prefix(opening))

    def body(self, inputs: BuildInputs) -> Iterable[Block]:
        """Everything else that is to be rendered."""
        standing: tuple[RenderedItem, ...] = (*inputs.corrections, *inputs.recall, *inputs.environment)
        return (*(bare(item) for item in standing), *_messages(inputs))


class IdentityPrefix(Echo):
    """Sends the opening's items as they are, and nothing else."""

    def body(self, inputs: BuildInputs) -> Iterable[Block]:
        """No body."""
        del inputs
        return ()


class DropAll(Echo):
    """Keeps the prefix and the user's message, and drops all else."""

    def body(self, inputs: BuildInputs) -> Iterable[Block]:
        """The current user message alone."""
        return _messages(inputs)[-1:]


class Constant(Empty):
    """Sends the same text, whatever the session."""

    def prefix(self, opening: Opening) -> Iterable[Block]:
        """One block of policy."""
        del opening
        yield Block(
            item_id="policy",
            type=PLATFORM_POLICY,
            region=Region.A,
            role=Role.SYSTEM,
            label=Trust.PLATFORM,
            source="platform",
            text="You are an assistant.",
        )


class TruncateToFit(Echo):
    """Drops the oldest until four characters a token fit the window, whatever it splits."""

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        """As much of the end as fits."""
        room = _CHARACTERS_A_TOKEN * (context.model.window - context.model.output_reserve)
        room -= sum(len(block.text) for block in plan.blocks)
        kept: list[LogItem] = []
        for item in reversed(inputs.log):
            room -= len(content(item)) if isinstance(item, Message) else 0
            if room < 0:
                break
            kept.insert(0, item)
        return super().build(context, plan, inputs.model_copy(update={"log": tuple(kept)}))


class AlwaysRefuse(Empty):
    """Opens no session."""

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        """The policy is too long, however short."""
        del context, opening
        return Refused(token_class=TokenClass.PLATFORM_POLICY, measured=1, cap=0)


class AlwaysExhausted(Echo):
    """Never has room for a request."""

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        """There is no room."""
        del context, plan, inputs
        return BudgetExhausted(token_class=TokenClass.HISTORY, needed=1, available=0)
