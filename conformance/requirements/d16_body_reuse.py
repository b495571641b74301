"""Body reuse: what of a request's body a provider's cache finds again in the next one.

Ours, and all SHOULD: with one prefix and the classes that vary before history, a long session still
pays for most of its input again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.caps import POINTER_TOKENS
from contextproof.conformance.contract.items import Message, content
from contextproof.conformance.contract.request import Block, YieldStep
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import (
    CHECKPOINT,
    ENVIRONMENT,
    MEMORY_CORRECTION,
    RECALL,
    WORKING_STATE,
    Slot,
)
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import CompactRecord, Sent, Trace, body_count, tokens
from contextproof.conformance.requirements.oracles_log import (
    never_covered,
    older_results,
    standing,
)
from contextproof.conformance.requirements.registry import SHOULD, requirement
from contextproof.conformance.requirements.telling import at, listed

SAME_HISTORY = "history in two requests of an epoch"

ACTIVE_THEN_HISTORY = "an item rendered as active and later as history"
WITH_MORE_ROOM = "an item rendered under another window too"

YIELDED_AGAIN = "a second truncation or compaction in an epoch"

VARYING_CLASSES = "working state, corrections, recall or environment beside history"

_VARYING = (WORKING_STATE, MEMORY_CORRECTION, RECALL, ENVIRONMENT)
#: Yields are amortized over a tenth of the body (16.3).
_TENTH = 10


@requirement(
    "CTX-16.1",
    SHOULD,
    scenarios="pressure",
    witnesses=(SAME_HISTORY,),
    cost="The cached part of the body ends where history was moved or rewritten.",
)
def history_stays_where_it_was(trace: Trace) -> Iterator[Judgement]:
    """Within an epoch, blocks that were history in two successive requests keep bytes and order.

    Between them nothing was truncated and nothing compacted. A pointer may lose its excerpt or have it again.
    """
    for earlier, later in pairwise(trace.sent):
        if not _undisturbed(earlier, later):
            continue
        before, after = _history(earlier), _history(later)
        common = [name for name in before if name in after]
        altered = [name for name in common if _is_altered(before[name], after[name])]
        moved = [name for name in after if name in before] != common
        yield judge(
            not altered and not moved,
            at=at(later.record, later.build.context, altered[0] if altered else None),
            seen=f"since the request before, other bytes: {listed(altered)}"
            + ("; the order has changed" if moved else ""),
            required="the same bytes in the same order",
            witnesses=(SAME_HISTORY,) if common else (),
        )


def _undisturbed(earlier: Sent, later: Sent) -> bool:
    answer = later.build.answer
    yields = answer.yielded if isinstance(answer, a.Built) else ()
    return (
        earlier.request.epoch == later.request.epoch
        and earlier.build.inputs.checkpoint == later.build.inputs.checkpoint
        and not any(entry.step is YieldStep.TOOL_RESULT for entry in yields)
    )


def _history(sent: Sent) -> dict[str, Block]:
    blocks = (block for block in sent.request.blocks if block.slot is Slot.HISTORY)
    return {block.item_id or "": block for block in blocks}


def _is_altered(before: Block, after: Block) -> bool:
    """Whether bytes changed otherwise than by an excerpt that a pointer lost or has again."""
    pointers = before.pointer is not None and after.pointer is not None
    excerpt_alone = pointers and _has_excerpt(before) != _has_excerpt(after)
    return before.text != after.text and not excerpt_alone


def _has_excerpt(block: Block) -> bool:
    return block.pointer is not None and block.pointer.excerpt is not None


@requirement(
    "CTX-16.2",
    SHOULD,
    scenarios="pressure",
    witnesses=(ACTIVE_THEN_HISTORY, WITH_MORE_ROOM),
    cost="An old item changes when a new one comes, and everything behind it is billed again.",
)
def rendering_depends_on_the_item(trace: Trace) -> Iterator[Judgement]:
    """In an epoch an item has one rendering, and one as its pointer, with an excerpt and without.

    None depends on what came later, on its slot, or on the room that is left.
    """
    first: dict[tuple[int, str, bool, bool], str] = {}
    forms: dict[tuple[int, str], set[object]] = {}
    for index, build in trace.builds("main", "retry", "roomy"):
        if not isinstance(build.answer, a.Built):
            continue
        request = build.answer.request
        for block in request.blocks:
            if block.slot is None or block.item_id is None:
                continue
            whole = block.pointer is None
            seen = forms.setdefault((request.epoch, block.item_id), set())
            seen |= {block.slot, build.context.model.window}
            form = request.epoch, block.item_id, whole, _has_excerpt(block)
            known = first.setdefault(form, block.text)
            yield judge(
                block.text == known,
                at=at(index, build.context, block.item_id),
                seen=f"its {'rendering' if whole else 'pointer'} is another than before",
                required="the same bytes in every request of the epoch",
                witnesses=_forms(seen),
            )


def _forms(seen: set[object]) -> Iterator[str]:
    slots = {form for form in seen if isinstance(form, Slot)}
    if slots >= {Slot.ACTIVE, Slot.HISTORY}:
        yield ACTIVE_THEN_HISTORY
    if len(seen) - len(slots) > 1:
        yield WITH_MORE_ROOM


@requirement(
    "CTX-16.3",
    SHOULD,
    scenarios="pressure",
    witnesses=(YIELDED_AGAIN,),
    optional=(YIELDED_AGAIN,),
    cost="Every request edits one old item more, and the cache is never warm again.",
)
def yields_are_amortized(trace: Trace) -> Iterator[Judgement]:
    """After a truncation or compaction, the next is not needed before a tenth of the body was added.

    What was added is weighed as the engine estimates. Not judged where the earlier one had nothing
    more to give, or where responses since have raised what the same body is estimated at.
    """
    latest: Sent | None = None
    was_compacted = False
    for earlier, later in _with_previous(trace.sent):
        if latest is not None and latest.request.epoch != later.request.epoch:
            latest = None
        compacted = _compacted_for(trace, earlier, later)
        if not compacted and not _truncated_for(later):
            continue
        if (
            latest is not None
            and _had_more_to_give(trace, latest, compacted=was_compacted)
            and not _is_estimated_higher(latest, later)
        ):
            body = later.build.context.model.limit - later.plan.prefix_tokens
            added = _as_estimated(later, _added(trace, latest, later))
            yield judge(
                _TENTH * added >= body,
                at=at(later.record, later.build.context),
                seen=f"something gave way again after {added} tokens were added, of a body of {body}",
                required="at least a tenth of the body in between",
                witnesses=(YIELDED_AGAIN,),
            )
        latest, was_compacted = later, compacted


def _is_estimated_higher(earlier: Sent, later: Sent) -> bool:
    """Whether the estimate of a body grew by more than a twentieth of it, against its count."""
    counts = [max(1, body_count(sent.build.context, sent.request)) for sent in (earlier, later)]
    estimates = [sent.request.estimate.body_tokens for sent in (earlier, later)]
    return 20 * estimates[1] * counts[0] > 21 * estimates[0] * counts[1]


def _as_estimated(sent: Sent, added: int) -> int:
    """Tokens counted, as this request's estimate of its body has them."""
    counted = max(1, body_count(sent.build.context, sent.request))
    return added * sent.request.estimate.body_tokens // counted


def _with_previous(sent: Sequence[Sent]) -> Iterator[tuple[Sent | None, Sent]]:
    previous: Sent | None = None
    for request in sent:
        yield previous, request
        previous = request


def _truncated_for(sent: Sent) -> bool:
    """Whether pressure truncated results for a request."""
    answer = sent.build.answer
    return isinstance(answer, a.Built) and any(
        entry.step is YieldStep.TOOL_RESULT and entry.cause == "pressure" for entry in answer.yielded
    )


def _compacted_for(trace: Trace, earlier: Sent | None, later: Sent) -> bool:
    """Whether a request asked for compaction and got it."""
    since = earlier.record if earlier is not None else 0
    return any(
        isinstance(record, CompactRecord) and not record.forced and isinstance(record.answer, a.Compacted)
        for record in trace.records[since : later.record]
    )


def _had_more_to_give(trace: Trace, sent: Sent, *, compacted: bool) -> bool:
    """Whether a tenth of the body was left that could have gone too.

    After a compaction that is all that it might have covered, else older results beyond a pointer's
    size.
    """
    log, checkpoint = trace.log[: sent.build.inputs.log_length], sent.build.inputs.checkpoint
    context = sent.build.context
    if compacted:
        barred = never_covered(log)
        more = {item.id for item in standing(log, checkpoint) if item.id not in barred}
    else:
        more = {item.id for item in older_results(log, checkpoint)}
    left = sum(
        max(0, tokens(context, block.text) - (0 if compacted else POINTER_TOKENS))
        for block in sent.request.blocks
        if block.slot is not None and block.item_id in more and block.pointer is None
    )
    return _TENTH * left >= context.model.limit - sent.plan.prefix_tokens


def _added(trace: Trace, earlier: Sent, later: Sent) -> int:
    """Tokens that the body gained: messages that are new in the log, and growth of the other classes."""
    context = later.build.context
    start, end = earlier.build.inputs.log_length, later.build.inputs.log_length
    rendered = {block.item_id: block.text for block in later.request.blocks if block.pointer is None}
    new = [item for item in trace.log[start:end] if isinstance(item, Message)]
    messages = sum(_cost(context, rendered.get(item.id, content(item))) for item in new)
    growth = _standing(context, later.request.blocks) - _standing(
        earlier.build.context, earlier.request.blocks
    )
    return messages + max(0, growth)


def _standing(context: CallContext, blocks: Sequence[Block]) -> int:
    kinds = (*_VARYING, CHECKPOINT)
    return sum(_cost(context, block.text) for block in blocks if block.type in kinds)


def _cost(context: CallContext, text: str) -> int:
    return tokens(context, text) + context.model.overhead_per_block


@requirement(
    "CTX-16.4",
    SHOULD,
    scenarios="sessions",
    witnesses=(VARYING_CLASSES,),
    cost="What changes every request stands before what never does, and history is never cached.",
)
def varying_classes_stand_behind_history(trace: Trace) -> Iterator[Judgement]:
    """Working state, corrections, recall and environment stand behind all history."""
    for sent in trace.sent:
        blocks = sent.request.blocks
        history = [n for n, block in enumerate(blocks) if block.slot is Slot.HISTORY]
        before = [block.type for block in blocks[: history[-1] if history else 0] if block.type in _VARYING]
        beside = bool(history) and any(block.type in _VARYING for block in blocks)
        yield judge(
            not before,
            at=at(sent.record, sent.build.context),
            seen=f"before the end of history: {listed(before)}",
            required="all of them behind history",
            witnesses=(VARYING_CLASSES,) if beside else (),
        )
