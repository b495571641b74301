"""A context engine for contextproof. It can be called, and claims nothing yet.

Fill in the steps in the order of their numbers. Claim a decision in the manifest when what it needs is
written: `contextproof explain CTX-03` tells what decision 3 demands. Then `contextproof smoke` tells
whether the adapter is right, and `contextproof gate` whether the engine is. Delete a port that your
engine does not have: what is not there is not called.

Every call carries all that its answer depends on. Keep nothing between calls.
"""

from __future__ import annotations

from contextproof.conformance.contract.answers import (
    Allowed,
    AuthorizeAnswer,
    BuildAnswer,
    Built,
    Candidates,
    CompactAnswer,
    CompactionFailed,
    Estimated,
    PlanAnswer,
    Planned,
    Reconciled,
    Rejected,
    UpdateAnswer,
    Updated,
    Validated,
)
from contextproof.conformance.contract.caps import ContextBudget
from contextproof.conformance.contract.items import (
    AssistantMessage,
    LogItem,
    RenderedItem,
    ToolCall,
    ToolResult,
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
from contextproof.conformance.contract.vocabulary import Region, Role, Slot, declaration
from contextproof.conformance.contract.working_state import StateUpdate, WorkingState, WriteOrigin

MESSAGES = (UserMessage, AssistantMessage, ToolCall, ToolResult)


def render(item: RenderedItem, slot: Slot | None = None) -> Block:
    """Step 2 (decisions 1, 2 and 13): the block of an item, as your engine sends it.

    Put content below platform trust into an envelope, say where its parts lie (`Block.envelope`), and
    name delimiters and codecs in the manifest. `own_trust` becomes the lowest trust of all that an item
    derives from.
    """
    declared = declaration(item.type)
    assert declared is not None, item.type
    return Block(
        item_id=item.id,
        type=item.type,
        slot=slot,
        region=declared.region,
        role=Role.SYSTEM if declared.region is Region.A else Role.USER,
        label=own_trust(item),
        source=source(item),
        text=content(item),
    )


class MyEngine:
    """Step 0: say who you are. `claims` lists the decisions that you want to be judged by."""

    manifest = Manifest(
        name="my-engine",
        version="0.1",
        claims=(),
        delimiters=(),
        codecs=(),
        summary_bound=0,
    )

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        """Step 1 (decisions 3, 6 and 7): render the prefix once, for the whole epoch.

        Measure each class against its cap and answer `Refused` where one is over it; fill in `tokens`
        and `prefix_tokens`; put tools into an order that does not depend on their registration.
        """
        permitted = tuple(tool for tool in opening.tools if tool.name in opening.permissions)
        pinned = opening.model_copy(update={"tools": permitted})
        prefix: tuple[RenderedItem, ...] = (*pinned.policy, *pinned.instructions, *permitted, *pinned.memory)
        blocks = tuple(render(item) for item in prefix)
        budget = ContextBudget(**dict.fromkeys(ContextBudget.model_fields, 0))
        return Planned(
            plan=Plan(
                session=context.session,
                epoch=1,
                opening=pinned,
                blocks=blocks,
                tokens=(),
                prefix_tokens=0,
                prefix_sha256=prefix_sha256(blocks),
                budget=budget,
            )
        )

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        """Step 3 (decisions 1, 2, 3, 8 and 16): the plan's blocks, then the body.

        Add corrections, working state, recall, environment and the checkpoint; give an estimate; where
        it does not fit, let things give way in the order of decision 8, and else say what is exhausted.
        """
        said = [item for item in inputs.log if isinstance(item, MESSAGES)]
        now = max(place for place, item in enumerate(said) if isinstance(item, UserMessage))
        before = [render(item, Slot.HISTORY) for item in said[:now]]
        after = [render(item, Slot.ACTIVE) for item in said[now + 1 :]]
        current = render(said[now], Slot.CURRENT)
        return Built(
            request=Request(
                session=context.session,
                turn=context.turn,
                request=context.request,
                epoch=plan.epoch,
                model=context.model.name,
                blocks=(*plan.blocks, *before, *after, current),
                prefix_sha256=plan.prefix_sha256,
                estimate=Estimate.nothing(),
            )
        )

    def validate(self, context: CallContext, request: Request) -> Validated:
        """Step 4 (decision 9): what is wrong with a request; calls and results in pairs, and in order."""
        return Validated()

    def estimate(
        self, context: CallContext, calibration: Calibration, blocks: tuple[Block, ...]
    ) -> Estimated:
        """Step 5 (decision 11): tokens by class; of the prefix exact, of the body never too few."""
        return Estimated(by_class=())

    def reconcile(
        self, context: CallContext, calibration: Calibration, estimate: Estimate, usage: int
    ) -> Reconciled:
        """Step 5 (decision 11): learn from what a response reported."""
        return Reconciled(calibration=calibration)

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        """Step 6 (decisions 4 and 5): the same plan, or the next epoch's where the change demands one."""
        return Planned(plan=plan)

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        """Step 7 (decision 4): deny what is not permitted now, or was not pinned. So far all is allowed."""
        return Allowed()

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        """Step 8 (decision 12): cover a leading part of the log by a summary and pointers."""
        return CompactionFailed(reason="not written yet")

    def update(
        self, context: CallContext, state: WorkingState, update: StateUpdate, origin: WriteOrigin
    ) -> UpdateAnswer:
        """Step 9 (decision 14): take an update as a whole, or say which bound forbids it."""
        return Rejected(field="tokens", cap=None, reason="not written yet")

    def carry(self, context: CallContext, log: tuple[LogItem, ...]) -> Updated:
        """Step 9 (decision 14): the state at the start of a turn, from the log alone."""
        return Updated(state=WorkingState())

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        """Step 10 (decision 15): once the log says that the session is closed, every fact of the state."""
        return Candidates()
