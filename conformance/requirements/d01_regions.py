"""Decision 1: two regions, and a type belongs to one of them wherever it is rendered."""

from __future__ import annotations

from collections.abc import Iterator

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import UndeclaredItem
from contextproof.conformance.contract.session import Live
from contextproof.conformance.contract.vocabulary import (
    AGENT_INSTRUCTIONS,
    CHECKPOINT,
    FRAMING,
    MEMORY_SNAPSHOT,
    PLATFORM_POLICY,
    TOOL_DEFINITION,
    WORKING_STATE,
    Region,
    declaration,
    declared_types,
)
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.requirements.oracles_prefix import change_between
from contextproof.conformance.requirements.oracles_tools import pinned_by_plan
from contextproof.conformance.requirements.oracles_views import (
    Made,
    beside,
    known_items,
    made,
    name,
    opening_of,
    region,
    request_of,
)
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

CORRECTED_MEMORY = "a memory item and its correction in one request"
BODY_CLASSES = "recall, working state and environment in one request"

ALL_FIVE = "a session with instructions, tools and memory"
NO_TOOLS_OR_MEMORY = "a session without tools or memory"

UNDECLARED = "a log entry of a type that nothing declares"

OTHER_CLOCK = "the same build at another time"
OTHER_PERMISSIONS = "the same build under other permissions"
OTHER_TOOLS = "the same build with tools registered otherwise"
OTHER_MEMORY = "the same build with memory changed since"

_TYPES_A = frozenset(declared_types(Region.A))


@requirement(
    "CTX-01.1",
    MUST,
    scenarios="sessions",
    witnesses=(CORRECTED_MEMORY, BODY_CLASSES),
    cost="What changes ends up in the cached part, or what is fixed is paid for again each time.",
)
def type_decides_region(trace: Trace) -> Iterator[Judgement]:
    """A block stands in the region that its item's type declares.

    It is the same in every request of every session.
    """
    for built in made(trace):
        problem, item_id = _misplaced(trace, built)
        yield judge(
            not problem,
            at=built.at(item_id),
            seen=problem,
            required="each block under its item's own type, in the region that type declares",
            witnesses=_body_situations(built),
        )


def _misplaced(trace: Trace, built: Made) -> tuple[str, str | None]:
    """What stands in a region or under a type that is not its own, and the item it renders."""
    types: dict[str, set[str]] = {}
    for item_type, item_id in known_items(trace, built):
        types.setdefault(item_id, set()).add(item_type)
    for block in built.blocks:
        declared = declaration(block.type)
        # A checkpoint and working state are named by the engine; those names may recur as ids.
        is_item = block.type not in (CHECKPOINT, WORKING_STATE)
        true_types = types.get(block.item_id or "", set()) if is_item else set()
        if declared is None or declared.region is not block.region:
            where = declared.region if declared else "no region at all"
            told = f"{name(block)} is in region {block.region}; its type declares {where}"
            return told, block.item_id
        if true_types and block.type not in true_types:
            told = f"{name(block)} renders an item of type {listed(sorted(true_types))}"
            return told, block.item_id
    return "", None


def _body_situations(built: Made) -> Iterator[str]:
    given = built.build.inputs
    ids = {block.item_id for block in built.blocks if block.type == MEMORY_SNAPSHOT}
    if any(correction.memory_id in ids for correction in given.corrections):
        yield CORRECTED_MEMORY
    if given.recall and given.environment and any(given.working_state.entries()):
        yield BODY_CLASSES


@requirement(
    "CTX-01.2",
    MUST,
    scenarios="openings",
    witnesses=(ALL_FIVE, NO_TOOLS_OR_MEMORY),
    cost="A request lacks what the platform promised to put before every model, or caches too much.",
)
def prefix_holds_five_types(trace: Trace) -> Iterator[Judgement]:
    """Region A holds policy, framing, instructions, tool definitions and the memory snapshot.

    It holds no other type, and each of these of which the session opened with anything.
    """
    opening = opening_of(trace)
    if opening is None:
        return
    pinned = pinned_by_plan(trace)
    for built in made(trace, "main", "retry", "roomy"):
        there = {block.type for block in region(built.blocks, Region.A)}
        expected = {PLATFORM_POLICY, FRAMING}
        expected |= {AGENT_INSTRUCTIONS} if opening.instructions else set()
        expected |= {TOOL_DEFINITION} if pinned[built.build.plan] else set()
        expected |= {MEMORY_SNAPSHOT} if opening.memory else set()
        strange, missing = there - _TYPES_A, expected - there
        yield judge(
            not strange and not missing,
            at=built.at(),
            seen=f"region A holds {listed(sorted(strange))}"
            if strange
            else f"region A holds nothing of type {listed(sorted(missing))}",
            required=f"of the types {listed(sorted(expected))}, each, and no other",
            witnesses=(
                *([ALL_FIVE] if len(expected) == len(_TYPES_A) else []),
                *([NO_TOOLS_OR_MEMORY] if not expected & {TOOL_DEFINITION, MEMORY_SNAPSHOT} else []),
            ),
        )


@requirement(
    "CTX-01.3",
    MUST,
    scenarios="hostile",
    witnesses=(UNDECLARED,),
    cost="A new kind of item slips into requests where nobody decided on its place or its trust.",
)
def undeclared_type_is_refused(trace: Trace) -> Iterator[Judgement]:
    """A log entry of a type that declares no region is answered *invalid input*, naming the type."""
    for index, build in trace.builds("main", "retry", "probe"):
        log = trace.log[: build.inputs.log_length] + build.inputs.probed
        undeclared = [item for item in log if isinstance(item, UndeclaredItem)]
        if not undeclared:
            continue
        answer = build.answer
        types = {item.type for item in undeclared}
        yield judge(
            isinstance(answer, a.InvalidInput)
            and answer.kind is a.InvalidKind.UNDECLARED_TYPE
            and answer.subject in types,
            at=at(index, build.context, undeclared[0].id),
            seen=f"invalid input ({answer.kind}) that names {quoted(answer.subject)}"
            if isinstance(answer, a.InvalidInput)
            else f"the build answered {answer.answer.replace('_', ' ')}",
            required=f"invalid input (undeclared_type) that names {listed(sorted(types))}",
            witnesses=(UNDECLARED,),
            follows=("CTX-08.9",) if isinstance(answer, a.BudgetExhausted) else (),
        )


@requirement(
    "CTX-01.4",
    MUST,
    gate=Gate.ONE_PREFIX,
    scenarios="sessions",
    witnesses=(OTHER_CLOCK, OTHER_PERMISSIONS, OTHER_TOOLS, OTHER_MEMORY),
    cost="The provider's cache misses, and every request costs the whole prefix again.",
)
def live_values_leave_the_prefix_alone(trace: Trace) -> Iterator[Judgement]:
    """What can differ between two requests of a session leaves every byte of the prefix alone.

    The same build, with another clock, other permissions, tools registered otherwise, other memory,
    other ids and another attempt number, has the same prefix.
    """
    for pair in beside(trace, "other_live"):
        first, second = pair.main.answer, pair.side.answer
        if not isinstance(first, a.Built) or not isinstance(second, a.Built):
            continue
        here = request_of(trace, pair.record, pair.main, first)
        change = change_between(first.request, second.request)
        yield judge(
            change is None,
            at=here.at(),
            seen=f"with other live values alone, {change}",
            required="the same prefix bytes whatever is live",
            witnesses=_differences(pair.main.inputs.live, pair.side.inputs.live),
            follows=change.follows if change is not None else (),
        )


def _differences(live: Live, other: Live) -> Iterator[str]:
    if live.clock != other.clock:
        yield OTHER_CLOCK
    if live.permissions != other.permissions:
        yield OTHER_PERMISSIONS
    if live.tools != other.tools:
        yield OTHER_TOOLS
    if live.memory != other.memory:
        yield OTHER_MEMORY
