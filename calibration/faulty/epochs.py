"""Faults about epochs: what rotates the prefix, how it is told, and what a rotation carries (decision 5)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)

from __future__ import annotations

from typing import Any

from contextproof.calibration.faulty import Altered, Faulty
from contextproof.conformance.contract.answers import PlanAnswer, Planned, Refused
from contextproof.conformance.contract.events import EpochRotated
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import prefix_sha256
from contextproof.conformance.contract.session import (
    CallContext,
    Change,
    ForcedRevocation,
    Live,
    MemoryChanged,
    Opening,
    PermissionsChanged,
    RoutingChanged,
)
from contextproof.conformance.contract.vocabulary import TokenClass


def _rotated(answer: PlanAnswer, plan: Plan) -> bool:
    return isinstance(answer, Planned) and answer.plan.epoch != plan.epoch


def _with_plan(answer: PlanAnswer, **changes: object) -> PlanAnswer:
    """The answer with its plan changed, where there is one."""
    if not isinstance(answer, Planned):
        return answer
    return answer.model_copy(update={"plan": answer.plan.model_copy(update=changes)})


def _opened_with(plan: Plan, **changes: object) -> Plan:
    """The plan as if it had been opened with something else; its blocks stay."""
    return plan.model_copy(update={"opening": plan.opening.model_copy(update=changes)})


class ReasoningModeTakenForASetting(Faulty):
    """Stays with its plan when the reasoning mode changes, on which caches key. The record's argument."""

    breaks = "CTX-05.1"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        if isinstance(change, RoutingChanged):
            old = plan.opening.model
            as_before = {"reasoning_mode": old.reasoning_mode}
            if change.model.model_copy(update=as_before) == old:
                return Planned(plan=plan)
        return super().apply(context, plan, change, live)


class ForcedRevocationTakenForASoftOne(Faulty):
    """Leaves a tool revoked by force in the prefix, since calls to it are denied already.

    Seen, as a list of tools gone stale, in anthropics/claude-code#66869.
    """

    breaks = "CTX-05.1"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        if isinstance(change, ForcedRevocation) and change.tool not in live.permissions:
            return Planned(plan=plan)
        return super().apply(context, plan, change, live)


class SmallerWindowRefused(Faulty):
    """Refuses each model with less room than the one before, though the prefix fits.

    Seen, as a window judged by another's size, in 2389-research/tracker#572.
    """

    breaks = "CTX-05.1"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        room = plan.opening.model.limit
        if isinstance(change, RoutingChanged) and change.model.limit < room:
            return Refused(token_class=TokenClass.OUTPUT_RESERVE, measured=change.model.limit, cap=room)
        return super().apply(context, plan, change, live)


class MemoryWriteRotates(Faulty):
    """Begins an epoch with every memory that is written. Seen in anthropics/claude-code#46644."""

    breaks = "CTX-05.2"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, plan, change, live)
        return _with_plan(answer, epoch=plan.epoch + 1) if isinstance(change, MemoryChanged) else answer


class PermissionsNotedInThePlan(Faulty):
    """Notes soft grants in the plan in force, which shows in no request.

    The record's own argument: what is absorbed leaves the very same plan.
    """

    breaks = "CTX-05.2"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, plan, change, live)
        if not isinstance(change, PermissionsChanged):
            return answer
        noted = _opened_with(plan, permissions=change.permissions)
        return _with_plan(answer, opening=noted.opening)


class RotationUntold(Faulty):
    """Rotates without an event. The record's own argument: nobody can tell what a session costs, or why."""

    breaks = "CTX-05.3"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        return super().apply(context, plan, change, live).model_copy(update={"events": ()})


class RevocationToldAsRouting(Faulty):
    """Gives routing as the cause of every rotation. The record's own argument: it asks for the cause."""

    breaks = "CTX-05.3"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, plan, change, live)
        events = (event.model_copy(update={"cause": "routing"}) for event in answer.events)
        return answer.model_copy(update={"events": tuple(events)})


class RotationToldToEndWhereItBegan(Faulty):
    """Tells the old hash twice where a tool left the prefix. The record's own argument: both hashes."""

    breaks = "CTX-05.3"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, plan, change, live)
        told = {"to_sha256": plan.prefix_sha256}
        return answer.model_copy(
            update={"events": tuple(event.model_copy(update=told) for event in answer.events)}
        )


class RefusedRotationTold(Faulty):
    """Tells of a rotation that it refuses. The record's own argument: then the old plan stands."""

    breaks = "CTX-05.3"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, plan, change, live)
        if not isinstance(answer, Refused):
            return answer
        event = EpochRotated(
            session=plan.session,
            epoch=plan.epoch + 1,
            turn=context.turn,
            request=context.request,
            cause="routing" if isinstance(change, RoutingChanged) else "forced_revocation",
            from_epoch=plan.epoch,
            to_epoch=plan.epoch + 1,
            from_sha256=plan.prefix_sha256,
            to_sha256=plan.prefix_sha256,
        )
        return answer.model_copy(update={"events": (event,)})


class RevokingAnUnpinnedToolRotates(Altered):
    """Begins an epoch with every forced revocation, were the tool in the prefix or not.

    The record's own argument: what is not in the prefix cannot change it.
    """

    breaks = "CTX-05.4"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        careful = module._rotated_opening

        def careless(opening: Opening, change: Change) -> Opening | None:
            rotated: Opening | None = careful(opening, change)
            return opening if rotated is None and isinstance(change, ForcedRevocation) else rotated

        module._rotated_opening = careless


class RevokedToolStaysInItsEpoch(Altered):
    """Begins an epoch, and tells of it, with the tool that was revoked still there.

    Seen, as a list of tools gone stale, in github/copilot-cli#3125.
    """

    breaks = "CTX-05.4"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        careful = module._rotated_opening

        def unchanged(opening: Opening, change: Change) -> Opening | None:
            rotated: Opening | None = careful(opening, change)
            return opening if rotated is not None and isinstance(change, ForcedRevocation) else rotated

        module._rotated_opening = unchanged


class RoutedPlanKeepsItsMeasure(Faulty):
    """Takes the prefix's size along to a model that counts otherwise. Seen in 1jehuang/jcode#644."""

    breaks = "CTX-05.5"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, plan, change, live)
        if not isinstance(change, RoutingChanged) or not _rotated(answer, plan):
            return answer
        return _with_plan(answer, prefix_tokens=plan.prefix_tokens, tokens=plan.tokens)


class RoutedPlanNamesTheOldEndpoint(Faulty):
    """Leaves the old provider and endpoint in a plan that was made for others.

    The record's own argument: the plan says what its cache is keyed on.
    """

    breaks = "CTX-05.5"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, plan, change, live)
        if not isinstance(answer, Planned):
            return answer
        old = plan.opening.model
        stale = {"provider": old.provider, "endpoint": old.endpoint}
        model = answer.plan.opening.model.model_copy(update=stale)
        return _with_plan(answer, opening=_opened_with(answer.plan, model=model).opening)


class MemoryTurnedAroundAtARotation(Faulty):
    """Plans each later epoch with the memory the other way round. The record: nothing else changes."""

    breaks = "CTX-05.6"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        turned = _opened_with(plan, memory=tuple(reversed(plan.opening.memory)))
        answer = super().apply(context, turned, change, live)
        return answer if _rotated(answer, plan) or isinstance(answer, Refused) else Planned(plan=plan)


class MemoryRefreshedAtARotation(Faulty):
    """Uses a rotation to bring the snapshot up to date. Seen in letta-ai/letta-code#4562."""

    breaks = "CTX-05.6"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        fresh = _opened_with(plan, memory=live.memory)
        answer = super().apply(context, fresh, change, live)
        return answer if _rotated(answer, plan) or isinstance(answer, Refused) else Planned(plan=plan)


class SoftRevocationsTakeEffectAtARotation(Faulty):
    """Uses a rotation to drop tools that are no longer permitted. The record: permissions stay out."""

    breaks = "CTX-05.6"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        revoked = change.tool if isinstance(change, ForcedRevocation) else None
        kept = {*live.permissions, revoked}
        tools = tuple(tool for tool in plan.opening.tools if tool.name in kept)
        answer = super().apply(context, _opened_with(plan, tools=tools), change, live)
        return answer if _rotated(answer, plan) or isinstance(answer, Refused) else Planned(plan=plan)


class RevokedToolComesBackWithRouting(Faulty):
    """Plans for another model from what the session was opened with: what was revoked since is back.

    It shows where the model changes after a forced revocation. Seen in anthropics/claude-code#66869.
    """

    breaks = "CTX-05.4"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        names = {tool.name for tool in plan.opening.tools}
        back = [t for t in live.tools if t.name in plan.opening.permissions and t.name not in names]
        if not isinstance(change, RoutingChanged) or not back:
            return super().apply(context, plan, change, live)
        tools = sorted((*plan.opening.tools, *back), key=lambda tool: tool.name)
        answer = super().apply(context, _opened_with(plan, tools=tuple(tools)), change, live)
        return answer if _rotated(answer, plan) or isinstance(answer, Refused) else Planned(plan=plan)


class LastDefinitionKeptInItsPlace(Faulty):
    """Moves the last definition into the place of one revoked by force, as a table of slots would.

    It shows with three tools or more. The record's own argument: what stays, stays as it was.
    """

    breaks = "CTX-05.6"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, plan, change, live)
        if not isinstance(answer, Planned) or not isinstance(change, ForcedRevocation):
            return answer
        gone = [n for n, tool in enumerate(plan.opening.tools) if tool.name == change.tool]
        tools = list(answer.plan.opening.tools)
        if not gone or not tools:
            return answer
        tools.insert(gone[0], tools.pop())
        places = {tool.id: n for n, tool in enumerate(tools)}
        blocks = answer.plan.blocks
        start = next(n for n, block in enumerate(blocks) if block.item_id in places)
        moved = sorted(blocks[start : start + len(tools)], key=lambda b: places[b.item_id or ""])
        blocks = (*blocks[:start], *moved, *blocks[start + len(tools) :])
        opening = _opened_with(answer.plan, tools=tuple(tools)).opening
        told = {"to_sha256": prefix_sha256(blocks)}
        events = tuple(event.model_copy(update=told) for event in answer.events)
        answer = answer.model_copy(update={"events": events})
        return _with_plan(answer, blocks=blocks, opening=opening, prefix_sha256=prefix_sha256(blocks))
