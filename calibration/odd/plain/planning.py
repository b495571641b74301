"""Plans: what a session opens with, when it rotates, and which calls it allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from contextproof.calibration.odd.plain.blocks import ENGINE, framing_block, in_order, item_block
from contextproof.calibration.odd.plain.measuring import by_class, content_tokens, itemized, where
from contextproof.conformance.contract import caps
from contextproof.conformance.contract.answers import Allowed, Denied, Planned, Refused
from contextproof.conformance.contract.caps import CAPS, MIN_BODY, ContextBudget
from contextproof.conformance.contract.events import EpochRotated, PlanCreated
from contextproof.conformance.contract.items import PrefixItem, ResultStatus, ToolCall, ToolResult, content
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import Block, prefix_sha256
from contextproof.conformance.contract.session import (
    CallContext,
    Change,
    ForcedRevocation,
    Live,
    Opening,
    RoutingChanged,
)
from contextproof.conformance.contract.tokenizers import TokenizerName
from contextproof.conformance.contract.trust import opening_trust
from contextproof.conformance.contract.vocabulary import TokenClass

_DENIED: Final = "this tool may not be called now"

_Earlier = tuple[TokenizerName, ...]


def open_session(context: CallContext, opening: Opening) -> Planned | Refused:
    """The first plan: only tools permitted now are pinned."""
    tools = tuple(tool for tool in opening.tools if tool.name in opening.permissions)
    plan = _planned(context.session, 1, opening.model_copy(update={"tools": tools}), ())
    if isinstance(plan, Refused):
        return plan
    digest, tokens = plan.prefix_sha256, plan.prefix_tokens
    event = PlanCreated(**where(context, plan.epoch), prefix_sha256=digest, prefix_tokens=tokens)
    return Planned(plan=plan, events=(event,))


def apply(context: CallContext, plan: Plan, change: Change, live: Live) -> Planned | Refused:  # noqa: ARG001
    """The next epoch for another model and for a tool withdrawn by force; else the plan as it is."""
    opening = plan.opening
    match change:
        case RoutingChanged() if change.model != opening.model:
            earlier = {*plan.earlier_tokenizers, opening.model.tokenizer} - {change.model.tokenizer}
            new = opening.model_copy(update={"model": change.model})
            return _rotated(context, plan, "routing", new, tuple(sorted(earlier)))
        case ForcedRevocation() if any(tool.name == change.tool for tool in opening.tools):
            left = tuple(tool for tool in opening.tools if tool.name != change.tool)
            new = opening.model_copy(update={"tools": left})
            return _rotated(context, plan, "forced_revocation", new, plan.earlier_tokenizers)
        case _:
            return Planned(plan=plan)


def authorize(context: CallContext, plan: Plan, live: Live, call: ToolCall) -> Allowed | Denied:  # noqa: ARG001
    """A call is allowed if its tool is pinned, and permitted now."""
    is_pinned = any(tool.name == call.name for tool in plan.opening.tools)
    if is_pinned and call.name in live.permissions:
        return Allowed()
    name, status = live.ids[0], ResultStatus.DENIED
    result = ToolResult(id=name, call_id=call.call_id, status=status, text=_DENIED, source=ENGINE)
    return Denied(reason=_DENIED, result=result)


def _rotated(
    context: CallContext,
    old: Plan,
    cause: Literal["routing", "forced_revocation"],
    opening: Opening,
    earlier: _Earlier,
) -> Planned | Refused:
    new = _planned(old.session, old.epoch + 1, opening, earlier)
    if isinstance(new, Refused):
        return new
    event = EpochRotated(
        **where(context, new.epoch),
        cause=cause,
        from_epoch=old.epoch,
        to_epoch=new.epoch,
        from_sha256=old.prefix_sha256,
        to_sha256=new.prefix_sha256,
    )
    return Planned(plan=new, events=(event,))


def _planned(session: str, epoch: int, opening: Opening, earlier: _Earlier) -> Plan | Refused:
    """The plan of an epoch, or the class for which there can be none."""
    refused = _refused(opening)
    if refused:
        return refused
    model, blocks = opening.model, _prefix(opening)
    tokens = by_class(model, blocks)
    total, ceiling = tokens.total(), model.limit - MIN_BODY
    if total > ceiling:
        return Refused(token_class=max(tokens, key=lambda name: tokens[name]), measured=total, cap=ceiling)
    return Plan(
        session=session,
        epoch=epoch,
        opening=opening,
        blocks=blocks,
        tokens=itemized(tokens),
        prefix_tokens=total,
        prefix_sha256=prefix_sha256(blocks),
        budget=_budget(model.output_reserve, model.limit - total),
        earlier_tokenizers=earlier,
    )


def _prefix(opening: Opening) -> tuple[Block, ...]:
    """The prefix as sent. Tools are sorted: the order in which they were registered does not show."""
    trust, secret = opening_trust(opening), opening.platform_secret
    tools = sorted(opening.tools, key=lambda tool: (tool.name, content(tool), tool.source))
    items: list[PrefixItem] = [*opening.policy, *opening.instructions, *opening.memory, *tools]
    return tuple(in_order([framing_block(), *(item_block(secret, item, trust[item.id]) for item in items)]))


def _refused(opening: Opening) -> Refused | None:
    """What is wrong with an opening beside its size as a whole: reserve, numbers of items, caps."""
    left = opening.model.limit
    if left < MIN_BODY:
        return Refused(token_class=TokenClass.OUTPUT_RESERVE, measured=left, cap=MIN_BODY)
    many = {TokenClass.TOOL_DEFINITIONS: caps.MAX_TOOLS, TokenClass.MEMORY_SNAPSHOT: caps.MAX_MEMORY_ITEMS}
    classes: dict[TokenClass, Sequence[PrefixItem]] = {
        TokenClass.PLATFORM_POLICY: opening.policy,
        TokenClass.AGENT_INSTRUCTIONS: opening.instructions,
        TokenClass.TOOL_DEFINITIONS: opening.tools,
        TokenClass.MEMORY_SNAPSHOT: opening.memory,
    }
    for name, items in classes.items():
        if name in many and len(items) > many[name]:
            return Refused(token_class=name, measured=len(items), cap=many[name], unit="items")
        tokens = content_tokens(opening.model, items)
        if tokens > CAPS[name]:
            return Refused(token_class=name, measured=tokens, cap=CAPS[name])
    return None


def _budget(reserve: int, body: int) -> ContextBudget:
    beside_history = ("WORKING_STATE", "RECALL", "ENVIRONMENT", "MEMORY_CORRECTIONS")
    return ContextBudget(
        output_reserve_tokens=reserve,
        platform_policy_tokens=CAPS[TokenClass.PLATFORM_POLICY],
        agent_instructions_tokens=CAPS[TokenClass.AGENT_INSTRUCTIONS],
        tool_definitions_tokens=CAPS[TokenClass.TOOL_DEFINITIONS],
        memory_snapshot_tokens=CAPS[TokenClass.MEMORY_SNAPSHOT],
        working_state_tokens=CAPS[TokenClass.WORKING_STATE],
        retrieved_context_tokens=CAPS[TokenClass.RECALL],
        tool_results_tokens=body // caps.TOOL_RESULTS_DIVISOR,
        history_tokens=max(0, body - sum(CAPS[TokenClass[name]] for name in beside_history)),
        body_tokens=body,
    )
