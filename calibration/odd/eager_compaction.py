"""An engine that gives way early and by much, and whose summaries are extracts.

- A body is estimated at 1.22 times its count, so that compaction is asked for early.
- Once a result must give way, all older results do.
- The summarizer is given a turn at a time, in one part that names every item of it, as JSON.
- Of each answer the first lines are kept. An older summary is always kept, and never given again.
- A pointer of a checkpoint is merged with its neighbours into two at the most.
"""

# ruff: noqa: SLF001 (another composition is made at the seams of the reference, which are its own)

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from contextproof.calibration.odd.grammar import engine
from contextproof.conformance.contract.items import content
from contextproof.conformance.contract.ports import Engine, SummaryPart
from contextproof.conformance.contract.request import ElidedSpan

_MARGIN: Final = (122, 100)
_MOST_POINTERS: Final = 2
_LINES: Final = 3
_SUMMARY_BOUND: Final = 600


def _margin(module: Any) -> None:
    module.MARGIN_NUMERATOR, module.MARGIN_DENOMINATOR = _MARGIN


def _elision(module: Any) -> None:
    usual = module.fewer

    def fewer(pointers: Sequence[ElidedSpan]) -> tuple[ElidedSpan, ...]:
        made: tuple[ElidedSpan, ...] = usual(pointers, _MOST_POINTERS)
        return made

    module.fewer = fewer


def _yielding(module: Any) -> None:
    def all_older(draft: Any) -> Any:
        chosen = [
            entry
            for entry in draft.selection.older_results()
            if module._is_whole(draft, entry) and module._is_worth_truncating(draft, entry)
        ]
        return module.with_pointers(draft, chosen, "pressure")

    module._older_results_truncated = all_older


def _scope(module: Any) -> None:
    def part_of(entry: Any) -> SummaryPart:
        return SummaryPart(item_ids=(entry.item.id,), text=json.dumps([entry.item.type, content(entry.item)]))

    module.part_of = part_of


def _summary(module: Any) -> None:
    usual = module.summarized

    def together(parts: Sequence[SummaryPart]) -> SummaryPart:
        return SummaryPart(
            item_ids=tuple(item_id for part in parts for item_id in part.item_ids),
            text="\n".join(part.text for part in parts),
        )

    def by_turn(model: Any, parts: Sequence[SummaryPart]) -> Iterator[tuple[SummaryPart, ...]]:
        """Each turn's items in one part, those of a turn too large for a call in as many as it takes."""
        turn = 0

        def turn_of(part: SummaryPart) -> int:
            nonlocal turn
            turn += part.text.startswith('["user_message"')
            return turn

        for _, there in groupby(parts, key=turn_of):
            for chunk in chunked(model, tuple(there)):
                one = together(chunk)
                yield (one,) if module.part_tokens(model, one) <= model.limit else chunk

    chunked = module.chunks

    def extracted(model: Any, calls: Any, summarize: Any, max_tokens: int) -> str:
        told: str = usual(model, calls, summarize, max_tokens)
        return "\n".join(told.splitlines()[: _LINES * len(calls)])

    module.chunks = lambda model, parts: tuple(by_turn(model, parts))
    module.summarized = extracted


def _compactor(module: Any) -> None:
    _margin(module)

    def ways(scope: Any) -> Iterator[tuple[str, bool]]:
        """What becomes of the older summary: it stays as it is."""
        yield scope.kept_summary, False

    module._ways = ways


_ENGINE: Final = engine(
    "eager_compaction",
    (
        ("estimator", _margin),
        ("elision", _elision),
        ("scope", _scope),
        ("summary", _summary),
        ("yielding", _yielding),
        ("compactor", _compactor),
    ),
    summary_bound=_SUMMARY_BOUND,
)


def eager_compaction() -> Engine:
    """The eager engine."""
    return _ENGINE
