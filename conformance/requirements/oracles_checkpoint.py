"""Oracles of compaction: what a checkpoint covers, what pointers resolve to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from contextproof.conformance.contract.items import (
    LogItem,
    Message,
    ToolCall,
    content,
)
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.ports import SummaryPart
from contextproof.conformance.contract.request import ElidedSpan, Reference
from contextproof.conformance.play.trace import BuildRecord, Trace
from contextproof.conformance.requirements.oracles_reading import holds, readings


def covered(checkpoint: Checkpoint | None, log: Sequence[LogItem]) -> list[Message]:
    """The messages that a checkpoint covers, in log order; entries never rendered are left out."""
    if checkpoint is None:
        return []
    kept = set(checkpoint.passed_over)
    leading = log[: checkpoint.covers]
    return [item for item in leading if isinstance(item, Message) and item.id not in kept]


def first_build_after(trace: Trace, index: int) -> tuple[int, BuildRecord] | None:
    """The next main build after a record."""
    return next((found for found in trace.builds("main") if found[0] > index), None)


def last_build_before(trace: Trace, index: int) -> tuple[int, BuildRecord] | None:
    """The latest main build before a record."""
    earlier = [found for found in trace.builds("main") if found[0] < index]
    return earlier[-1] if earlier else None


def contents(log: Iterable[LogItem]) -> dict[str, bytes]:
    """UTF-8 content of every message, by id."""
    return {item.id: content(item).encode() for item in log if isinstance(item, Message)}


def original(reference: Reference, by_id: Mapping[str, bytes]) -> bytes | None:
    """The bytes a reference stands for, or None where it resolves to nothing."""
    whole = by_id.get(reference.item_id)
    if whole is None:
        return None
    start = 0 if reference.start is None else reference.start
    end = len(whole) if reference.end is None else reference.end
    return whole[start:end] if start <= end <= len(whole) else None


def names(pointers: Iterable[ElidedSpan]) -> Iterator[tuple[ElidedSpan, Reference]]:
    """Every reference of some pointers, with its pointer."""
    for pointer in pointers:
        for reference in pointer.references:
            yield pointer, reference


def gaps(references: Iterable[Reference], size: int) -> bool:
    """Whether some bytes of an item of that size lie in none of these references to it."""
    reached = 0
    spans = [(r.start or 0, size if r.end is None else r.end) for r in references]
    for start, end in sorted(spans):
        if start > reached:
            return True
        reached = max(reached, end)
    return reached < size


def given_whole(item: Message, parts: Iterable[SummaryPart], manifest: Manifest) -> bool:
    """Whether the parts that name an item hold all of its content, as it is or by a known codec.

    A call is whole where its name and its arguments are.
    """
    texts = [part.text for part in parts if item.id in part.item_ids]
    pieces = (item.name, item.arguments) if isinstance(item, ToolCall) else (content(item),)
    joined = "".join(texts)  # one item may be spread over several parts
    found = [r for text in (*texts, joined) for r in readings(text, item.type, manifest)]
    return all(any(holds(reading, piece) for reading in found) for piece in pieces)
