"""Remembering what was folded from a log, so that a longer log costs only what it added.

Bounded, and only a memory: what is folded is frozen, and a fold that is remembered is the fold that
would be made anew. A log that extends a known one is recognized by comparison. Entries are the same
objects from one call to the next in most programs, which compare at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from contextproof.conformance.contract.items import LogItem

Key = TypeVar("Key")
State = TypeVar("State")

Log = tuple[LogItem, ...]
#: Logs remembered: a few sessions side by side, each with a fork or two.
_REMEMBERED = 8


class _Fold(NamedTuple, Generic[Key, State]):
    key: Key
    log: Log
    state: State


class FoldMemo(Generic[Key, State]):
    """Remembers folds over logs, the most recently used first."""

    def __init__(self) -> None:
        self._folds: tuple[_Fold[Key, State], ...] = ()

    def fold(
        self,
        key: Key,
        log: Log,
        start: Callable[[], State],
        extend: Callable[[State, Log], State],
    ) -> State:
        """The fold of a log under a key.

        Args:
            key: what the fold depends on beside the log.
            log: what is folded.
            start: gives the fold of the empty log.
            extend: gives the fold of a log and some more entries, from the fold of the log.
        """
        known = self._longest_start(key, log)
        if known is not None and len(known.log) == len(log):
            found = known
        else:
            state, done = (known.state, len(known.log)) if known is not None else (start(), 0)
            found = _Fold(key, log, extend(state, log[done:]))
        others = (fold for fold in self._folds if fold is not found)
        self._folds = (found, *others)[:_REMEMBERED]
        return found.state

    def _longest_start(self, key: Key, log: Log) -> _Fold[Key, State] | None:
        """The remembered fold of the longest leading part of a log."""
        best: _Fold[Key, State] | None = None
        for fold in self._folds:
            is_longer = best is None or len(fold.log) > len(best.log)
            is_same_key = fold.key is key or fold.key == key
            if is_longer and is_same_key and is_leading_part(fold.log, log):
                best = fold
        return best


def is_leading_part(part: Log, log: Log) -> bool:
    """Whether a log begins with another.

    A tuple sorts before those that it is the beginning of, and entries have no order of their own: so
    comparing finds out without copying, and stops at the first entry that differs.
    """
    try:
        return len(part) <= len(log) and part <= log
    except TypeError:
        return False
