"""Faults that break the one prefix (decisions 1 to 5)."""

from __future__ import annotations

from contextproof.calibration.edits import with_blocks
from contextproof.calibration.faulty import Faulty, each
from contextproof.conformance.contract.answers import BuildAnswer, Built, PlanAnswer, Planned
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block, prefix_sha256
from contextproof.conformance.contract.session import CallContext, Opening
from contextproof.conformance.contract.vocabulary import TOOL_DEFINITION


class TimestampInThePrefix(Faulty):
    """Tells the time at the head of the policy. Seen in goruck/home-generative-agent#617."""

    breaks = "CTX-03.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def stamp(block: Block) -> Block:
            if block.type != "platform_policy":
                return block
            return block.model_copy(update={"text": f"It is {inputs.live.clock}.\n{block.text}"})

        return self.edited(context, inputs, super().build(context, plan, inputs), each(stamp))


class LiveToolsInsteadOfPinnedOnes(Faulty):
    """Renders the tools as registered and permitted now. Seen in langchain-ai/deepagents#2497."""

    breaks = "CTX-04.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        now = {"tools": inputs.live.tools, "permissions": inputs.live.permissions}
        opened = self.open_session(context, plan.opening.model_copy(update=now))
        if isinstance(opened, Planned):
            plan = opened.plan.model_copy(update={"epoch": plan.epoch})
        return super().build(context, plan, inputs)


class ToolsSortedInsideTheHashOnly(Faulty):
    """Hashes the tools in order of name, and sends them in another. The record's own argument."""

    breaks = "CTX-03.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, Built):
            return answer
        names = [tool.name for tool in inputs.live.tools]
        first = next((n for n, b in enumerate(answer.request.blocks) if b.type == TOOL_DEFINITION), 0)
        tools = sorted(
            (b for b in answer.request.blocks if b.type == TOOL_DEFINITION),
            key=lambda b: _rank(b, names),
        )
        rest = [b for b in answer.request.blocks if b.type != TOOL_DEFINITION]
        sent = with_blocks(answer, (*rest[:first], *tools, *rest[first:]))
        request = sent.request.model_copy(update={"prefix_sha256": answer.request.prefix_sha256})
        return sent.model_copy(update={"request": request})


def _rank(block: Block, names: list[str]) -> int:
    """Where the first of these names stands that the block mentions."""
    return next((n for n, name in enumerate(names) if f'"name":"{name}"' in block.text), len(names))


class RevokedToolDropped(Faulty):
    """Leaves tools out of the prefix once they are not permitted. Seen in lvndry/jazz#546."""

    breaks = "CTX-04.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        permitted = set(inputs.live.permissions)
        dropped = {t.id for t in plan.opening.tools if t.name not in permitted}
        answer = super().build(context, plan, inputs)
        return self.edited(
            context, inputs, answer, lambda blocks: (b for b in blocks if b.item_id not in dropped)
        )


class MemoryRefreshedInThePrefix(Faulty):
    """Shows the memory as it is now in the snapshot. Seen in langchain-ai/deepagents#2070."""

    breaks = "CTX-03.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        now = plan.opening.model_copy(update={"memory": inputs.live.memory})
        opened = self.open_session(context, now)
        if isinstance(opened, Planned):
            plan = opened.plan.model_copy(update={"epoch": plan.epoch})
        return super().build(context, plan, inputs)


class HashOfTheOpeningInsteadOfThePrefix(Faulty):
    """Records a hash of the configuration, not of what is sent. The record's own argument."""

    breaks = "CTX-03.1"

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        answer = super().open_session(context, opening)
        if not isinstance(answer, Planned):
            return answer
        wrong = prefix_sha256(answer.plan.blocks[:1])
        return answer.model_copy(update={"plan": answer.plan.model_copy(update={"prefix_sha256": wrong})})
