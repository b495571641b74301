"""Openings and plans for hand-written traces, every figure measured."""

from __future__ import annotations

import math
from collections.abc import Iterable

from contextproof.conformance.contract import items as i
from contextproof.conformance.contract.caps import (
    CAPS,
    TOOL_RESULTS_DIVISOR,
    ContextBudget,
)
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import (
    Block,
    ClassTokens,
    Estimate,
    prefix_sha256,
    token_class,
)
from contextproof.conformance.contract.session import CallContext, Live, ModelSpec, Opening
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Region, TokenClass
from requirements import toy_blocks as b
from requirements.toy_items import STATE_TOOL, TOOL


def model(
    name: str = "model-a", *, window: int = 20_000, output_reserve: int = 4_000, **more: object
) -> ModelSpec:
    """A model; ``more`` are other fields of ModelSpec."""
    fields = {"tokenizer": "o200k_base", "overhead_per_block": 4, **more}
    return ModelSpec.model_validate(
        {"name": name, "window": window, "output_reserve": output_reserve, **fields}
    )


def opening(
    *,
    of: ModelSpec | None = None,
    policy: str = b.POLICY_TEXT,
    instructions: str = "You help with travel.",
    tools: tuple[i.ToolDefinition, ...] = (TOOL, STATE_TOOL),
    permissions: tuple[str, ...] | None = None,
    memory: tuple[i.MemoryItem, ...] = (),
    secret: str = b.SECRET,
) -> Opening:
    """An opening; all its tools are permitted unless said otherwise."""
    return Opening(
        platform_secret=secret,
        model=of or model(),
        policy=(i.PlatformPolicy(id="policy", text=policy),),
        instructions=(i.AgentInstructions(id="instructions", text=instructions),),
        tools=tools,
        permissions=tuple(tool.name for tool in tools) if permissions is None else permissions,
        memory=memory,
    )


def context(*, turn: int = 1, request: int = 1, epoch: int = 1, of: ModelSpec | None = None) -> CallContext:
    """Where in session "s" a call is made."""
    return CallContext(session="s", epoch=epoch, turn=turn, request=request, model=of or model())


def live(**changes: object) -> Live:
    """Live values as of the opening: both tools registered and permitted."""
    defaults = Live(
        clock="2026-03-27T09:00:00+01:00",
        permissions=(TOOL.name, STATE_TOOL.name),
        tools=(TOOL, STATE_TOOL),
        ids=("fresh-1", "fresh-2"),
    )
    return defaults.model_copy(update=changes)


def plan(
    of: Opening | None = None,
    *,
    epoch: int = 1,
    blocks: Iterable[Block] | None = None,
    **changes: object,
) -> Plan:
    """The plan of an opening: only permitted tools pinned, every figure measured."""
    whole = of or opening()
    pinned = tuple(tool for tool in whole.tools if tool.name in whole.permissions)
    pinned_opening = whole.model_copy(update={"tools": pinned})
    rendered = tuple(blocks) if blocks is not None else prefix(pinned_opening)
    measured = by_class(whole.model, rendered, margin=1.0)
    prefix_tokens = sum(entry.tokens for entry in measured)
    measured_plan = Plan(
        session="s",
        epoch=epoch,
        opening=pinned_opening,
        blocks=rendered,
        tokens=measured,
        prefix_tokens=prefix_tokens,
        prefix_sha256=prefix_sha256(rendered),
        budget=_budget(whole.model, prefix_tokens),
    )
    return measured_plan.model_copy(update=changes)


def prefix(of: Opening) -> tuple[Block, ...]:
    """Region A of an opening, all its tools included."""
    secret = of.platform_secret
    return (
        *(b.block(item) for item in of.policy),
        b.framing(),
        *(b.block(item, secret=secret) for item in of.instructions),
        *(b.block(item, secret=secret) for item in of.tools),
        *(b.block(item, secret=secret) for item in of.memory),
    )


def _budget(of: ModelSpec, prefix_tokens: int) -> ContextBudget:
    body = max(0, of.limit - prefix_tokens)
    return ContextBudget(
        output_reserve_tokens=of.output_reserve,
        platform_policy_tokens=CAPS[TokenClass.PLATFORM_POLICY],
        agent_instructions_tokens=CAPS[TokenClass.AGENT_INSTRUCTIONS],
        tool_definitions_tokens=CAPS[TokenClass.TOOL_DEFINITIONS],
        memory_snapshot_tokens=CAPS[TokenClass.MEMORY_SNAPSHOT],
        working_state_tokens=CAPS[TokenClass.WORKING_STATE],
        retrieved_context_tokens=CAPS[TokenClass.RECALL],
        tool_results_tokens=body // TOOL_RESULTS_DIVISOR,
        history_tokens=body,
        body_tokens=body,
    )


def estimate(of: ModelSpec, blocks: Iterable[Block]) -> Estimate:
    """Region A exact, region B with five per cent on top, by class."""
    rendered = tuple(blocks)
    exact = by_class(of, [block for block in rendered if block.region is Region.A], margin=1.0)
    rough = by_class(of, [block for block in rendered if block.region is Region.B], margin=1.05)
    return Estimate(by_class=exact + rough, prefix_tokens=sum(entry.tokens for entry in exact))


def by_class(of: ModelSpec, blocks: Iterable[Block], *, margin: float) -> tuple[ClassTokens, ...]:
    """What blocks count by class, times a margin, rounded up. Tokens."""
    totals: dict[TokenClass, int] = {}
    for block in blocks:
        cost = count(of.tokenizer, block.text) + of.overhead_per_block
        totals[token_class(block)] = totals.get(token_class(block), 0) + cost
    return tuple(
        ClassTokens(token_class=name, tokens=math.ceil(total * margin)) for name, total in totals.items()
    )
