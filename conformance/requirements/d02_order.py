"""Decision 2: one total order, platform policy first and the current user message last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import AssistantMessage, ToolCall, ToolResult
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import Opening
from contextproof.conformance.contract.vocabulary import (
    MESSAGE_TYPES,
    PLATFORM_POLICY,
    Place,
    Region,
    Slot,
    declaration,
)
from contextproof.conformance.judgement import At, Judgement, judge
from contextproof.conformance.play.trace import OpenRecord, Trace
from contextproof.conformance.requirements.oracles_log import current_place, slots
from contextproof.conformance.requirements.oracles_views import (
    Made,
    is_active_after_current,
    made,
    name,
    openings,
    place,
    prefix_text,
    slot_blocks,
)
from contextproof.conformance.requirements.registry import MUST, SHOULD, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

IN_MID_TURN = "a request in the middle of a turn"
EARLIER_TURNS = "a request after earlier turns"
EVERY_BODY_CLASS = "recall, working state, corrections and environment in one request"
OVER_CHECKPOINT = "a request over a checkpoint"
OUT_OF_ORDER_RESULTS = "parallel results that came in another order than their calls"

TWO_TOOLS = "the same tools the other way round"
TWO_KEYS = "the same schema with its keys the other way round"


@requirement(
    "CTX-02.1",
    MUST,
    scenarios="sessions",
    witnesses=(IN_MID_TURN, EARLIER_TURNS),
    cost="Policy loses its precedence, or the model answers something other than the user's message.",
)
def policy_first_message_last(trace: Trace) -> Iterator[Judgement]:
    """Platform policy is the first block and the current user message the last.

    An engine that declares so may have what the turn already holds stand after that message.
    """
    may_follow = {Slot.CURRENT}
    if is_active_after_current(trace.manifest.order):
        may_follow.add(Slot.ACTIVE)
    for built in made(trace):
        blocks = built.blocks
        current = [n for n, block in enumerate(blocks) if block.slot is Slot.CURRENT]
        tail = blocks[current[-1] :] if current else blocks[-1:]
        after = [block for block in tail if block.slot not in may_follow]
        problem = ""
        if not blocks or blocks[0].type != PLATFORM_POLICY:
            problem = f"the first block is {name(blocks[0]) if blocks else 'not there'}"
        elif current_place(built.log) is not None and after:
            problem = f"{name(after[-1])} stands after or instead of the current user message"
        yield judge(
            not problem,
            at=built.at(),
            seen=problem,
            required="platform policy first, the current user message last",
            witnesses=_times(built),
        )


def _times(built: Made) -> Iterator[str]:
    found = set(slots(built.log).values())
    if Slot.ACTIVE in found:
        yield IN_MID_TURN
    if Slot.HISTORY in found:
        yield EARLIER_TURNS


@requirement(
    "CTX-02.2",
    MUST,
    scenarios="sessions",
    witnesses=(IN_MID_TURN, EARLIER_TURNS, EVERY_BODY_CLASS, OVER_CHECKPOINT),
    cost="No provider can cache a prefix that something else interrupts.",
)
def prefix_before_body(trace: Trace) -> Iterator[Judgement]:
    """All of region A stands before anything of region B."""
    for built in made(trace):
        late = next(
            (
                (before, after)
                for before, after in pairwise(built.blocks)
                if before.region is not Region.A and after.region is Region.A
            ),
            None,
        )
        yield judge(
            late is None,
            at=built.at(late[1].item_id if late else None),
            seen=f"{name(late[1])} of region A stands after {name(late[0])}" if late else "",
            required="region A first, then region B",
            witnesses=(*_times(built), *_classes(built)),
        )


def _classes(built: Made) -> Iterator[str]:
    given = built.build.inputs
    standing = (given.recall, given.corrections, given.environment)
    if all(standing) and any(given.working_state.entries()):
        yield EVERY_BODY_CLASS
    if given.checkpoint is not None:
        yield OVER_CHECKPOINT


@requirement(
    "CTX-02.3",
    MUST,
    scenarios="sessions",
    witnesses=(IN_MID_TURN, EARLIER_TURNS, EVERY_BODY_CLASS, OVER_CHECKPOINT),
    cost="Requests cannot be compared or cached, since the same things stand elsewhere each time.",
)
def one_declared_order(trace: Trace) -> Iterator[Judgement]:
    """Types and slots follow one total order, the one that the engine declares, in every request.

    The order declared has platform policy first, region A before region B, and the current user
    message last, save that the active slot may follow it. A message stands under its true slot.
    """
    fault = _fault_of_order(trace.manifest.order)
    yield judge(
        not fault,
        at=At(record=0),
        seen=f"the manifest declares {fault}",
        required="policy first, region A before region B, the current user message last",
    )
    for built in made(trace):
        problem, block = _out_of_order(trace.manifest, built)
        yield judge(
            not problem,
            at=built.at(block.item_id if block else None),
            seen=problem,
            required="the order of types and slots that the manifest declares",
            witnesses=(*_times(built), *_classes(built)),
        )


def _fault_of_order(order: Sequence[Place]) -> str:
    regions = [_region_of(station) for station in order]
    tail = [station for station in order if station is not Place.ACTIVE]
    if order[0] is not Place.PLATFORM_POLICY:
        return f"{order[0]} first"
    if regions != sorted(regions):
        return "something of region B before something of region A"
    return "" if tail[-1] is Place.CURRENT else f"{tail[-1]} after the current user message"


def _region_of(station: Place) -> Region:
    declared = declaration(station.value)
    return declared.region if declared is not None else Region.B


def _out_of_order(manifest: Manifest, built: Made) -> tuple[str, Block | None]:
    """What stands wrong, and the block that does."""
    true_slots = slots(built.log)
    rank = {station: n for n, station in enumerate(manifest.order)}
    latest: Block | None = None
    for block in built.blocks:
        station = place(block)
        if station is None:
            return f"{name(block)} has slot {block.slot}, and stands nowhere in the order", block
        true_slot = true_slots.get(block.item_id or "", block.slot)
        if block.type in MESSAGE_TYPES and block.slot is not true_slot:
            return f"{name(block)} is sent in slot {block.slot}, and is {true_slot}", block
        before = place(latest) if latest is not None else None
        if latest is not None and before is not None and rank[station] < rank[before]:
            return f"{name(block)} ({station}) stands after {name(latest)} ({before})", block
        latest = block
    return "", None


@requirement(
    "CTX-02.4",
    MUST,
    scenarios="sessions",
    witnesses=(EARLIER_TURNS, IN_MID_TURN, OUT_OF_ORDER_RESULTS),
    cost="The model reads a conversation that never took place.",
)
def history_keeps_log_order(trace: Trace) -> Iterator[Judgement]:
    """Within a slot, messages stand in the order in which they entered the log."""
    for built in made(trace):
        order = {item.id: n for n, item in enumerate(built.log)}
        wrong = next(
            (
                (before, after)
                for slot in (Slot.HISTORY, Slot.ACTIVE)
                for before, after in pairwise(slot_blocks(built.blocks, slot))
                if order.get(after.item_id or "", len(order)) < order.get(before.item_id or "", -1)
            ),
            None,
        )
        yield judge(
            wrong is None,
            at=built.at(wrong[1].item_id if wrong else None),
            seen=f"{name(wrong[1])} stands after {name(wrong[0])}, and came before it" if wrong else "",
            required="messages of a slot in log order",
            witnesses=(*_times(built), *_crossing(built)),
        )


def _crossing(built: Made) -> Iterator[str]:
    waiting: list[str] = []
    for item in built.log:
        if isinstance(item, AssistantMessage):
            waiting = []
        elif isinstance(item, ToolCall):
            waiting.append(item.call_id)
        elif isinstance(item, ToolResult):
            if item.call_id in waiting[1:]:
                yield OUT_OF_ORDER_RESULTS
                return
            waiting = waiting[1:]


@requirement(
    "CTX-02.5",
    SHOULD,
    scenarios="openings",
    witnesses=(TWO_TOOLS, TWO_KEYS),
    ports=("open_session",),
    cost="Each restart of a tool source starts a cache of its own, at the full price.",
)
def registration_order_does_not_show(trace: Trace) -> Iterator[Judgement]:
    """The same tools listed in another order, with schema keys in another order, make no difference.

    A session opened with them has the same prefix bytes.
    """
    main = _planned(trace, "main")
    other = _planned(trace, "reordered")
    if main is None or other is None or main[1].opening == other[1].opening:
        return
    (_, first, before), (index, second, after) = main, other
    same = prefix_text(before.plan.blocks) == prefix_text(after.plan.blocks)
    order = [
        listed(name(b) for b in planned.plan.blocks if b.type == "tool_definition")
        for planned in (before, after)
    ]
    yield judge(
        same,
        at=at(index, second.context),
        seen=f"tools in order {order[0]} became {order[1]}"
        if order[0] != order[1]
        else f"the prefix changed with the order of a schema's keys, in {_first_change(before, after)}",
        required="the same prefix bytes",
        witnesses=_reordering(first.opening, second.opening),
    )


def _planned(trace: Trace, purpose: str) -> tuple[int, OpenRecord, a.Planned] | None:
    for index, record in openings(trace, purpose):
        if isinstance(record.answer, a.Planned):
            return index, record, record.answer
    return None


def _first_change(before: a.Planned, after: a.Planned) -> str:
    for left, right in zip(before.plan.blocks, after.plan.blocks, strict=False):
        if left.text != right.text:
            return f"{name(left)}: {quoted(left.text)} became {quoted(right.text)}"
    return "the number of blocks"


def _reordering(first: Opening, second: Opening) -> Iterator[str]:
    if [tool.id for tool in first.tools] != [tool.id for tool in second.tools]:
        yield TWO_TOOLS
    schemas = {tool.id: tool.parameters_json for tool in first.tools}
    if any(schemas.get(tool.id) != tool.parameters_json for tool in second.tools):
        yield TWO_KEYS
