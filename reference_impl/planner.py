"""Plans: the frozen prefix of an epoch, measured exactly, or a refusal (decisions 3 to 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from contextproof.conformance.contract.answers import Planned, Refused
from contextproof.conformance.contract.caps import (
    CAPS,
    MAX_MEMORY_ITEMS,
    MAX_TOOLS,
    MIN_BODY,
    TOOL_RESULTS_DIVISOR,
    ContextBudget,
)
from contextproof.conformance.contract.events import EpochRotated, PlanCreated
from contextproof.conformance.contract.items import PrefixItem, ToolDefinition, content
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import Block, prefix_sha256
from contextproof.conformance.contract.session import (
    CallContext,
    Change,
    ForcedRevocation,
    ModelSpec,
    Opening,
    RoutingChanged,
)
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.contract.trust import opening_trust
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.reference_impl.estimator import by_class, classed
from contextproof.reference_impl.framing import FRAMING
from contextproof.reference_impl.rendering import framing_block, item_block


def open_session(context: CallContext, opening: Opening) -> Planned | Refused:
    """The plan of epoch 1. Pinned are the tools permitted now, in an order of their own."""
    permitted = (tool for tool in opening.tools if tool.name in opening.permissions)
    pinned = opening.model_copy(update={"tools": tuple(sorted(permitted, key=_tool_order))})
    planned = _plan(context.session, 1, pinned)
    if isinstance(planned, Refused):
        return planned
    event = PlanCreated(
        session=context.session,
        epoch=1,
        turn=context.turn,
        request=context.request,
        prefix_sha256=planned.prefix_sha256,
        prefix_tokens=planned.prefix_tokens,
    )
    return Planned(plan=planned, events=(event,))


def apply(context: CallContext, plan: Plan, change: Change) -> Planned | Refused:
    """The plan after a change outside. Only routing and a pinned tool's forced revocation rotate.

    Whatever else is live (soft permissions, tools registered anew, memory, the clock) stays out of
    the next epoch's prefix too: it is planned from what was pinned.
    """
    rotated = _rotated_opening(plan.opening, change)
    if rotated is None:
        return Planned(plan=plan)
    planned = _plan(plan.session, plan.epoch + 1, rotated, earlier=_tokenizers(plan))
    if isinstance(planned, Refused):
        return planned
    event = EpochRotated(
        session=plan.session,
        epoch=planned.epoch,
        turn=context.turn,
        request=context.request,
        cause="routing" if isinstance(change, RoutingChanged) else "forced_revocation",
        from_epoch=plan.epoch,
        to_epoch=planned.epoch,
        from_sha256=plan.prefix_sha256,
        to_sha256=planned.prefix_sha256,
    )
    return Planned(plan=planned, events=(event,))


def _rotated_opening(opening: Opening, change: Change) -> Opening | None:
    """What the next epoch opens with, or None where the change rotates nothing."""
    match change:
        case RoutingChanged(model=model) if model != opening.model:
            return opening.model_copy(update={"model": model})
        case ForcedRevocation(tool=name) if any(tool.name == name for tool in opening.tools):
            left = tuple(tool for tool in opening.tools if tool.name != name)
            return opening.model_copy(update={"tools": left})
        case _:
            return None


def _tool_order(tool: ToolDefinition) -> tuple[str, str, str, str]:
    """By name, then by what is sent: order of registration and of schema keys leaves no trace.

    Two tools of one name are both kept; which of them a call means is its provider's affair.
    """
    return tool.name, content(tool), tool.source, tool.id


def _tokenizers(plan: Plan) -> tuple[TokenizerName, ...]:
    """Every tokenizer that the session has had, up to this plan's."""
    return (*plan.earlier_tokenizers, plan.opening.model.tokenizer)


def _plan(
    session: str, epoch: int, opening: Opening, earlier: tuple[TokenizerName, ...] = ()
) -> Plan | Refused:
    """The plan of an epoch that opens so, or the first class that does not fit."""
    model = opening.model
    if model.limit < MIN_BODY:
        return Refused(token_class=TokenClass.OUTPUT_RESERVE, measured=model.limit, cap=MIN_BODY)
    refused = next(_over_caps(opening), None)
    if refused is not None:
        return refused
    blocks = _prefix_blocks(opening)
    tokens = by_class(model, blocks)
    prefix_tokens = sum(tokens.values())
    ceiling = model.limit - MIN_BODY
    if prefix_tokens > ceiling:
        largest = max(tokens, key=lambda name: tokens[name])
        return Refused(token_class=largest, measured=prefix_tokens, cap=ceiling)
    return Plan(
        session=session,
        epoch=epoch,
        opening=opening,
        blocks=blocks,
        tokens=classed(tokens),
        prefix_tokens=prefix_tokens,
        prefix_sha256=prefix_sha256(blocks),
        budget=_budget(model, prefix_tokens),
        earlier_tokenizers=tuple(name for name in dict.fromkeys(earlier) if name != model.tokenizer),
    )


def _over_caps(opening: Opening) -> Iterator[Refused]:
    """Every class that is over its cap: tokens first, then numbers of items."""
    tokenizer = opening.model.tokenizer
    contents: dict[TokenClass, Sequence[str]] = {
        TokenClass.PLATFORM_POLICY: _contents(opening.policy),
        TokenClass.FRAMING: (FRAMING,),
        TokenClass.AGENT_INSTRUCTIONS: _contents(opening.instructions),
        TokenClass.TOOL_DEFINITIONS: _contents(opening.tools),
        TokenClass.MEMORY_SNAPSHOT: _contents(opening.memory),
    }
    for name, texts in contents.items():
        measured = sum(count(tokenizer, text) for text in texts)
        yield from _refused(name, measured, CAPS[name], "tokens")
    yield from _refused(TokenClass.TOOL_DEFINITIONS, len(opening.tools), MAX_TOOLS, "items")
    yield from _refused(TokenClass.MEMORY_SNAPSHOT, len(opening.memory), MAX_MEMORY_ITEMS, "items")


def _contents(items: Sequence[PrefixItem]) -> tuple[str, ...]:
    return tuple(content(item) for item in items)


def _refused(
    name: TokenClass, measured: int, cap: int, unit: Literal["tokens", "items"]
) -> Iterator[Refused]:
    if measured > cap:
        yield Refused(token_class=name, measured=measured, cap=cap, unit=unit)


def _prefix_blocks(opening: Opening) -> tuple[Block, ...]:
    """Region A in assembly order; nothing of it ever yields."""
    trust, secret = opening_trust(opening), opening.platform_secret

    def rendered(items: Sequence[PrefixItem]) -> tuple[Block, ...]:
        return tuple(item_block(secret, item, trust[item.id]) for item in items)

    return (
        *rendered(opening.policy),
        framing_block(),
        *rendered(opening.instructions),
        *rendered(opening.tools),
        *rendered(opening.memory),
    )


def _budget(model: ModelSpec, prefix_tokens: int) -> ContextBudget:
    """The ten integers. Only history scales with the window: it has what the others leave."""
    body = model.limit - prefix_tokens
    tool_results = body // TOOL_RESULTS_DIVISOR
    state, recall = CAPS[TokenClass.WORKING_STATE], CAPS[TokenClass.RECALL]
    return ContextBudget(
        output_reserve_tokens=model.output_reserve,
        platform_policy_tokens=CAPS[TokenClass.PLATFORM_POLICY],
        agent_instructions_tokens=CAPS[TokenClass.AGENT_INSTRUCTIONS],
        tool_definitions_tokens=CAPS[TokenClass.TOOL_DEFINITIONS],
        memory_snapshot_tokens=CAPS[TokenClass.MEMORY_SNAPSHOT],
        working_state_tokens=state,
        retrieved_context_tokens=recall,
        tool_results_tokens=tool_results,
        history_tokens=max(0, body - tool_results - state - recall),
        body_tokens=body,
    )
