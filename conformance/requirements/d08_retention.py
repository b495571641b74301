"""Decision 8, what stays: nothing that never yields is cut, and nothing at all is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from contextproof.conformance.contract.items import (
    MemoryCorrection,
    RenderedItem,
    ToolResult,
    UserMessage,
)
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.request import Block, PointerKind, YieldStep
from contextproof.conformance.contract.vocabulary import (
    CHECKPOINT,
    FRAMING,
    MEMORY_CORRECTION,
    MESSAGE_TYPES,
    WORKING_STATE,
    Region,
    Slot,
    declared_types,
)
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.requirements.oracles_checkpoint import covered
from contextproof.conformance.requirements.oracles_log import (
    active_pairs,
    current_place,
    latest_corrections,
    standing,
    turns,
)
from contextproof.conformance.requirements.oracles_pairing import log_beats, pair
from contextproof.conformance.requirements.oracles_text import holds_text, interior, is_whole
from contextproof.conformance.requirements.oracles_views import (
    Made,
    known_items,
    name,
    of_type,
    played,
)
from contextproof.conformance.requirements.oracles_yield import (
    is_truncated,
)
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import listed, quoted

UNDER_PRESSURE = "a request for which something gave way"
ACTIVE_PAIRS = "a request with active pairs"
STATE_AND_CORRECTIONS = "working state and corrections in one request"
OVER_CHECKPOINT = "a request over a checkpoint"


EARLIER_TURNS = "a request after earlier turns"
TRUNCATED = "a request with a truncated result"


@requirement(
    "CTX-08.3",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="pressure",
    witnesses=(UNDER_PRESSURE, ACTIVE_PAIRS, STATE_AND_CORRECTIONS, OVER_CHECKPOINT),
    cost="The agent answers half a question, or forgets what it was told never to forget.",
)
def what_never_yields_is_verbatim(trace: Trace) -> Iterator[Judgement]:
    """What never yields is in every request, verbatim.

    That is the current user message, working state, the latest correction of each memory item,
    environment, the checkpoint's summary, and the active pairs, of which a result may be a pointer
    where the cap on results made it one.
    """
    for built in _of_whole_logs(trace):
        problem, item_id = _not_verbatim(trace, built)
        yield judge(
            not problem,
            at=built.at(item_id),
            seen=problem,
            required="all that never yields, verbatim",
            witnesses=_fixed_situations(built),
            follows=_compacted(built),
        )


def _compacted(built: Made) -> tuple[str, ...]:
    """What is missing or twice beside a checkpoint may be so because of how it was compacted."""
    return ("CTX-12.8", "CTX-12.10") if built.build.inputs.checkpoint is not None else ()


def _of_whole_logs(trace: Trace) -> Iterator[Made]:
    """Requests but for those over a log with an open call, which should not be: 09.4's matter."""
    return (built for built in played(trace) if pair(log_beats(built.log)).is_whole)


def _not_verbatim(trace: Trace, built: Made) -> tuple[str, str | None]:
    given, log = built.build.inputs, built.log
    current = current_place(log)
    message = log[current] if current is not None else None
    by_key: dict[tuple[str, str], Block] = {}
    for sent in built.blocks:
        by_key.setdefault((sent.type, sent.item_id or ""), sent)
    capped = {
        entry.item_id
        for entry in (*given.yielded, *built.newly)
        if entry.step is YieldStep.TOOL_RESULT and entry.cause == "cap"
    }
    fixed: list[RenderedItem] = [message] if isinstance(message, UserMessage) else []
    fixed += [*latest_corrections(given.corrections), *given.environment, *active_pairs(log)]
    for item in fixed:
        block = by_key.get((item.type, item.id))
        if block is None:
            return f"{item.type} {quoted(item.id)} is missing", item.id
        if is_truncated(block) and item.id in capped:
            continue
        if not is_whole(trace.manifest, block, item):
            told = f", {_about(item)}," if _about(item) else ""
            return f"{item.type} {quoted(item.id)}{told} is not verbatim: {quoted(block.text)}", item.id
    latest = {item.id for item in latest_corrections(given.corrections)}
    for sent in of_type(built.blocks, MEMORY_CORRECTION):
        if sent.item_id not in latest:
            return f"{name(sent)} is sent, and is not the latest of its memory item", sent.item_id
    return _state_or_summary_missing(trace, built)


def _about(item: RenderedItem) -> str:
    if isinstance(item, MemoryCorrection):
        return f"of {quoted(item.memory_id)}"
    return "of the active pairs" if isinstance(item, ToolResult) else ""


def _state_or_summary_missing(trace: Trace, built: Made) -> tuple[str, str | None]:
    given = built.build.inputs
    codec = trace.manifest.codec(WORKING_STATE)
    shown = [interior(block) for block in of_type(built.blocks, WORKING_STATE)]
    for entry in given.working_state.entries():
        if not any(holds_text(codec, text, entry.text) for text in shown):
            return f"working state {quoted(entry.id)} is not verbatim: {quoted(entry.text)}", entry.id
    checkpoint = given.checkpoint
    if checkpoint is not None and checkpoint.summary.strip():
        codec = trace.manifest.codec(CHECKPOINT)
        summaries = [b for b in of_type(built.blocks, CHECKPOINT) if b.pointer is None]
        if not any(holds_text(codec, interior(b), checkpoint.summary) for b in summaries):
            return f"the summary of checkpoint {quoted(checkpoint.id)} is not verbatim", checkpoint.id
    return "", None


def _fixed_situations(built: Made) -> Iterator[str]:
    given = built.build.inputs
    if built.newly or given.yielded:
        yield UNDER_PRESSURE
    if active_pairs(built.log):
        yield ACTIVE_PAIRS
    if given.corrections and any(given.working_state.entries()):
        yield STATE_AND_CORRECTIONS
    if given.checkpoint is not None:
        yield OVER_CHECKPOINT


@requirement(
    "CTX-08.8",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="compactions",
    witnesses=(EARLIER_TURNS, TRUNCATED, OVER_CHECKPOINT),
    cost="The conversation has a hole that nobody can see, and nothing leads back to it.",
)
def nothing_is_lost(trace: Trace) -> Iterator[Judgement]:
    """Every message that the checkpoint does not cover is in the request once, whole or as a pointer.

    No covered one is. All of the checkpoint's pointers are, and every block names what it renders.
    """
    for built in _of_whole_logs(trace):
        items = known_items(trace, built)
        problem, item_id = _lost_or_strange(trace, built, items)
        yield judge(
            not problem,
            at=built.at(item_id),
            seen=problem,
            required="every item not covered, once; nothing covered; every pointer; known items only",
            witnesses=_log_situations(built),
            follows=_cause(problem) + _compacted(built),
        )


def _cause(problem: str) -> tuple[str, ...]:
    """Which requirements tell a problem better, where they are violated too."""
    if " calls and results " in problem:
        return ("CTX-09.1",)
    return ("CTX-03.2", "CTX-05.6") if problem.startswith(tuple(declared_types(Region.A))) else ()


def _lost_or_strange(
    trace: Trace, built: Made, items: Mapping[tuple[str, str], RenderedItem]
) -> tuple[str, str | None]:
    checkpoint = built.build.inputs.checkpoint
    expected = standing(built.log, checkpoint)
    messages = [block for block in built.blocks if block.type in MESSAGE_TYPES]
    often = Counter(block.item_id for block in messages)
    missing = [item for item in expected if not often[item.id]]
    if missing:
        return _missing(built, missing), missing[0].id
    twice = [item.id for item in expected if often[item.id] > 1]
    if twice:
        return f"more than once in the request: {listed(twice)}", twice[0]
    gone = {item.id for item in covered(checkpoint, built.log)}
    # Whether the current message and the active pairs are verbatim is 08.3's matter.
    fixed = {item.id for item in active_pairs(built.log)}
    fixed |= {block.item_id for block in messages if block.slot is Slot.CURRENT and block.item_id}
    for block in built.blocks:
        problem = _wrong(trace, built, block, items, gone, fixed)
        if problem:
            return problem, block.item_id
    return _pointers_missing(checkpoint, built.blocks), None


def _missing(built: Made, missing: Sequence[RenderedItem]) -> str:
    turn_of = turns(built.log)
    among = sorted({turn_of[item.id] for item in missing})
    of = f"turn {among[0]}" if len(among) == 1 else f"turns {among[0]} to {among[-1]}"
    pairs_alone = all(item.type in ("tool_call", "tool_result") for item in missing)
    what = "calls and results" if pairs_alone else "messages"
    ids = listed(item.id for item in missing)
    return f"{len(missing)} {what} of {of} are neither in the request nor covered: {ids}"


def _wrong(
    trace: Trace,
    built: Made,
    block: Block,
    items: Mapping[tuple[str, str], RenderedItem],
    gone: set[str],
    fixed: set[str],
) -> str:
    """What is wrong with one block: covered, unknown, or no longer what it renders."""
    if block.type in (FRAMING, CHECKPOINT, WORKING_STATE):
        return _engine_block(block, built.build.inputs.checkpoint)
    if block.type in MESSAGE_TYPES and block.item_id in gone:
        return f"{name(block)} is sent though the checkpoint covers it"
    item = items.get((block.type, block.item_id or ""))
    if item is None:
        return f"{name(block)} renders no item that there is: {quoted(block.text)}"
    is_plain = block.type in MESSAGE_TYPES and not is_truncated(block)
    if is_plain and block.item_id not in fixed and not is_whole(trace.manifest, block, item):
        return f"{name(block)} is not verbatim: {quoted(block.text)}"
    return ""


def _engine_block(block: Block, checkpoint: Checkpoint | None) -> str:
    if block.type == FRAMING:
        return "" if block.item_id is None else f"the framing names an item, {quoted(block.item_id)}"
    if block.type == WORKING_STATE:
        return "" if block.item_id is not None else "a block of working state names nothing"
    there = checkpoint is not None and block.item_id == checkpoint.id
    return "" if there else f"{name(block)} renders no checkpoint that there is"


def _pointers_missing(checkpoint: Checkpoint | None, blocks: Sequence[Block]) -> str:
    if checkpoint is None:
        return ""
    elided = [
        block.pointer
        for block in of_type(blocks, CHECKPOINT)
        if block.pointer is not None and block.pointer.kind is PointerKind.ELISION
    ]
    shown = Counter(reference for pointer in elided for reference in pointer.references)
    told = {reference for pointer in checkpoint.pointers for reference in pointer.references}
    lost = [reference.item_id for reference in told if shown[reference] != 1]
    return f"elision pointers of {listed(sorted(lost))} are not there once each" if lost else ""


def _log_situations(built: Made) -> Iterator[str]:
    current = current_place(built.log)
    if current:
        yield EARLIER_TURNS
    if any(is_truncated(block) for block in built.blocks):
        yield TRUNCATED
    if built.build.inputs.checkpoint is not None:
        yield OVER_CHECKPOINT
