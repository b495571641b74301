"""Plans: what opens, what is refused, and what rotates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract.answers import Planned, Refused
from contextproof.conformance.contract.events import EpochRotated, PlanCreated
from contextproof.conformance.contract.items import (
    AgentInstructions,
    MemoryItem,
    PlatformPolicy,
    ToolDefinition,
    content,
)
from contextproof.conformance.contract.request import prefix_sha256
from contextproof.conformance.contract.session import (
    Change,
    ClockAdvanced,
    ForcedRevocation,
    MemoryChanged,
    Opening,
    PermissionsChanged,
    RoutingChanged,
    ToolsRegistered,
)
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Place, Region, Role, TokenClass
from reference.making import (
    ENGINE,
    LIVE,
    MODEL,
    context,
    expect,
    opening,
    planned,
    tool,
    words,
)


def refused(opened: Opening) -> Refused:
    return expect(Refused, ENGINE.open_session(context(opened.model), opened))


def told(answer: Refused) -> tuple[TokenClass, int, int, str]:
    return answer.token_class, answer.measured, answer.cap, answer.unit


def policy(tokens: int) -> dict[str, Any]:
    return {"policy": (PlatformPolicy(id="policy", text=words(tokens)),)}


def instructions(tokens: int) -> dict[str, Any]:
    return {"instructions": (AgentInstructions(id="instructions", text=words(tokens)),)}


def memory(tokens: int) -> dict[str, Any]:
    halves = (tokens // 2, tokens - tokens // 2)
    return {"memory": tuple(MemoryItem(id=f"m{n}", text=words(h)) for n, h in enumerate(halves))}


def tools_of(tokens: int) -> dict[str, Any]:
    bare = count(MODEL.tokenizer, content(tool("search", description="a")))
    return {"tools": (tool("search", description=words(tokens - bare + 1)),)}


CAPPED = [
    (policy, TokenClass.PLATFORM_POLICY, 2_000),
    (instructions, TokenClass.AGENT_INSTRUCTIONS, 4_000),
    (tools_of, TokenClass.TOOL_DEFINITIONS, 6_000),
    (memory, TokenClass.MEMORY_SNAPSHOT, 1_500),
]


@pytest.mark.parametrize(("fields", "name", "cap"), CAPPED)
def test_a_class_at_its_cap_opens_whole_and_one_token_more_is_refused(
    fields: Any, name: TokenClass, cap: int
) -> None:
    plan = planned(opening(**fields(cap)))
    assert sum(len(block.text) for block in plan.blocks) > cap
    assert told(refused(opening(**fields(cap + 1)))) == (name, cap + 1, cap, "tokens")


def test_thirty_tools_and_forty_memories_open_and_one_more_is_refused() -> None:
    tools = tuple(tool(f"t{n}", description="") for n in range(31))
    memories = tuple(MemoryItem(id=f"m{n}", text="x") for n in range(41))
    planned(opening(tools=tools[:30], memory=memories[:40]))
    assert told(refused(opening(tools=tools)))[1:] == (31, 30, "items")
    assert told(refused(opening(memory=memories)))[1:] == (41, 40, "items")


def test_the_output_reserve_is_judged_before_anything_else() -> None:
    model = MODEL.model_copy(update={"window": 4_999})
    answer = refused(opening(model=model, **policy(3_000)))
    assert told(answer) == (TokenClass.OUTPUT_RESERVE, 999, 1_000, "tokens")


def test_the_ceiling_is_exact_and_names_the_largest_class() -> None:
    fields = instructions(3_000) | policy(1_000)
    prefix = planned(opening(**fields)).prefix_tokens
    at_ceiling = MODEL.model_copy(update={"window": 4_000 + prefix + 1_000})
    plan = planned(opening(model=at_ceiling, **fields))
    assert plan.budget.body_tokens == 1_000
    below = MODEL.model_copy(update={"window": 4_000 + prefix + 999})
    answer = refused(opening(model=below, **fields))
    assert told(answer) == (TokenClass.AGENT_INSTRUCTIONS, prefix, prefix - 1, "tokens")


def test_the_prefix_is_measured_exactly_and_hashed_as_sent() -> None:
    plan = planned(opening(**memory(20)))
    counted = sum(count(MODEL.tokenizer, b.text) + MODEL.overhead_per_block for b in plan.blocks)
    assert plan.prefix_tokens == counted == sum(entry.tokens for entry in plan.tokens)
    assert plan.prefix_sha256 == prefix_sha256(plan.blocks)


def test_the_prefix_holds_its_five_types_in_order_and_no_memory_speaks_as_system() -> None:
    plan = planned(opening(**instructions(5), **memory(5)))
    places = list(dict.fromkeys(block.place for block in plan.blocks))
    assert places == list(Place)[:5]
    assert {block.region for block in plan.blocks} == {Region.A}
    roles = {block.type: block.role for block in plan.blocks}
    assert roles["memory_snapshot"] is Role.USER
    assert [b.type for b in plan.blocks if b.envelope is None] == ["platform_policy", "framing"]


def test_only_tools_permitted_at_the_opening_are_pinned() -> None:
    opened = opening(tools=(tool("search"), tool("delete")), permissions=("search",))
    plan = planned(opened)
    assert [t.name for t in plan.opening.tools] == ["search"]
    assert [b.item_id for b in plan.blocks if b.type == "tool_definition"] == ["tool:search"]


@given(st.data())
def test_order_of_registration_and_of_schema_keys_leaves_no_trace(data: st.DataObject) -> None:
    schema = {"type": "object", "properties": {"b": {"x": 1, "a": [2, 1]}, "a": {}}}
    names = ["zeta", "alpha", "mu", "alpha"]

    def registered(order: Sequence[int], keys: Sequence[str]) -> tuple[ToolDefinition, ...]:
        text = json.dumps({key: schema[key] for key in keys})
        return tuple(
            tool(names[n], item_id=f"t{n}", description=f"tool {n}", parameters_json=text) for n in order
        )

    order = data.draw(st.permutations(range(len(names))))
    keys = data.draw(st.permutations(list(schema)))
    plain = planned(opening(tools=registered(range(len(names)), list(schema))))
    other = planned(opening(tools=registered(order, keys)))
    assert [b.text for b in other.blocks] == [b.text for b in plain.blocks]


def test_two_sessions_that_open_alike_have_the_same_prefix_bytes() -> None:
    opened = opening()
    there = context().model_copy(update={"session": "another"})
    other = expect(Planned, ENGINE.open_session(there, opened)).plan
    assert other.prefix_sha256 == planned(opened).prefix_sha256


def test_opening_a_session_says_so_once() -> None:
    answer = expect(Planned, ENGINE.open_session(context(), opening()))
    assert [type(event) for event in answer.events] == [PlanCreated]


ABSORBED: list[Change] = [
    PermissionsChanged(permissions=()),
    ToolsRegistered(tools=(tool("search", description="Reworded."),)),
    MemoryChanged(memory=(MemoryItem(id="m", text="new"),)),
    ClockAdvanced(clock="2026-03-28T00:00:01+01:00"),
    ForcedRevocation(tool="not pinned"),
    RoutingChanged(model=MODEL),
]


@pytest.mark.parametrize("change", ABSORBED, ids=lambda change: change.kind)
def test_what_can_be_absorbed_answers_the_same_plan_and_no_event(change: Change) -> None:
    plan = planned()
    answer = expect(Planned, ENGINE.apply(context(), plan, change, LIVE))
    assert answer.plan == plan
    assert answer.events == ()


@pytest.mark.parametrize("part", ["name", "provider", "endpoint", "reasoning_mode"])
def test_each_part_of_the_cache_key_rotates(part: str) -> None:
    plan = planned()
    change = RoutingChanged(model=MODEL.model_copy(update={part: "another"}))
    answer = expect(Planned, ENGINE.apply(context(), plan, change, LIVE))
    assert answer.plan.epoch == 2
    assert answer.plan.blocks == plan.blocks


def test_a_rotation_is_measured_by_the_new_tokenizer_and_told_once() -> None:
    plan = planned(opening(memory=(MemoryItem(id="m", text="数据" * 20),)))
    model = MODEL.model_copy(update={"name": "model-b", "tokenizer": "cl100k_base"})
    answer = expect(Planned, ENGINE.apply(context(), plan, RoutingChanged(model=model), LIVE))
    counted = sum(count("cl100k_base", block.text) + 4 for block in answer.plan.blocks)
    assert answer.plan.prefix_tokens == counted != plan.prefix_tokens
    assert answer.plan.earlier_tokenizers == ("o200k_base",)
    (event,) = answer.events
    assert isinstance(event, EpochRotated)
    assert (event.cause, event.from_epoch, event.to_epoch, event.epoch) == ("routing", 1, 2, 2)
    assert (event.from_sha256, event.to_sha256) == (plan.prefix_sha256, answer.plan.prefix_sha256)


def test_a_forced_revocation_takes_the_tool_out_and_leaves_the_rest() -> None:
    plan = planned()
    change = ForcedRevocation(tool="search")
    answer = expect(Planned, ENGINE.apply(context(), plan, change, LIVE))
    kept = tuple(block for block in plan.blocks if block.item_id != "tool:search")
    assert answer.plan.blocks == kept
    assert [event.type for event in answer.events] == ["context.epoch.rotated"]


def test_a_rotation_that_does_not_fit_is_refused_and_tells_nothing() -> None:
    plan = planned()
    small = MODEL.model_copy(update={"name": "small", "window": 5_050})
    answer = expect(Refused, ENGINE.apply(context(), plan, RoutingChanged(model=small), LIVE))
    assert answer.events == ()
