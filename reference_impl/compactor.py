"""Compaction: a write, of region B only, that elides what it may not paraphrase (decision 12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contextproof.conformance.contract.answers import (
    CompactAnswer,
    Compacted,
    CompactionFailed,
    Escalated,
    InvalidKind,
    NothingToGain,
)
from contextproof.conformance.contract.caps import (
    MARGIN_DENOMINATOR,
    MARGIN_NUMERATOR,
    MAX_SUMMARY_DEPTH,
    SUMMARY_DIVISOR,
)
from contextproof.conformance.contract.events import CompactionCompleted, CompactionEscalated
from contextproof.conformance.contract.plan import BuildInputs, Checkpoint, Plan
from contextproof.conformance.contract.ports import Summarize, SummaryPart
from contextproof.conformance.contract.request import ElidedSpan
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.reference_impl.draft import Draft, draft_request, total_of
from contextproof.reference_impl.estimator import ONE
from contextproof.reference_impl.log_index import LogIndex, index_log
from contextproof.reference_impl.scope import (
    Scope,
    checkpoint_tokens,
    fits_with,
    left_active,
    left_by,
    part_tokens,
    scope_of,
)
from contextproof.reference_impl.summary import SummaryFailed, chunks, leading, summarized
from contextproof.reference_impl.yielding import relieve

#: The most tokens of a rendered summary.
SUMMARY_BOUND: Final = 1_000
#: A compaction that was ordered, not needed, must give back at least this many tokens.
_WORTH_ORDERING: Final = 64
#: A summary may take one part in so many of what its compaction gives back.
_SUMMARY_SHARE: Final = 2
#: An older summary is kept word for word while it takes no more than one part in so many of the bound.
_KEPT_SHARE: Final = 2

_HISTORY: Final = (TokenClass.CHECKPOINT, TokenClass.HISTORY)


@dataclass(frozen=True)
class Design:
    """One way to write the next checkpoint.

    ``base`` is the older summary where it is kept verbatim, else empty; ``given`` where it goes to
    the summarizer again. ``gain`` is what history loses before anything new is told. Tokens.
    """

    base: str
    given: bool
    pointers: tuple[ElidedSpan, ...]
    gain: int


def compact(context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize) -> CompactAnswer:
    """Cover all of the log but the current message and the active pairs with a new checkpoint."""
    index = index_log(plan.opening, inputs.log)
    trouble = _trouble(index)
    if trouble is not None:
        return trouble
    before = draft_request(plan, inputs, index)
    draft = relieve(before)
    scope = scope_of(draft, inputs.checkpoint)
    design = next(_designs(scope, _history_tokens(before), is_needed=not draft.fits), None)
    if design is None:
        return NothingToGain()
    if _depth(scope, design) > MAX_SUMMARY_DEPTH:
        return _escalated(context, plan)
    try:
        summary = _summary(scope, design, summarize)
    except SummaryFailed as failure:
        return CompactionFailed(reason=str(failure))
    checkpoint = _checkpoint(scope, design, summary, inputs)
    event = CompactionCompleted(
        session=plan.session,
        epoch=plan.epoch,
        turn=context.turn,
        request=context.request,
        checkpoint_id=checkpoint.id,
        depth=checkpoint.depth,
        covers=checkpoint.covers,
        elided_bytes=scope.elided_bytes,
    )
    return Compacted(checkpoint=checkpoint, events=(event,))


def _trouble(index: LogIndex) -> CompactionFailed | None:
    """Why a log cannot be compacted. An open call is no reason: its unit is left alone."""
    torn = index.torn
    if torn is None and index.turns:
        latest = index.turns[-1].problem
        is_open_call = latest is not None and latest.kind is InvalidKind.UNANSWERED_CALL
        torn = None if is_open_call else latest
    if index.undeclared is not None:
        return CompactionFailed(reason=f"nothing declares the type {index.undeclared!r}")
    if torn is not None:
        return CompactionFailed(reason=f"{torn.subject!r} {torn.detail}")
    return None


def _designs(scope: Scope, before: int, *, is_needed: bool) -> Iterator[Design]:
    """Every way that fits and takes less than the ``before`` tokens of history, best first.

    An older summary is rather kept than summarized again, and pointers rather kept than merged. With
    nothing new to cover there is a way only where a request does not fit.
    """
    if not scope.covered and not is_needed:
        return
    worth = 1 if is_needed else _WORTH_ORDERING
    for base, given in _ways(scope):
        for pointers in (scope.pointers, scope.all_in_one):
            tokens = checkpoint_tokens(scope.draft, base, pointers)
            if before - tokens >= worth and fits_with(scope, tokens):
                yield Design(base, given, pointers, gain=before - tokens)


def _ways(scope: Scope) -> Iterator[tuple[str, bool]]:
    """What becomes of the older summary: the text kept, and whether it is given again."""
    kept, draft = scope.kept_summary, scope.draft
    has_room = _summary_tokens(draft, kept) * _KEPT_SHARE <= _bound(draft)
    if has_room or not scope.parts or not kept.strip():
        yield kept, False
    if kept.strip() and part_tokens(draft.plan.opening.model, _kept_part(scope)) <= draft.limit:
        yield "", True


def _kept_part(scope: Scope) -> SummaryPart:
    assert scope.old is not None
    return SummaryPart(item_ids=(scope.old.id,), text=f"earlier summary:\n{scope.old.summary}")


def _history_tokens(draft: Draft) -> int:
    """Checkpoint, earlier turns, and all of this turn but its message and the active pairs."""
    older = sum(draft.exact.get(name, 0) for name in _HISTORY)
    active = draft.exact.get(TokenClass.ACTIVE, 0)
    return older + active - left_active(draft)


def _bound(draft: Draft) -> int:
    """The most tokens of a rendered summary (12.9)."""
    return min(SUMMARY_BOUND, draft.plan.budget.body_tokens // SUMMARY_DIVISOR)


def _summary_tokens(draft: Draft, summary: str) -> int:
    return checkpoint_tokens(draft, summary, ())


def _depth(scope: Scope, design: Design) -> int:
    """How many summaries would lie on one another (12.5)."""
    older = scope.old.depth if scope.old is not None else 0
    if design.given:
        return older + 1
    return max(older, 1) if scope.parts else older


def _summary(scope: Scope, design: Design, summarize: Summarize) -> str:
    """The new summary: what is kept of the older one, and what the summarizer tells of the rest.

    Cut where it is longer than its bound, its share of the gain, or what the limit leaves. Raises
    SummaryFailed.
    """
    parts = (_kept_part(scope), *scope.parts) if design.given else scope.parts
    if not parts:
        return design.base
    model = scope.draft.plan.opening.model
    told = summarized(model, chunks(model, parts), summarize, _wanted(scope, design))
    most = _base_tokens(scope, design) + design.gain // _SUMMARY_SHARE

    def fits(text: str) -> bool:
        summary = _joined(design.base, text)
        tokens = checkpoint_tokens(scope.draft, summary, design.pointers)
        is_bounded = _summary_tokens(scope.draft, summary) <= _bound(scope.draft)
        return is_bounded and tokens <= most and fits_with(scope, tokens)

    return _joined(design.base, leading(told, fits))


def _joined(base: str, text: str) -> str:
    return f"{base}\n\n{text}" if base and text else base or text


def _base_tokens(scope: Scope, design: Design) -> int:
    return checkpoint_tokens(scope.draft, design.base, design.pointers)


def _wanted(scope: Scope, design: Design) -> int:
    """Tokens the summarizer is asked for: the least of its bound, its share, and what fits."""
    draft = scope.draft
    left = left_by(scope, _base_tokens(scope, design))
    spare = draft.limit - total_of(draft.plan, left, draft.ratio)
    by_limit = spare * MARGIN_DENOMINATOR * ONE // (MARGIN_NUMERATOR * draft.ratio)
    by_bound = _bound(draft) - _summary_tokens(draft, design.base)
    return max(1, min(by_limit, by_bound, design.gain // _SUMMARY_SHARE))


def _checkpoint(scope: Scope, design: Design, summary: str, inputs: BuildInputs) -> Checkpoint:
    old, selection = scope.old, scope.draft.selection
    covers = max(
        old.covers if old is not None else 0,
        scope.covered[-1].position + 1 if scope.covered else 0,
    )
    current = (selection.current,) if selection.current is not None else ()
    standing = (*current, *selection.kept())
    told = tuple(item_id for part in scope.parts for item_id in part.item_ids)
    return Checkpoint(
        id=inputs.live.ids[0],
        summary=summary,
        depth=_depth(scope, design),
        covers=covers,
        passed_over=tuple(entry.item.id for entry in standing if entry.position < covers),
        summarized=(*(old.summarized if old is not None else ()), *told),
        pointers=design.pointers,
    )


def _escalated(context: CallContext, plan: Plan) -> Escalated:
    event = CompactionEscalated(
        session=plan.session,
        epoch=plan.epoch,
        turn=context.turn,
        request=context.request,
        depth=MAX_SUMMARY_DEPTH,
    )
    reason = "a summary of a summary of a summary cannot be verified; go on in a child run"
    return Escalated(reason=reason, events=(event,))
