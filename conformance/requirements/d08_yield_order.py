"""Decision 8: what gives way, in which order, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.caps import POINTER_TOKENS
from contextproof.conformance.contract.events import YieldApplied
from contextproof.conformance.contract.items import ToolResult, content
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.measures import tokens_of
from contextproof.conformance.contract.request import Block, YieldStep
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.contract.vocabulary import RECALL, TokenClass
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import BuildRecord, Trace
from contextproof.conformance.requirements.oracles_caps import (
    recall_within_cap,
    results_cap,
)
from contextproof.conformance.requirements.oracles_log import active_pairs, older_results
from contextproof.conformance.requirements.oracles_reading import names_an_original
from contextproof.conformance.requirements.oracles_text import excerpt
from contextproof.conformance.requirements.oracles_views import (
    Made,
    beside,
    known_items,
    log_of,
    made,
    of_type,
    played,
    request_of,
)
from contextproof.conformance.requirements.oracles_yield import (
    IMPURE,
    everything_bound,
    fits_whole,
    gave_way,
    is_truncated,
    new_pointers,
    pointed,
    prefix_tokens,
    results_held,
    side_request,
    told_for,
    verbatim_results,
    worth_truncating,
)
from contextproof.conformance.requirements.registry import MUST, SHOULD, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

NEARLY_PRESSED = "a request that fits, with recall or older results that could yield"
RESULT_GAVE_WAY = "a result that became a pointer under pressure"
COMPACTION_ASKED = "a build that asked for compaction"
A_POINTER = "a truncated result"
SMALLER_YIELDED = "a build that made something yield, beside a roomier one"
SOME_STAND = "an older result that stands while another became a pointer"
OLDER_BY_CAP = "an older result that became a pointer for the cap"
ACTIVE_BY_CAP = "an active result that became a pointer for the cap"


@requirement(
    "CTX-08.1",
    MUST,
    scenarios="pressure",
    witnesses=(NEARLY_PRESSED,),
    cost="The model works with less than there was room for.",
)
def nothing_yields_without_need(trace: Trace) -> Iterator[Judgement]:
    """Nothing gives way first in a request that would fit with nothing more given up.

    Where the same inputs under a large window, by the builder's own itemized estimate, are within
    the small limit and the small caps, the small build makes nothing more yield.
    """
    for pair in beside(trace, "roomy"):
        roomy, answer = side_request(trace, pair), pair.main.answer
        if roomy is None:
            continue
        yield from _nothing_left_out(trace, roomy)
        if not isinstance(answer, a.Built) or not fits_whole(trace, pair, roomy):
            continue
        small = request_of(trace, pair.record, pair.main, answer)
        new = {item_id for _, item_id in gave_way(answer)} | new_pointers(small)
        needless = new - {item_id for _, item_id in gave_way(pair.side.answer)} - new_pointers(roomy)
        could = bool(small.build.inputs.recall) or bool(
            older_results(small.log, small.build.inputs.checkpoint)
        )
        yield judge(
            not needless,
            at=pair.at(min(needless, default=None)),
            seen=f"{listed(sorted(needless))} gave way, and whole the request is estimated at "
            f"{roomy.request.estimate.total} of {small.model.limit} tokens",
            required="nothing more given up, since it fits",
            witnesses=(NEARLY_PRESSED,) if could else (),
            follows=IMPURE,
        )


def _nothing_left_out(trace: Trace, roomy: Made) -> Iterator[Judgement]:
    """In a window that holds everything beyond doubt, recall within its cap is there, and results whole."""
    if everything_bound(trace, roomy.record, roomy.build) > roomy.model.limit:
        return
    before = {entry.item_id for entry in roomy.build.inputs.yielded}
    there = {block.item_id for block in of_type(roomy.blocks, RECALL)} | before
    ranking = recall_within_cap(roomy.build.inputs.recall, roomy.model.tokenizer)
    missing = [item.id for item in ranking if item.id not in there]
    missing += sorted(told_for(roomy, YieldStep.TOOL_RESULT, "pressure"))
    yield judge(
        not missing,
        at=roomy.at(missing[0] if missing else None),
        seen=f"{listed(missing)} gave way in a window of {roomy.model.window} tokens",
        required="all recall within its cap and all results, since everything fits",
    )


@requirement(
    "CTX-08.2",
    MUST,
    scenarios="pressure",
    witnesses=(RESULT_GAVE_WAY, COMPACTION_ASKED),
    cost="A model call on the critical path, and loss for good, where a cheaper step was left.",
)
def cheaper_steps_come_first(trace: Trace) -> Iterator[Judgement]:
    """Recall yields first, then older results, and only then is compaction asked for.

    Under pressure no result becomes a pointer while recall stands. Compaction is not asked for while
    recall stands, or an older result of more than 128 tokens is verbatim.
    """
    for index, build in trace.builds("main", "retry"):
        answer = build.answer
        if isinstance(answer, a.Built):
            small = request_of(trace, index, build, answer)
            early = told_for(small, YieldStep.TOOL_RESULT, "pressure")
            recall = [block.item_id or "" for block in of_type(small.blocks, RECALL)]
            if early:
                yield judge(
                    not recall,
                    at=small.at(min(early)),
                    seen=f"result {listed(sorted(early))} became a pointer while recall "
                    f"{listed(recall)} stands",
                    required="recall yields before any result",
                    witnesses=(RESULT_GAVE_WAY,),
                )
        elif isinstance(answer, a.CompactionNeeded):
            left = _left_standing(trace, build, answer)
            yield judge(
                not left,
                at=at(index, build.context),
                seen=f"compaction is asked for while {left}",
                required="recall and older results yield before compaction is asked for",
                witnesses=(COMPACTION_ASKED,),
            )


def _left_standing(trace: Trace, build: BuildRecord, answer: a.CompactionNeeded) -> str:
    """What could still have yielded when compaction was asked for."""
    recall = answer.estimate.of(TokenClass.RECALL)
    if recall:
        return f"recall of {recall} tokens stands"
    gone = {entry.item_id for entry in (*build.inputs.yielded, *answer.yielded)}
    tokenizer = build.context.model.tokenizer
    older = [
        item
        for item in older_results(log_of(trace, build), build.inputs.checkpoint)
        if item.id not in gone and worth_truncating(tokenizer, item)
    ]
    tokens = tokens_of(tokenizer, older)
    return f"results {listed(item.id for item in older)} ({tokens} tokens) are verbatim" if older else ""


@requirement(
    "CTX-08.4",
    MUST,
    scenarios="pressure",
    witnesses=(A_POINTER,),
    cost="What was cut cannot be found again, or the pointer costs as much as the page.",
)
def truncated_result_is_a_pointer(trace: Trace) -> Iterator[Judgement]:
    """A truncated result is a typed pointer in the result of the same call.

    It names the result by its id, tells its size, holds at most 128 tokens beside excerpt, source and
    reference, and any excerpt is the verbatim beginning. Only ok and error results are truncated.
    """
    for built in made(trace, "main", "retry", "roomy"):
        items = known_items(trace, built)
        for block in built.blocks:
            if is_truncated(block):
                item = items.get(("tool_result", block.item_id or ""))
                problem = _bad_pointer(trace.manifest, built, block, item)
                yield judge(
                    not problem,
                    at=built.at(block.item_id),
                    seen=problem,
                    required="a typed pointer to that very result, of at most 128 tokens",
                    witnesses=(A_POINTER,),
                )


def _bad_pointer(manifest: Manifest, built: Made, block: Block, item: object) -> str:
    pointer = block.pointer
    assert pointer is not None
    if not isinstance(item, ToolResult):
        return f"{block.type} {quoted(block.item_id or '')} is a truncation pointer of no result"
    if not item.can_truncate:
        return f"a result of status {item.status} is truncated"
    if (block.call_id, block.status) != (item.call_id, item.status):
        return f"the pointer answers call {quoted(block.call_id or '')} as {block.status}"
    original = content(item).encode()
    if any(r.item_id != item.id or (r.end or 0) > len(original) for r in pointer.references):
        return f"its reference names {listed(r.item_id for r in pointer.references)}"
    if not names_an_original(block, manifest):
        return f"{quoted(item.id)} cannot be read where it is said to be named"
    shown = excerpt(manifest, block)
    if shown is not None and not content(item).startswith(shown):
        return f"its excerpt is no beginning of the result: {quoted(shown)}"
    pointed_at = sum((len(original) if r.end is None else r.end) - (r.start or 0) for r in pointer.references)
    if pointer.size not in (len(original), pointed_at, len(original) - len((shown or "").encode())):
        return f"it tells a size of {pointer.size} bytes; the result has {len(original)}"
    tokens = count(built.model.tokenizer, _bare(block))
    return f"it takes {tokens} tokens beside excerpt, source and reference" if tokens > POINTER_TOKENS else ""


def _bare(block: Block) -> str:
    """A pointer's text without excerpt, source and reference."""
    assert block.pointer is not None
    cut = [block.pointer.reference, block.pointer.excerpt]
    cut += [block.envelope.source] if block.envelope is not None else []
    data, kept, place = block.text.encode(), b"", 0
    for extent in sorted((e for e in cut if e is not None), key=lambda e: e.start):
        kept += data[place : extent.start]
        place = max(place, extent.end)
    return (kept + data[place:]).decode(errors="replace")


@requirement(
    "CTX-08.6",
    SHOULD,
    scenarios="pressure",
    witnesses=(SMALLER_YIELDED,),
    cost="Paying for a larger window buys a worse answer.",
)
def larger_window_never_yields_more(trace: Trace) -> Iterator[Judgement]:
    """The same inputs under a larger window never give up more."""
    for pair in beside(trace, "roomy"):
        small, large = pair.main.answer, pair.side.answer
        if not isinstance(small, a.Built | a.CompactionNeeded):
            continue
        more = {item_id for _, item_id in gave_way(large) - gave_way(small)}
        refused = isinstance(small, a.Built) and not isinstance(large, a.Built)
        windows = pair.main.context.model.window, pair.side.context.model.window
        yield judge(
            not more and not refused,
            at=pair.at(min(more, default=None)),
            seen=f"a window of {windows[1]} is answered {large.answer.replace('_', ' ')}"
            if refused
            else f"{listed(sorted(more))} gave way only in the window of {windows[1]}",
            required=f"no more given up than in the window of {windows[0]}",
            witnesses=(SMALLER_YIELDED,) if gave_way(small) else (),
            follows=IMPURE,
        )


@requirement(
    "CTX-08.7",
    SHOULD,
    scenarios="pressure",
    witnesses=(SOME_STAND,),
    optional=(SOME_STAND,),
    cost="The model loses what it just read and keeps what it no longer needs.",
)
def oldest_results_yield_first(trace: Trace) -> Iterator[Judgement]:
    """Under pressure the oldest results become pointers first."""
    for built in played(trace):
        gone = told_for(built, YieldStep.TOOL_RESULT, "pressure")
        if not gone:
            continue
        order = {item.id: n for n, item in enumerate(built.log)}
        latest = max(order.get(item_id, -1) for item_id in gone)
        active = {item.id for item in active_pairs(built.log)}
        kept = [
            item
            for item in verbatim_results(built)
            if item.id not in active and worth_truncating(built.model.tokenizer, item)
        ]
        skipped = [item.id for item in kept if order[item.id] < latest]
        yield judge(
            not skipped,
            at=built.at(skipped[0] if skipped else None),
            seen=f"{listed(skipped)} stands, and {quoted(built.log[latest].id)}, which is later, "
            "became a pointer",
            required="the oldest results first",
            witnesses=(SOME_STAND,) if kept else (),
        )


@requirement(
    "CTX-08.10",
    MUST,
    scenarios="pressure",
    witnesses=(OLDER_BY_CAP, ACTIVE_BY_CAP),
    cost="One page read crowds out the conversation, or ends the run for good.",
)
def cap_on_results_yields_in_order(trace: Trace) -> Iterator[Judgement]:
    """For the cap on tool results, older ones become pointers first, then active ones by size.

    That happens with or without pressure; the events say that the cause is the cap. Only a class
    over its cap is such a cause.
    """
    for built in played(trace):
        gone = told_for(built, YieldStep.TOOL_RESULT, "cap")
        if gone:
            active = {item.id for item in active_pairs(built.log)}
            problem = _badly_capped(trace, built, gone, active)
            yield judge(
                not problem,
                at=built.at(min(gone)),
                seen=problem,
                required="older results first, then active ones, largest first, told as for the cap",
                # Results that were dropped are not counted, and may have been what was over.
                follows=("CTX-08.8",),
                witnesses=(
                    *((OLDER_BY_CAP,) if gone - active else ()),
                    *((ACTIVE_BY_CAP,) if gone & active else ()),
                ),
            )
        elif new_pointers(built):
            yield from _pressed_truly(trace, built)


def _badly_capped(trace: Trace, built: Made, gone: set[str], active: set[str]) -> str:
    tokenizer, whole = built.model.tokenizer, verbatim_results(built)
    by_id = {item.id: item for item in built.log if isinstance(item, ToolResult)}
    given_up = [by_id[item_id] for item_id in sorted(gone) if item_id in by_id]
    cap = results_cap(built.model, prefix_tokens(trace, built.build))
    # What pressure took in the same request was held before it, as what the cap took was.
    yielded = built.build.answer.yielded if isinstance(built.build.answer, a.Built) else ()
    taken = {one.item_id for one in yielded if one.step is YieldStep.TOOL_RESULT}
    taken_by_any = [by_id[item_id] for item_id in sorted(taken | gone) if item_id in by_id]
    before = results_held(trace.manifest, built) + tokens_of(tokenizer, taken_by_any)
    older = [i.id for i in whole if i.id not in active and worth_truncating(tokenizer, i)]
    if before <= cap:
        return f"{listed(sorted(gone))} gave way for the cap; results held {before} of {cap} tokens"
    if gone & active and older:
        return f"active {listed(sorted(gone & active))} gave way while older {listed(older)} stand"
    kept_active = [item for item in whole if item.id in active]
    given_up_active = [item for item in given_up if item.id in active]
    problem = _smaller_first(tokenizer, given_up_active, kept_active)
    silent = gone - _told_by_events(built)
    return problem or (f"no event tells that {listed(sorted(silent))} gave way for it" if silent else "")


def _smaller_first(tokenizer: TokenizerName, gone: Sequence[ToolResult], kept: Sequence[ToolResult]) -> str:
    """A result that gave way before a larger one; larger by tokens and bytes, as either may rank."""
    for smaller in gone:
        for larger in kept:
            tokens = [count(tokenizer, item.text) for item in (smaller, larger)]
            sizes = [len(item.text.encode()) for item in (smaller, larger)]
            if tokens[0] < tokens[1] and sizes[0] < sizes[1]:
                return f"an active result of {tokens[0]} tokens gave way before one of {tokens[1]}"
    return ""


def _told_by_events(built: Made) -> set[str]:
    """Results that the build's events say gave way for the cap."""
    return {
        item_id
        for event in built.build.answer.events
        if isinstance(event, YieldApplied) and event.step is YieldStep.TOOL_RESULT
        for item_id in event.item_ids
        if event.cause == "cap"
    }


def _pressed_truly(trace: Trace, built: Made) -> Iterator[Judgement]:
    """What gave way under pressure in a request that would have fitted whole gave way for the cap."""
    for pair in beside(trace, "roomy"):
        if pair.record != built.record:
            continue
        roomy = side_request(trace, pair)
        if roomy is None or new_pointers(roomy) or not pointed(built.blocks):
            return
        cap = results_cap(built.model, prefix_tokens(trace, built.build))
        fits = roomy.request.estimate.total <= built.model.limit
        fits = fits and results_held(trace.manifest, roomy) > cap
        new = sorted(told_for(built, YieldStep.TOOL_RESULT, "pressure"))
        yield judge(
            not (fits and new),
            at=built.at(new[0] if new else None),
            seen=f"{listed(new)} gave way under pressure in a request that fits whole, for its cap",
            required="cause cap, where there is no pressure",
            follows=IMPURE,
        )
