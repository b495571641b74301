"""Faults about tools: what is pinned, and what may be called (decision 4)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from contextproof.calibration.faulty import Altered, Faulty, each
from contextproof.conformance.contract.answers import (
    Allowed,
    AuthorizeAnswer,
    BuildAnswer,
    Denied,
    PlanAnswer,
    Planned,
)
from contextproof.conformance.contract.items import (
    WORKING_STATE_TOOL,
    ResultStatus,
    ToolCall,
    ToolDefinition,
)
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import CallContext, Change, Live, Opening
from contextproof.conformance.contract.vocabulary import TOOL_CALL, TOOL_DEFINITION, Place, Role, Trust
from contextproof.reference_impl.rendering import item_block


class LiveToolsInsteadOfPinnedOnes(Faulty):
    """Renders the tools as registered and permitted now. Seen in langchain-ai/deepagents#2497."""

    breaks = "CTX-04.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        now = {"tools": inputs.live.tools, "permissions": inputs.live.permissions}
        opened = self.open_session(context, plan.opening.model_copy(update=now))
        if isinstance(opened, Planned):
            plan = opened.plan.model_copy(update={"epoch": plan.epoch})
        return super().build(context, plan, inputs)


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


class ToolsOfSilentSourcesDropped(Faulty):
    """Leaves out tools whose source does not answer now. Seen in cnighswonger/claude-code-cache-fix#29."""

    breaks = "CTX-04.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        there = {tool.id for tool in inputs.live.tools}

        def answering(blocks: tuple[Block, ...]) -> Iterable[Block]:
            return (b for b in blocks if b.type != TOOL_DEFINITION or b.item_id in there)

        return self.edited(context, inputs, super().build(context, plan, inputs), answering)


class GrantedToolAddedToThePrefix(Faulty):
    """Adds a tool's definition once it is granted. Seen in pydantic/pydantic-ai#6793."""

    breaks = "CTX-04.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        pinned = {tool.name for tool in plan.opening.tools}
        granted = set(inputs.live.permissions) - pinned
        places, secret = list(Place), plan.opening.platform_secret
        added = [item_block(secret, t, Trust.OPERATOR) for t in inputs.live.tools if t.name in granted]

        def extended(blocks: tuple[Block, ...]) -> Iterable[Block]:
            end = sum(places.index(block.place) <= places.index(Place.TOOL_DEFINITION) for block in blocks)
            return (*blocks[:end], *added, *blocks[end:])

        return self.edited(context, inputs, super().build(context, plan, inputs), extended)


class ControlToolTakenForGranted(Altered):
    """Sends no definition of the working-state tool beside others, as if models knew it.

    The record's own argument: it comes with the opening, and is pinned like any other.
    """

    breaks = "CTX-04.1"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module._prefix_blocks

        def without(opening: Opening) -> tuple[Block, ...]:
            others = tuple(tool for tool in opening.tools if tool.name != WORKING_STATE_TOOL)
            blocks: tuple[Block, ...] = whole(
                opening.model_copy(update={"tools": others}) if others else opening
            )
            return blocks

        module._prefix_blocks = without


class RevokedToolStillAllowed(Faulty):
    """Allows every call to a tool that was shown. Seen in lvndry/jazz#546."""

    breaks = "CTX-04.2"

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        names = tuple(tool.name for tool in plan.opening.tools)
        return super().authorize(context, plan, live.model_copy(update={"permissions": names}), call)


class PermissionMatchedIgnoringCase(Faulty):
    """Takes the permission for one tool for that of another whose name differs in case.

    Seen, as a name that resolves to another tool, in zai-org/feedback#551.
    """

    breaks = "CTX-04.2"

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        permitted = {name.lower() for name in live.permissions}
        names = tuple(tool.name for tool in plan.opening.tools if tool.name.lower() in permitted)
        return super().authorize(context, plan, live.model_copy(update={"permissions": names}), call)


class PermissionsReadOncePerTurn(Faulty):
    """Asks for permissions at a turn's first call, and never again in it. Seen in avala-ai/agent-code#399."""

    breaks = "CTX-04.2"

    def __init__(self) -> None:
        self._read: dict[tuple[Plan, int], tuple[str, ...]] = {}

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        key = plan.model_copy(update={"blocks": ()}), context.turn
        permitted = self._read.setdefault(key, live.permissions)
        return super().authorize(context, plan, live.model_copy(update={"permissions": permitted}), call)


class DenialReportedAsCompleted(Faulty):
    """Closes a denied call as one that was carried out. Seen in openai/openai-agents-js#1104."""

    breaks = "CTX-04.2"

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        answer = super().authorize(context, plan, live, call)
        if not isinstance(answer, Denied) or all(t.name != call.name for t in plan.opening.tools):
            return answer
        result = answer.result.model_copy(update={"status": ResultStatus.OK})
        return answer.model_copy(update={"result": result})


class PermissionAskedOfTheSource(Faulty):
    """Allows a call where any tool of the same source is permitted.

    Seen, as one tool run in another's name, in zai-org/feedback#551.
    """

    breaks = "CTX-04.2"

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        sources = {tool.source for tool in plan.opening.tools if tool.name in live.permissions}
        names = tuple(tool.name for tool in plan.opening.tools if tool.source in sources)
        return super().authorize(context, plan, live.model_copy(update={"permissions": names}), call)


class UnpinnedToolAllowedOnceGranted(Faulty):
    """Allows a call to whatever is permitted, shown or not. Seen in lvndry/jazz#546."""

    breaks = "CTX-04.3"

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        is_granted = call.name in live.permissions
        return Allowed() if is_granted else super().authorize(context, plan, live, call)


class CallToASilentSourceDenied(Faulty):
    """Denies a permitted call where the tool's source does not answer now. Seen in unoplatform/uno#23077."""

    breaks = "CTX-04.3"

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        there = {tool.name for tool in live.tools}
        names = tuple(name for name in live.permissions if name in there)
        return super().authorize(context, plan, live.model_copy(update={"permissions": names}), call)


class CallWithBrokenArgumentsDenied(Faulty):
    """Denies a permitted call whose arguments are no JSON: the tool is never asked what is wrong.

    The record's own argument: the gate asks who may call what, and nothing else.
    """

    breaks = "CTX-04.3"

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        try:
            json.loads(call.arguments)
        except ValueError:
            live = live.model_copy(update={"permissions": ()})
        return super().authorize(context, plan, live, call)


class CallsOfRevokedToolsToldByTheUser(Faulty):
    """Sends older calls under the user's role, once their tool is no longer permitted.

    Seen, as history that a changed set of tools spoils, in github/copilot-cli#3125.
    """

    breaks = "CTX-04.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        permitted = set(inputs.live.permissions)
        revoked = {
            item.id for item in inputs.log if isinstance(item, ToolCall) and item.name not in permitted
        }

        def told(block: Block) -> Block:
            is_revoked = block.type == TOOL_CALL and block.item_id in revoked
            return block.model_copy(update={"role": Role.USER} if is_revoked else {})

        return self.edited(context, inputs, super().build(context, plan, inputs), each(told))


class BarredToolPinned(Altered):
    """Pins every tool that is registered, permitted or not. The record: the filter comes first."""

    breaks = "CTX-04.5"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        opened = module.open_session

        def with_all(context: CallContext, opening: Opening) -> PlanAnswer:
            names = tuple(tool.name for tool in opening.tools)
            answer: PlanAnswer = opened(context, opening.model_copy(update={"permissions": names}))
            return answer

        module.open_session = with_all


class BarredToolsKeptInThePlan(Faulty):
    """Shows permitted tools alone, but keeps all that are registered among the pinned ones of its plan.

    The record's own argument: what a plan calls pinned is what the gate and the operator go by.
    """

    breaks = "CTX-04.5"

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        answer = super().open_session(context, opening)
        return _with_tools(answer, opening.tools) if isinstance(answer, Planned) else answer

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, _as_shown(plan), change, live)
        is_same = isinstance(answer, Planned) and answer.plan.epoch == plan.epoch
        return Planned(plan=plan) if is_same else answer

    def authorize(self, context: CallContext, plan: Plan, live: Live, call: ToolCall) -> AuthorizeAnswer:
        return super().authorize(context, _as_shown(plan), live, call)


def _with_tools(answer: Planned, tools: tuple[ToolDefinition, ...]) -> Planned:
    opening = answer.plan.opening.model_copy(update={"tools": tools})
    return answer.model_copy(update={"plan": answer.plan.model_copy(update={"opening": opening})})


def _as_shown(plan: Plan) -> Plan:
    """The plan with those tools alone that stand in its prefix."""
    shown = {block.item_id: n for n, block in enumerate(plan.blocks) if block.type == TOOL_DEFINITION}
    tools = sorted((t for t in plan.opening.tools if t.id in shown), key=lambda t: shown[t.id])
    return plan.model_copy(update={"opening": plan.opening.model_copy(update={"tools": tuple(tools)})})
