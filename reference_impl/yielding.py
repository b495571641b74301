"""What gives way, in which order, and for which cause (decision 8).

First the cap on tool results, with or without pressure. Then under pressure: recall, and when none of
it is left, older tool results. Whatever gives way once stays so within the epoch. Truncation goes on
beyond what the moment needs, so that the next is not needed before a tenth of the body has been
added (16.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from contextproof.conformance.contract.caps import POINTER_TOKENS
from contextproof.conformance.contract.events import YieldApplied
from contextproof.conformance.contract.request import Yielded
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.tokenizers import count
from contextproof.reference_impl.draft import (
    Draft,
    class_of,
    pointer_to,
    total_of,
    with_pointers,
    without_last_recall,
)
from contextproof.reference_impl.envelope import quote
from contextproof.reference_impl.log_index import Entry

#: One part in so many of the body is freed beyond need (16.3).
SLACK_DIVISOR: Final = 10


def relieve(draft: Draft) -> Draft:
    """The draft with as much given way as the caps and the limit ask for, short of compaction."""
    draft = _results_within_cap(draft)
    while draft.recall and not draft.fits:
        draft = without_last_recall(draft)
    return draft if draft.fits else _older_results_truncated(draft)


def _slack(draft: Draft) -> int:
    return draft.plan.budget.body_tokens // SLACK_DIVISOR


def _results_within_cap(draft: Draft) -> Draft:
    """Hold the cap on results: older ones first, oldest first, then active ones, largest first.

    A result stands whole or as a pointer, so the pair stays. Older ones give way down to the slack;
    active ones no more than they must.
    """
    cap = draft.plan.budget.tool_results_tokens
    if draft.held <= cap:
        return draft
    older = [e for e in draft.selection.older_results() if e.result_tokens and _is_whole(draft, e)]
    draft = with_pointers(draft, _until(older, draft.held, cap - _slack(draft)), "cap")
    active = sorted(
        (e for e in draft.selection.active_results() if e.result_tokens and _is_whole(draft, e)),
        key=lambda entry: -entry.result_tokens,
    )
    return with_pointers(draft, _until(active, draft.held, cap), "cap")


def _until(entries: Iterable[Entry], held: int, wanted: int) -> list[Entry]:
    """The first entries without which results hold no more than wanted."""
    chosen: list[Entry] = []
    for entry in entries:
        if held <= wanted:
            break
        chosen.append(entry)
        held -= entry.result_tokens
    return chosen


def _is_whole(draft: Draft, entry: Entry) -> bool:
    return entry.item.id not in draft.pointed


def _older_results_truncated(draft: Draft) -> Draft:
    """Older results worth it become pointers, oldest first, until there is slack below the limit."""
    wanted = draft.limit - _slack(draft)
    exact = dict(draft.exact)
    chosen: list[Entry] = []
    for entry in draft.selection.older_results():
        if total_of(draft.plan, exact, draft.ratio) <= wanted:
            break
        if _is_whole(draft, entry) and _is_worth_truncating(draft, entry):
            chosen.append(entry)
            exact[class_of(draft, entry)] += pointer_to(draft, entry).tokens - entry.tokens
    return with_pointers(draft, chosen, "pressure")


def _is_worth_truncating(draft: Draft, entry: Entry) -> bool:
    """Whether a result, as rendered and its source aside, is larger than a pointer may be."""
    tokenizer = draft.plan.opening.model.tokenizer
    without_source = entry.block.text.replace(quote(entry.block.source), '""', 1)
    return count(tokenizer, without_source) > POINTER_TOKENS


def yield_events(context: CallContext, draft: Draft) -> tuple[YieldApplied, ...]:
    """One event for each step and cause, in the order in which they were taken."""

    def kind(gone: Yielded) -> tuple[str, str]:
        return gone.step.value, gone.cause

    return tuple(_event(context, draft, tuple(group)) for _, group in groupby(draft.yielded, kind))


def _event(context: CallContext, draft: Draft, group: tuple[Yielded, ...]) -> YieldApplied:
    return YieldApplied(
        session=context.session,
        epoch=draft.plan.epoch,
        turn=context.turn,
        request=context.request,
        step=group[0].step,
        cause=group[0].cause,
        item_ids=tuple(gone.item_id for gone in group),
    )
