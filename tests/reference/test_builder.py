"""Requests: what stands in them, in which order, and that nothing live shows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract.answers import (
    BudgetExhausted,
    Built,
    CompactionNeeded,
    InvalidInput,
    InvalidKind,
    Planned,
)
from contextproof.conformance.contract.base import canonical_json
from contextproof.conformance.contract.items import (
    EnvironmentItem,
    LogItem,
    MemoryCorrection,
    MemoryItem,
    RecallItem,
    UndeclaredItem,
    content,
)
from contextproof.conformance.contract.plan import BuildInputs, Checkpoint, Plan
from contextproof.conformance.contract.request import Block, ElidedSpan, Reference
from contextproof.conformance.contract.session import Live, RoutingChanged
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import (
    Place,
    Region,
    Role,
    Slot,
    TokenClass,
    Trust,
)
from contextproof.conformance.contract.working_state import Constraint, Fact, Task, WorkingState
from contextproof.reference_impl.envelope import CODEC, MARK
from reference.conversations import logs
from reference.hostile import texts
from reference.making import (
    ENGINE,
    LIVE,
    MODEL,
    assistant,
    build,
    built,
    call,
    context,
    exchange,
    expect,
    inputs,
    opening,
    plan_with_body,
    planned,
    result,
    tool,
    user,
    words,
)

PLAN = planned(opening(memory=(MemoryItem(id="m1", text="Likes tea."),)))
STATE = WorkingState(
    constraints=(Constraint(id="c1", text="Never delete."),),
    tasks=(Task(id="t1", text="Read the page."),),
    established_facts=(Fact(id="f1", text="It is blue.", derived_from=("r1",)),),
)
EVERYTHING: dict[str, Any] = {
    "working_state": STATE,
    "corrections": (MemoryCorrection(id="k1", memory_id="m1", text="Likes coffee."),),
    "recall": (RecallItem(id="q1", text="Recalled.", source="memory"),),
    "environment": (EnvironmentItem(id="e1", text="It is Friday."),),
    "checkpoint": Checkpoint(
        id="k",
        summary="They met.",
        depth=1,
        covers=1,
        pointers=(ElidedSpan(trust=Trust.EXTERNAL_UNTRUSTED, size=3, references=(Reference(item_id="u0"),)),),
    ),
}
LOG = (
    user("u0", "Gone."),
    user("u1", "First."),
    assistant("a1"),
    call("c1", "a1"),
    result("r1", "c1", "A page."),
    user("u2", "Second."),
    assistant("a2", ""),
    call("c2", "a2"),
    result("r2", "c2", "Another page."),
)


def interior(block: Block) -> str:
    """A block's content, its codec undone."""
    assert block.envelope is not None
    return CODEC.decode(block.envelope.interior.of(block.text).decode())


def body(answer: Built) -> tuple[Block, ...]:
    """The blocks of region B."""
    return tuple(block for block in answer.request.blocks if block.region is Region.B)


def test_every_place_of_the_records_order_stands_where_the_record_has_it() -> None:
    request = built(PLAN, LOG, **EVERYTHING).request
    places = [block.place for block in request.blocks]
    wanted = [place for place in Place if place is not Place.AGENT_INSTRUCTIONS]
    assert list(dict.fromkeys(places)) == wanted
    assert request.blocks[-1].item_id == "u2"


def test_the_prefix_is_the_plans_and_so_is_its_hash() -> None:
    request = built(PLAN, LOG, **EVERYTHING).request
    assert request.blocks[: len(PLAN.blocks)] == PLAN.blocks
    assert request.prefix_sha256 == PLAN.prefix_sha256


@given(logs())
def test_every_message_is_there_once_verbatim_under_its_slot_in_log_order(
    log: tuple[LogItem, ...],
) -> None:
    messages = [item for item in log if item.type != "usage"]
    blocks = body(built(PLAN, log))
    current = max(n for n, item in enumerate(messages) if item.type == "user_message")
    slots = {
        item.id: Slot.HISTORY if n < current else Slot.CURRENT if n == current else Slot.ACTIVE
        for n, item in enumerate(messages)
    }
    ordered = [item.id for item in messages if item.id != messages[current].id]
    assert [block.item_id for block in blocks] == [*ordered, messages[current].id]
    assert {block.item_id: block.slot for block in blocks} == slots
    by_id: dict[str, Any] = {item.id: item for item in messages}
    assert [interior(block) for block in blocks] == [content(by_id[b.item_id or ""]) for b in blocks]


@given(text=texts())
def test_working_state_is_rendered_by_trust_and_no_entry_can_write_a_mark(text: str) -> None:
    facts = (
        Fact(id="f1", text=text, derived_from=("r1",)),
        Fact(id=f'f2"{text}', text=f"{text}.", derived_from=()),
    )
    state = STATE.model_copy(update={"established_facts": facts})
    blocks = [b for b in body(built(PLAN, LOG, working_state=state)) if b.type == "working_state"]
    assert [block.label for block in blocks] == [Trust.INTERNAL, Trust.EXTERNAL_UNTRUSTED]
    assert [block.text.count(MARK) for block in blocks] == [3, 1]
    shown = interior(blocks[0])
    places = [shown.index("Never delete."), shown.index("Read the page."), shown.rindex(f"{text}.")]
    assert places == sorted(places)
    assert text in interior(blocks[1])


def test_labels_are_the_effective_trust() -> None:
    log = (
        user("u1"),
        *exchange("x", "page"),
        assistant("a1", "It says so.", derived_from=("x-r0",)),
        user("u2", "Quoted.", derived_from=("a1",)),
    )
    labels = {block.item_id: block.label for block in body(built(PLAN, log))}
    assert labels["u1"] is Trust.USER
    assert labels["x-c0"] is Trust.INTERNAL
    assert {labels[name] for name in ("x-r0", "a1", "u2")} == {Trust.EXTERNAL_UNTRUSTED}


def test_nothing_of_the_body_speaks_as_the_platform() -> None:
    blocks = body(built(PLAN, LOG, **EVERYTHING))
    assert not {block.role for block in blocks} & {Role.SYSTEM, Role.DEVELOPER}
    assert all(block.envelope is not None for block in blocks)
    assert Trust.PLATFORM not in {block.label for block in blocks}


def test_the_latest_correction_of_a_memory_wins_in_order_of_writing() -> None:
    corrections = tuple(
        MemoryCorrection(id=f"k{n}", memory_id=memory, text=f"{memory} {n}")
        for n, memory in enumerate(("m1", "m2", "m1", "m3"))
    )
    blocks = body(built(PLAN, LOG, corrections=corrections))
    assert [b.item_id for b in blocks if b.type == "memory_correction"] == ["k1", "k2", "k3"]


def test_a_checkpoint_is_its_summary_and_its_pointers_and_nothing_that_it_covers() -> None:
    blocks = body(built(PLAN, LOG, **EVERYTHING))
    checkpoint = [block for block in blocks if block.type == "checkpoint"]
    assert [(b.item_id, b.label) for b in checkpoint] == [
        ("k", Trust.INTERNAL),
        ("k", Trust.EXTERNAL_UNTRUSTED),
    ]
    assert interior(checkpoint[0]) == "They met."
    pointer = checkpoint[1].pointer
    assert pointer is not None
    assert pointer.reference.of(checkpoint[1].text) == b'"u0"'
    assert "u0" not in [block.item_id for block in blocks]


def test_an_empty_summary_renders_as_an_empty_envelope() -> None:
    empty = Checkpoint(id="k", summary="", depth=0, covers=1)
    blocks = [b for b in body(built(PLAN, LOG, checkpoint=empty)) if b.type == "checkpoint"]
    assert [interior(block) for block in blocks] == [""]


OTHER = Live(
    clock="2031-01-01T00:00:00+14:00",
    permissions=("search",),
    tools=(tool("other"), tool("search", description="Reworded.")),
    memory=(MemoryItem(id="m9", text="New."),),
    ids=("other-1",),
    attempt=3,
)


def test_nothing_that_is_live_shows() -> None:
    assert built(PLAN, LOG, **EVERYTHING) == built(PLAN, LOG, live=OTHER, **EVERYTHING)


@given(first=logs(), second=logs())
def test_the_same_inputs_give_the_same_bytes_whatever_is_built_in_between(
    first: tuple[LogItem, ...], second: tuple[LogItem, ...]
) -> None:
    before = canonical_json(built(PLAN, first, **EVERYTHING | {"checkpoint": None}))
    for end in range(len(second)):
        build(PLAN, inputs(second[:end]))
    read = BuildInputs.from_json(inputs(first, **EVERYTHING | {"checkpoint": None}).canonical())
    plan = Plan.from_json(PLAN.canonical())
    assert canonical_json(build(plan, read)) == before


def test_inputs_are_left_as_they_were() -> None:
    given_inputs = inputs(LOG, **EVERYTHING)
    before = given_inputs.canonical()
    build(PLAN, given_inputs)
    assert given_inputs.canonical() == before


def test_an_undeclared_type_is_named() -> None:
    answer = expect(InvalidInput, build(PLAN, inputs((*LOG, UndeclaredItem(id="s", type="sticker")))))
    assert (answer.kind, answer.subject) == (InvalidKind.UNDECLARED_TYPE, "sticker")


def test_without_a_user_message_there_is_no_request() -> None:
    assert expect(InvalidInput, build(PLAN, inputs(()))).kind is InvalidKind.MALFORMED


OVER: list[tuple[TokenClass, int, dict[str, Any]]] = [
    (
        TokenClass.WORKING_STATE,
        1_000,
        {"working_state": WorkingState(established_facts=(Fact(id="f", text=words(1_001)),))},
    ),
    (
        TokenClass.MEMORY_CORRECTIONS,
        1_500,
        {"corrections": (MemoryCorrection(id="k", memory_id="m1", text=words(1_501)),)},
    ),
    (
        TokenClass.ENVIRONMENT,
        500,
        {"environment": (EnvironmentItem(id="e", text=words(501)),)},
    ),
]


@pytest.mark.parametrize(("name", "cap", "fields"), OVER, ids=[entry[0] for entry in OVER])
def test_a_class_over_its_cap_exhausts_the_budget_even_where_it_fits(
    name: TokenClass, cap: int, fields: dict[str, Any]
) -> None:
    answer = expect(BudgetExhausted, build(PLAN, inputs(LOG, **fields)))
    assert (answer.token_class, answer.needed, answer.available) == (name, cap + 1, cap)


def _routed(plan: Plan, tokenizer: str) -> Plan:
    model = MODEL.model_copy(update={"name": f"model-{tokenizer}", "tokenizer": tokenizer})
    answer = ENGINE.apply(context(epoch=plan.epoch), plan, RoutingChanged(model=model), LIVE)
    return expect(Planned, answer).plan


def test_what_another_tokenizer_had_within_its_cap_stands_after_a_change_of_tokenizer() -> None:
    text = "दस्तावेज़ पढ़ें। " * 40
    assert count("o200k_base", text) < 500 < count("cl100k_base", text)
    environment = (EnvironmentItem(id="e", text=text),)
    built(PLAN, LOG, environment=environment)
    there = _routed(PLAN, "cl100k_base")
    built(there, LOG, environment=environment)
    directly = planned(opening(model=there.opening.model))
    expect(BudgetExhausted, build(directly, inputs(LOG, environment=environment)))
    longer = (EnvironmentItem(id="e", text=words(501)),)
    expect(BudgetExhausted, build(there, inputs(LOG, environment=longer)))


def test_what_cannot_fit_exhausts_the_budget_and_names_the_largest_class() -> None:
    plan = plan_with_body(1_500)
    log = (*LOG, user("u3", words(2_000)))
    answer = expect(BudgetExhausted, build(plan, inputs(log)))
    assert answer.token_class is TokenClass.CURRENT_USER_MESSAGE
    assert answer.needed > answer.available == plan.opening.model.limit
    active = (user("u1"), assistant("a", words(2_000)), call("c", "a"), result("r", "c"))
    assert expect(BudgetExhausted, build(plan, inputs(active))).token_class is TokenClass.ACTIVE


def _conversation(turns: int, tokens: int) -> tuple[LogItem, ...]:
    return tuple(
        item
        for n in range(turns)
        for item in (user(f"u{n}", words(tokens)), assistant(f"a{n}", words(tokens)))
    )


@given(tokens=st.integers(0, 1_600))
def test_compaction_is_asked_for_only_where_it_could_help(tokens: int) -> None:
    plan = plan_with_body(1_500)
    answer = build(plan, inputs((*_conversation(10, 100), user("last", words(tokens)))))
    alone = build(plan, inputs((user("last", words(tokens)),)))
    assert isinstance(answer, CompactionNeeded | BudgetExhausted)
    if isinstance(alone, BudgetExhausted):
        assert isinstance(answer, BudgetExhausted)
    if isinstance(answer, CompactionNeeded):
        assert answer.estimate.total > plan.opening.model.limit
