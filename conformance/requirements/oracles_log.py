"""What a log says by itself: slots, pairs, what a checkpoint covers, which results are older."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contextproof.conformance.contract.items import (
    LogItem,
    MemoryCorrection,
    Message,
    ToolCall,
    ToolResult,
    UserMessage,
)
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.vocabulary import Slot
from contextproof.conformance.requirements.oracles_checkpoint import covered
from contextproof.conformance.requirements.oracles_pairing import log_beats, pair


def current_place(log: Sequence[LogItem]) -> int | None:
    """Where the current user message stands, if there is one."""
    places = [place for place, item in enumerate(log) if isinstance(item, UserMessage)]
    return places[-1] if places else None


def slots(log: Sequence[LogItem]) -> dict[str, Slot]:
    """The slot of every message by id: what is earlier than the current message is history."""
    current = current_place(log)
    found: dict[str, Slot] = {}
    for place, item in enumerate(log):
        if not isinstance(item, Message):
            continue
        if current is None or place < current:
            found[item.id] = Slot.HISTORY
        else:
            found[item.id] = Slot.CURRENT if place == current else Slot.ACTIVE
    return found


def active_pairs(log: Sequence[LogItem]) -> tuple[ToolCall | ToolResult, ...]:
    """Calls and results of the latest assistant message with calls in the current turn."""
    current = current_place(log)
    turn = log[current:] if current is not None else ()
    calls = [item for item in turn if isinstance(item, ToolCall)]
    if not calls:
        return ()
    active = {call.id for call in calls if call.message_id == calls[-1].message_id}
    answers = {result for call, result in pair(log_beats(turn)).pairs if call in active}
    return tuple(
        item for item in turn if isinstance(item, ToolCall | ToolResult) and item.id in active | answers
    )


def standing(log: Sequence[LogItem], checkpoint: Checkpoint | None) -> tuple[Message, ...]:
    """Messages that no checkpoint covers, in log order."""
    gone = {item.id for item in covered(checkpoint, log)}
    return tuple(item for item in log if isinstance(item, Message) and item.id not in gone)


def older_results(log: Sequence[LogItem], checkpoint: Checkpoint | None) -> tuple[ToolResult, ...]:
    """Results that may become pointers under pressure: ok and error, not active, not covered."""
    active = {item.id for item in active_pairs(log)}
    return tuple(
        item
        for item in standing(log, checkpoint)
        if isinstance(item, ToolResult) and item.can_truncate and item.id not in active
    )


def latest_corrections(corrections: Iterable[MemoryCorrection]) -> tuple[MemoryCorrection, ...]:
    """One correction a memory item: the latest."""
    latest = {item.memory_id: item for item in corrections}
    return tuple(latest.values())


def turns(log: Sequence[LogItem]) -> dict[str, int]:
    """The turn of every message by id, counted from 1."""
    turn = 0
    found: dict[str, int] = {}
    for item in log:
        turn += isinstance(item, UserMessage)
        if isinstance(item, Message):
            found[item.id] = turn
    return found


def never_covered(log: Sequence[LogItem]) -> set[str]:
    """Ids of what no checkpoint may cover: the current user message and the active pairs."""
    current = {name for name, slot in slots(log).items() if slot is Slot.CURRENT}
    return current | {item.id for item in active_pairs(log)}
