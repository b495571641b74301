"""Decision 7: the prefix never yields; what does not fit does not open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.caps import MIN_BODY
from contextproof.conformance.contract.items import RenderedItem
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.measures import Measure, ceiling, opening_measures, over_cap, permitted
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import TOOL_DEFINITION, Region, TokenClass
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import OpenRecord, Trace, tokens
from contextproof.conformance.requirements.oracles_caps import (
    prefix_bound,
)
from contextproof.conformance.requirements.oracles_text import is_whole
from contextproof.conformance.requirements.oracles_views import (
    Made,
    opening_of,
    openings,
    played,
    prefix_items,
    region,
)
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import at, quoted

POLICY_OVER = "platform policy over its cap"
INSTRUCTIONS_OVER = "agent instructions over their cap"
TOOLS_OVER = "tool definitions over their cap"
MEMORY_OVER = "the memory snapshot over its cap"

CEILING_OVER = "every class within its cap, and together over the ceiling"

TOO_MANY_TOOLS = "31 tools"
TOO_MANY_MEMORIES = "41 memory items"

CLASS_AT_CAP = "a class at its cap to the token"
ITEMS_AT_CAP = "30 tools or 40 memory items"

UNDER_PRESSURE = "a request for which something gave way"

WITHIN = "an opening within every cap and the ceiling"
BARRED_TOOLS = "tools over the cap of which few enough are permitted"

RESERVE_TOO_LARGE = "an output reserve that leaves too little of the window"

#: Other nonces and another order of keys move a prefix's count by far less: one part in this many.
_SLACK = 10


@requirement(
    "CTX-07.1",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="openings",
    witnesses=(POLICY_OVER, INSTRUCTIONS_OVER, TOOLS_OVER, MEMORY_OVER),
    ports=("open_session",),
    cost="An agent runs on a truncated system prompt, subtly wrong for ever.",
)
def class_over_cap_does_not_open(trace: Trace) -> Iterator[Judgement]:
    """With a class over its cap in tokens, the session does not open.

    The refusal names a class that is over, what it measures, and its cap. Only permitted tools count.
    """
    for index, record in openings(trace):
        over = _over(record, "tokens")
        if over and record.opening.model.limit >= MIN_BODY:
            yield judge(
                _names_one(record.answer, over_cap(record.opening)),
                at=at(index, record.context),
                seen=_told(record.answer),
                required=f"a refusal that names {_any_of(over_cap(record.opening))}",
                witnesses=[_OVER[measure.token_class] for measure in over],
            )


_OVER = {
    TokenClass.PLATFORM_POLICY: POLICY_OVER,
    TokenClass.AGENT_INSTRUCTIONS: INSTRUCTIONS_OVER,
    TokenClass.TOOL_DEFINITIONS: TOOLS_OVER,
    TokenClass.MEMORY_SNAPSHOT: MEMORY_OVER,
}


def _over(record: OpenRecord, unit: str) -> list[Measure]:
    return [measure for measure in over_cap(record.opening) if measure.unit == unit]


def _names_one(answer: a.PlanAnswer, over: Sequence[Measure]) -> bool:
    return isinstance(answer, a.Refused) and _named(answer) in over


def _named(answer: a.Refused) -> Measure:
    return Measure(answer.token_class, answer.measured, answer.cap, answer.unit)


def _told(answer: a.PlanAnswer) -> str:
    if isinstance(answer, a.Planned):
        return f"the session opened with a prefix of {answer.plan.prefix_tokens} tokens"
    return f"refused, naming {_named(answer)}"


def _any_of(over: Sequence[Measure]) -> str:
    return " or ".join(str(measure) for measure in over)


@requirement(
    "CTX-07.2",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="openings",
    witnesses=(CEILING_OVER,),
    ports=("open_session",),
    cost="A session opens in which nothing can be said.",
)
def prefix_over_ceiling_does_not_open(trace: Trace) -> Iterator[Judgement]:
    """With no class over its cap and the whole prefix over the ceiling, the session does not open.

    The ceiling is the window less the output reserve less 1,000 tokens. The refusal names the class
    with the most tokens.
    """
    for index, record in openings(trace):
        if record.opening.model.limit < MIN_BODY or over_cap(record.opening):
            continue
        measured = _prefix_tokens(trace, record)
        room = ceiling(record.opening.model)
        if measured is None or measured <= room:
            continue
        largest = _largest(trace, record)
        answer = record.answer
        yield judge(
            isinstance(answer, a.Refused)
            and answer.cap == room
            and answer.token_class in largest
            and answer.measured in (measured, largest[answer.token_class]),
            at=at(index, record.context),
            seen=_told(answer),
            required=f"a refusal that names {' or '.join(sorted(largest))}, for a prefix of "
            f"{measured} tokens and a ceiling of {room}",
            witnesses=(CEILING_OVER,),
        )


def _prefix_tokens(trace: Trace, record: OpenRecord) -> int | None:
    """What an opening's prefix takes as this engine renders it; None where the trace cannot tell."""
    if isinstance(record.answer, a.Planned):
        return _counted(record, record.answer)
    roomy = _roomy_plan(trace)
    return _counted(record, roomy) if roomy and record.purpose == "main" else None


def _counted(record: OpenRecord, planned: a.Planned) -> int:
    overhead = record.opening.model.overhead_per_block
    return sum(tokens(record.context, block.text) + overhead for block in planned.plan.blocks)


def _roomy_plan(trace: Trace) -> a.Planned | None:
    for _, record in openings(trace, "roomy"):
        if isinstance(record.answer, a.Planned):
            return record.answer
    return None


def _largest(trace: Trace, record: OpenRecord) -> dict[TokenClass, int]:
    """The class with the most tokens, as sent and by content: either reading may be meant."""
    planned = record.answer if isinstance(record.answer, a.Planned) else _roomy_plan(trace)
    as_sent = [(entry.tokens, entry.token_class) for entry in planned.plan.tokens] if planned else []
    contents = [
        (measure.measured, measure.token_class)
        for measure in opening_measures(record.opening)
        if measure.unit == "tokens"
    ]
    return {
        token_class: tokens
        for figures in (contents, as_sent)
        for tokens, token_class in figures
        if tokens == max(figures)[0]
    }


@requirement(
    "CTX-07.3",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="openings",
    witnesses=(TOO_MANY_TOOLS, TOO_MANY_MEMORIES),
    ports=("open_session",),
    cost="Attention is spread over more items than anybody can weigh.",
)
def too_many_items_do_not_open(trace: Trace) -> Iterator[Judgement]:
    """With more than 30 permitted tools, or more than 40 memory items, the session does not open.

    The refusal names the class, how many there are, and how many there may be.
    """
    for index, record in openings(trace):
        over = _over(record, "items")
        if over and record.opening.model.limit >= MIN_BODY:
            yield judge(
                _names_one(record.answer, over_cap(record.opening)),
                at=at(index, record.context),
                seen=_told(record.answer),
                required=f"a refusal that names {_any_of(over_cap(record.opening))}",
                witnesses=[
                    TOO_MANY_TOOLS
                    if measure.token_class is TokenClass.TOOL_DEFINITIONS
                    else TOO_MANY_MEMORIES
                    for measure in over
                ],
            )


@requirement(
    "CTX-07.4",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="openings",
    witnesses=(CLASS_AT_CAP, ITEMS_AT_CAP),
    ports=("open_session",),
    cost="A configuration that was checked against the caps does not run, or not whole.",
)
def exactly_at_a_cap_opens_whole(trace: Trace) -> Iterator[Judgement]:
    """With a class exactly at its cap and none over, the session opens, and all content is there."""
    for index, record in openings(trace):
        exact = _at_cap(record)
        if not exact or not _surely_fits(trace, record):
            continue
        problem = _told(record.answer)
        if isinstance(record.answer, a.Planned):
            problem = _missing(trace.manifest, _items(record), record.answer.plan.blocks)
        yield judge(
            not problem,
            at=at(index, record.context),
            seen=problem,
            required=f"an open session with all content, at {'; '.join(str(m) for m in exact)}",
            witnesses=[CLASS_AT_CAP if m.unit == "tokens" else ITEMS_AT_CAP for m in exact],
        )


def _at_cap(record: OpenRecord) -> list[Measure]:
    return [m for m in opening_measures(record.opening) if m.measured == m.cap]


def _surely_fits(trace: Trace, record: OpenRecord) -> bool:
    """Whether an opening is within every cap and, beyond doubt, within the ceiling."""
    opening = record.opening
    room = ceiling(opening.model)
    if opening.model.limit < MIN_BODY or over_cap(opening):
        return False
    measured = _prefix_tokens(trace, record)
    roomy = _roomy_plan(trace)
    if measured is not None:
        return measured <= room
    if roomy is not None:
        return _counted(record, roomy) * (_SLACK + 1) <= room * _SLACK
    return prefix_bound(opening) <= room


def _items(record: OpenRecord) -> tuple[RenderedItem, ...]:
    allowed = {tool.id for tool in permitted(record.opening)}
    items = prefix_items(record.opening)
    return tuple(i for i in items if i.type != TOOL_DEFINITION or i.id in allowed)


def _missing(manifest: Manifest, items: Sequence[RenderedItem], blocks: Sequence[Block]) -> str:
    """What of some items is not whole in region A; nothing where all of it is."""
    by_key = {(block.type, block.item_id): block for block in region(blocks, Region.A)}
    for item in items:
        block = by_key.get((item.type, item.id))
        if block is None:
            return f"{item.type} {quoted(item.id)} is not in the prefix"
        if not is_whole(manifest, block, item):
            return f"{item.type} {quoted(item.id)} is not whole: {quoted(block.text)}"
    return ""


@requirement(
    "CTX-07.5",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="pressure",
    witnesses=(UNDER_PRESSURE,),
    cost="Under load the agent forgets its instructions, and nothing tells.",
)
def prefix_is_whole_under_pressure(trace: Trace) -> Iterator[Judgement]:
    """However little room there is, policy, instructions and memory are whole in every request."""
    opening = opening_of(trace)
    if opening is None:
        return
    # Whether tools stay is requirement 04.1's matter.
    items = [item for item in prefix_items(opening) if item.type != TOOL_DEFINITION]
    for built in played(trace):
        problem = _missing(trace.manifest, items, built.blocks)
        yield judge(
            not problem,
            at=built.at(),
            seen=problem,
            required="all of the prefix, whole",
            witnesses=(UNDER_PRESSURE,) if _is_pressed(built) else (),
        )


def _is_pressed(built: Made) -> bool:
    return bool(built.newly or built.build.inputs.yielded)


@requirement(
    "CTX-07.6",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="openings",
    witnesses=(WITHIN, BARRED_TOOLS),
    ports=("open_session",),
    cost="A sound configuration does not run.",
)
def opening_within_caps_opens(trace: Trace) -> Iterator[Judgement]:
    """An opening within every cap and the ceiling opens. Tools that are not permitted do not count."""
    for index, record in openings(trace):
        if _at_cap(record) or not _surely_fits(trace, record):
            continue
        everything = record.opening.model_copy(
            update={"permissions": tuple(tool.name for tool in record.opening.tools)}
        )
        yield judge(
            isinstance(record.answer, a.Planned),
            at=at(index, record.context),
            seen=_told(record.answer),
            required="an open session: no class is over its cap, and the prefix is within the ceiling",
            witnesses=(WITHIN, *((BARRED_TOOLS,) if over_cap(everything) else ())),
        )


@requirement(
    "CTX-07.7",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="openings",
    witnesses=(RESERVE_TOO_LARGE,),
    ports=("open_session",),
    cost="A window set up wrongly is found out deep into a run instead of at its start.",
)
def reserve_must_leave_a_body(trace: Trace) -> Iterator[Judgement]:
    """Where the output reserve leaves less than 1,000 tokens, the refusal names it before all else."""
    for index, record in openings(trace):
        left = record.opening.model.limit
        if left < MIN_BODY:
            expected = Measure(TokenClass.OUTPUT_RESERVE, left, MIN_BODY)
            yield judge(
                _names_one(record.answer, [expected]),
                at=at(index, record.context),
                seen=_told(record.answer),
                required=f"a refusal that names {expected}",
                witnesses=(RESERVE_TOO_LARGE,),
            )
