"""Which messages of a log a request holds, and which of them may yet give way or be compacted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from contextproof.conformance.contract.items import ToolCall
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.reference_impl.log_index import Entry, LogIndex, Turn


@dataclass(frozen=True)
class Selection:
    """The messages that a checkpoint leaves standing, in log order.

    Attributes:
        loose: of earlier turns of which some is covered.
        whole: earlier turns of which nothing is covered.
        active: the current turn's, after its user message.
        current: that message.
        active_unit: position of the unit of the active pairs: the turn's latest with calls.
    """

    loose: tuple[Entry, ...]
    whole: tuple[Turn, ...]
    active: tuple[Entry, ...]
    current: Entry | None
    active_unit: int | None

    def history(self) -> Iterator[Entry]:
        """Everything of earlier turns."""
        return chain(self.loose, chain.from_iterable(turn.entries for turn in self.whole))

    def history_tokens(self) -> int:
        """What earlier turns cost verbatim, exactly."""
        loose = sum(entry.tokens for entry in self.loose)
        if not self.whole:
            return loose
        first, last = self.whole[0], self.whole[-1]
        return loose + last.tokens_before + last.tokens - first.tokens_before

    def result_tokens(self) -> int:
        """Content tokens of all results that may become pointers."""
        single = sum(entry.result_tokens for entry in (*self.loose, *self.active))
        if not self.whole:
            return single
        first, last = self.whole[0], self.whole[-1]
        return single + last.results_before + last.result_tokens - first.results_before

    def is_active_pair(self, entry: Entry) -> bool:
        """Whether an entry belongs to the unit that never yields."""
        return entry.unit == self.active_unit

    def older_results(self) -> Iterator[Entry]:
        """Results that may become pointers, oldest first: the active pairs' are not among them."""
        yield from (entry for entry in self.loose if entry.is_result)
        for turn in self.whole:
            yield from turn.results
        yield from (e for e in self.active if e.is_result and not self.is_active_pair(e))

    def active_results(self) -> tuple[Entry, ...]:
        """Results of the active pairs, in log order."""
        return tuple(e for e in self.active if e.is_result and self.is_active_pair(e))

    def compactable(self) -> Iterator[Entry]:
        """All that a compaction covers: everything but the current message and the active unit."""
        yield from self.history()
        yield from (entry for entry in self.active if not self.is_active_pair(entry))

    def kept(self) -> tuple[Entry, ...]:
        """The unit of the active pairs, which no compaction covers."""
        return tuple(entry for entry in self.active if self.is_active_pair(entry))


def select(index: LogIndex, checkpoint: Checkpoint | None) -> Selection:
    """What a checkpoint leaves standing of a log."""
    current = index.current
    earlier = index.turns[:-1] if current else index.turns
    active = current.entries[1:] if current else ()
    calls = [entry for entry in active if isinstance(entry.item, ToolCall)]
    loose: tuple[Entry, ...] = ()
    whole = earlier
    if checkpoint is not None:
        whole = earlier[bisect_left(earlier, checkpoint.covers, key=lambda turn: turn.start) :]
        loose = _loose(index, earlier[: len(earlier) - len(whole)], checkpoint)
        active = tuple(entry for entry in active if _stands(entry, checkpoint))
    return Selection(
        loose=loose,
        whole=whole,
        active=active,
        current=current.entries[0] if current else None,
        active_unit=calls[-1].unit if calls else None,
    )


def _stands(entry: Entry, checkpoint: Checkpoint) -> bool:
    return entry.position >= checkpoint.covers or entry.item.id in checkpoint.passed_over


def _loose(index: LogIndex, covered: tuple[Turn, ...], checkpoint: Checkpoint) -> tuple[Entry, ...]:
    """What stands of turns that are covered at least in part.

    Found by id, and in the last of them: looking through all that was ever covered would make every
    build cost more than the one before.
    """
    if not covered:
        return ()
    last = covered[-1]
    passed = [entry for name in checkpoint.passed_over if (entry := index.by_id.get(name)) is not None]
    standing = [entry for entry in passed if entry.position < min(checkpoint.covers, last.end)]
    standing += (entry for entry in last.entries if entry.position >= checkpoint.covers)
    return tuple(sorted(standing, key=lambda entry: entry.position))
