"""Faults about regions: what belongs into the prefix, and what must not reach it (decision 1)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from contextproof.calibration.faulty import Altered, Faulty, each
from contextproof.calibration.faulty.prefix import sorted_within
from contextproof.conformance.contract.answers import BuildAnswer, InvalidInput, InvalidKind
from contextproof.conformance.contract.items import UndeclaredItem, own_trust
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import CallContext, Opening
from contextproof.conformance.contract.vocabulary import (
    ENVIRONMENT,
    MEMORY_SNAPSHOT,
    TOOL_DEFINITION,
    Region,
    Trust,
    declaration,
)


class EnvironmentOfNoRegion(Faulty):
    """Sends notices of the runtime under no region, as if the log alone held them.

    The record's own argument: a type without a region can be neither cached nor counted.
    """

    breaks = "CTX-01.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def stray(block: Block) -> Block:
            return block.model_copy(update={"region": Region.NONE} if block.type == ENVIRONMENT else {})

        return self.edited(context, inputs, super().build(context, plan, inputs), each(stray))


class EnvironmentInThePrefix(Faulty):
    """Puts date and notices at the end of the cached part. Seen in anomalyco/opencode#29672."""

    breaks = "CTX-01.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def moved(blocks: tuple[Block, ...]) -> Iterable[Block]:
            notices = [block for block in blocks if block.type == ENVIRONMENT]
            rest = [block for block in blocks if block.type != ENVIRONMENT]
            start = sum(block.region is Region.A for block in rest)
            pinned = (block.model_copy(update={"region": Region.A}) for block in notices)
            return (*rest[:start], *pinned, *rest[start:])

        return self.edited(context, inputs, super().build(context, plan, inputs), moved)


class SnapshotLeftOutWhereAllOfItIsUntrusted(Altered):
    """Plans no memory where every item of it is labelled untrusted.

    The record's own argument: trust is told by the label, and never by leaving something out.
    """

    breaks = "CTX-01.2"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        whole: Callable[[Opening], tuple[Block, ...]] = module._prefix_blocks

        def trusted(opening: Opening) -> tuple[Block, ...]:
            is_banned = all(own_trust(item) is Trust.EXTERNAL_UNTRUSTED for item in opening.memory)
            return tuple(b for b in whole(opening) if not (is_banned and b.type == MEMORY_SNAPSHOT))

        module._prefix_blocks = trusted


class UndeclaredItemPassedOver(Faulty):
    """Skips log entries of types it does not know. The record's own argument: nobody decided on them."""

    breaks = "CTX-01.3"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        known = tuple(item for item in inputs.log if not isinstance(item, UndeclaredItem))
        return super().build(context, plan, inputs.model_copy(update={"log": known}))


class UndeclaredTypeTakenForOneSpeltAlike(Faulty):
    """Compares type names in lower case and without blanks, and so lets strange ones pass.

    The record's own argument: a type is declared, or it is refused.
    """

    breaks = "CTX-01.3"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def is_strange(kind: str) -> bool:
            return declaration(kind) is None and declaration(kind.strip().lower()) is None

        known = tuple(i for i in inputs.log if not isinstance(i, UndeclaredItem) or is_strange(i.type))
        return super().build(context, plan, inputs.model_copy(update={"log": known}))


class UndeclaredItemNamedInsteadOfItsType(Faulty):
    """Refuses an undeclared type, and names the entry instead. The record asks for the type's name."""

    breaks = "CTX-01.3"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, InvalidInput) or answer.kind is not InvalidKind.UNDECLARED_TYPE:
            return answer
        entry = next(item for item in inputs.log if isinstance(item, UndeclaredItem))
        return answer.model_copy(update={"subject": entry.id})


class OtherMemoryOrderFromADateOn(Faulty):
    """Turns the snapshot around from a date on, which a rollout set.

    No session crosses that date while anyone looks. Seen, as a date alone, in can1357/oh-my-pi#7324.
    """

    breaks = "CTX-01.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if inputs.live.clock < "2030":
            return answer
        places = {item.id: n for n, item in enumerate(reversed(plan.opening.memory))}
        return self.edited(
            context,
            inputs,
            answer,
            lambda blocks: sorted_within(blocks, MEMORY_SNAPSHOT, lambda b: places[b.item_id or ""]),
        )


class ToolsInTheOrderOfTheirConnections(Faulty):
    """Sends definitions in the order in which their sources answered last. Seen in coder/coder#24075."""

    breaks = "CTX-01.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        places = {tool.id: n for n, tool in enumerate(inputs.live.tools)}
        return self.edited(
            context,
            inputs,
            super().build(context, plan, inputs),
            lambda blocks: sorted_within(
                blocks, TOOL_DEFINITION, lambda b: places.get(b.item_id or "", len(places))
            ),
        )
