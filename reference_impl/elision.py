"""Elision pointers: what stands in for spans that nobody may paraphrase (decision 12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final

from contextproof.conformance.contract.items import content
from contextproof.conformance.contract.request import ElidedSpan, Reference
from contextproof.conformance.contract.vocabulary import Trust, lowest
from contextproof.reference_impl.log_index import Entry

#: A checkpoint carries at most so many pointers; older ones are merged.
MAX_POINTERS: Final = 8


def spans(entries: Iterable[Entry], is_elided: Callable[[Entry], bool]) -> tuple[ElidedSpan, ...]:
    """Pointers for the elided ones of some entries; neighbours of one trust share a pointer."""
    runs = groupby(entries, key=lambda entry: entry.trust if is_elided(entry) else None)
    return tuple(_span(trust, tuple(run)) for trust, run in runs if trust is not None)


def _span(trust: Trust, run: Sequence[Entry]) -> ElidedSpan:
    return ElidedSpan(
        trust=trust,
        size=sum(len(content(entry.item).encode()) for entry in run),
        references=tuple(Reference(item_id=entry.item.id) for entry in run),
    )


def merged(pointers: Sequence[ElidedSpan]) -> ElidedSpan:
    """One pointer for several: lowest trust, summed size, all references. At least one is needed."""
    return ElidedSpan(
        trust=lowest(*(pointer.trust for pointer in pointers)),
        size=sum(pointer.size for pointer in pointers),
        references=tuple(reference for p in pointers for reference in p.references),
    )


def fewer(pointers: Sequence[ElidedSpan], at_most: int = MAX_POINTERS) -> tuple[ElidedSpan, ...]:
    """The same pointers, the oldest merged into one where there are more than ``at_most``."""
    excess = len(pointers) - at_most
    if excess <= 0:
        return tuple(pointers)
    return (merged(pointers[: excess + 1]), *pointers[excess + 1 :])
