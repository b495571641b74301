"""An engine that compacts as little of history as makes a request fit with a tenth of the body to spare.

A checkpoint covers whole turns, or pairs of a turn, from the oldest on, and leaves the rest verbatim.
Its summaries are abstracts: the older one is given to the summarizer again as long as depth allows, and
kept after that. A summary is short, and a summarizer that did not deliver is asked once more.
"""

# ruff: noqa: SLF001 (another composition is made at the seams of the reference, which are its own)

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Final

from contextproof.calibration.odd.grammar import engine
from contextproof.conformance.contract.caps import MAX_SUMMARY_DEPTH
from contextproof.conformance.contract.ports import Engine, Summarize, SummarizerError, Summary, SummaryPart
from contextproof.conformance.contract.vocabulary import TokenClass

_SUMMARY_BOUND: Final = 400
#: One part in so many of the body is free after a compaction: a little more than 16.3 asks for.
_SPARE_DIVISOR: Final = 8
#: A compaction that was ordered covers at least one part in so many of what it could.
_ORDERED_DIVISOR: Final = 3


def _cost(draft: Any, entry: Any) -> int:
    """What a standing message costs in a draft, whole or as its pointer."""
    pointed = draft.pointed.get(entry.item.id)
    tokens: int = pointed.tokens if pointed is not None else entry.tokens
    return tokens


def _spare(draft: Any) -> int:
    spare: int = draft.plan.budget.body_tokens // _SPARE_DIVISOR
    return spare


def _is_active(draft: Any, entry: Any) -> bool:
    current = draft.selection.current
    return current is not None and entry.position > current.position


def _scope(module: Any) -> None:
    def left_by(scope: Any, checkpoint: int) -> Mapping[TokenClass, int]:
        """Tokens by class once a checkpoint covers what a scope covers, which may not be all."""
        left = {**scope.draft.exact, TokenClass.CHECKPOINT: checkpoint}
        for entry in scope.covered:
            name = TokenClass.ACTIVE if _is_active(scope.draft, entry) else TokenClass.HISTORY
            left[name] -= _cost(scope.draft, entry)
        left.pop(TokenClass.RECALL, None)
        return {name: tokens for name, tokens in left.items() if tokens}

    def fits_with(scope: Any, checkpoint: int) -> bool:
        """Whether a request fits with room to spare; without, where there is nothing more to cover."""
        draft = scope.draft
        is_all = len(scope.covered) == len(tuple(draft.selection.compactable()))
        spare = 0 if is_all else _spare(draft)
        return bool(
            module.total_of(draft.plan, left_by(scope, checkpoint), draft.ratio) <= draft.limit - spare
        )

    module.left_by, module.fits_with = left_by, fits_with
    module.narrowed = lambda scope, length: _narrowed(module, scope, length)


def _narrowed(module: Any, scope: Any, length: int) -> Any:
    """The same scope, covering its first entries alone."""
    covered = scope.covered[:length]
    names = {entry.item.id for entry in covered}
    told = tuple(part for part in scope.parts if part.item_ids[0] in names)
    given = {part.item_ids[0] for part in told}
    new = module.spans(covered, lambda entry: entry.item.id not in given)
    older = scope.old.pointers if scope.old is not None else ()
    return replace(
        scope,
        covered=covered,
        parts=told,
        pointers=module.fewer((*older, *new)),
        elided_bytes=sum(span.size for span in new),
    )


def _cuts(scope: Any) -> Iterator[int]:
    """Where a scope may end, the shortest first: between units, and not before what was covered."""
    covers = scope.old.covers if scope.old is not None else 0
    entries = scope.covered
    for n in range(1, len(entries)):
        if entries[n].position >= covers and entries[n].unit != entries[n - 1].unit:
            yield n
    if entries:
        yield len(entries)


def _summary(module: Any) -> None:
    usual = module.summarized

    def patient(summarize: Summarize) -> Summarize:
        def asked(parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
            try:
                summary = summarize(parts, max_tokens)
            except SummarizerError:
                return summarize(parts, max_tokens)
            has_delivered = summary.complete and summary.text.strip()
            return summary if has_delivered else summarize(parts, max_tokens)

        return asked

    module.summarized = lambda model, calls, summarize, most: usual(model, calls, patient(summarize), most)


def _compactor(module: Any) -> None:
    all_of, designs = module.scope_of, module._designs
    narrowed = importlib.import_module("contextproof.reference_impl.scope").narrowed

    def gives(scope: Any, *, is_needed: bool) -> Iterator[Any]:
        draft = scope.draft
        covered = sum(_cost(draft, entry) for entry in scope.covered)
        before = draft.exact.get(TokenClass.CHECKPOINT, 0) + covered
        yield from designs(scope, before, is_needed=is_needed)

    def scope_of(draft: Any, old: Any) -> Any:
        """The least that leaves a design with room for some summary, or all."""
        everything = all_of(draft, old)
        freed = (0, *accumulate(_cost(draft, entry) for entry in everything.covered))
        enough = len(everything.covered) // _ORDERED_DIVISOR if draft.fits else 0
        lacking = draft.total - draft.limit + _spare(draft)
        for length in _cuts(everything):
            if freed[length] < lacking or length < enough:
                continue
            scope = narrowed(everything, length)
            design = next(gives(scope, is_needed=not draft.fits), None)
            least = design and module._base_tokens(scope, design) + _SUMMARY_BOUND // 4
            if least is not None and module.fits_with(scope, least):
                return scope
        return everything

    def ways(scope: Any) -> Iterator[tuple[str, bool]]:
        """An older summary is given again while depth allows, and else kept."""
        kept, draft = scope.kept_summary, scope.draft
        model = draft.plan.opening.model
        can_give = bool(kept.strip()) and module.part_tokens(model, module._kept_part(scope)) <= draft.limit
        is_shallow = scope.old is None or scope.old.depth < MAX_SUMMARY_DEPTH
        if can_give and is_shallow:
            yield "", True
        if module._summary_tokens(draft, kept) <= module._bound(draft):
            yield kept, False
        if can_give and not is_shallow:
            yield "", True

    module.scope_of, module._ways = scope_of, ways
    module._designs = lambda scope, _, *, is_needed: gives(scope, is_needed=is_needed)


_ENGINE: Final = engine(
    "lazy_compaction",
    (("scope", _scope), ("summary", _summary), ("compactor", _compactor)),
    summary_bound=_SUMMARY_BOUND,
)


def lazy_compaction() -> Engine:
    """The lazy engine."""
    return _ENGINE
