"""Trimmers that conform, unlike one another in what they drop, how they count and how they are called."""

from __future__ import annotations

import json
from collections.abc import Sequence

from contextproof.calibration.trimmers import conforms
from contextproof.calibration.trimmers.units import (
    DoesNotFit,
    Message,
    Unit,
    anthropic_units,
    exact,
    joined,
    kept,
    needed,
    openai_units,
    sound,
    texts,
)

#: What stands for a result that was cleared.
_CLEARED = "[cleared]"


@conforms()
def halves(messages: list[Message], limit: int) -> list[Message]:
    """Drops the oldest units down to half of the limit. Counts exactly."""
    return sound(messages, limit)


@conforms("anthropic")
def counts_bytes(history: tuple[Message, ...], *, system: str = "", max_tokens: int) -> tuple[Message, ...]:
    """Takes a token for every byte, counts the system text in, and is called by keywords."""
    units = anthropic_units(history)
    left = max_tokens - len(system.encode())
    places = kept(units, left, size=_bytes, opens_with_user=True)
    return tuple(history if len(places) == len(units) else joined(units, places))


def _bytes(message: Message) -> int:
    return len(json.dumps(message["content"], ensure_ascii=False).encode())


@conforms()
async def clears_results_first(messages: list[Message], max_tokens: int) -> list[Message]:
    """Clears all older results at once when there is too much, and drops units when that is not enough.

    Now and then it drops soon after it has cleared, of which CTX-16.3 warns.
    """
    units = openai_units(messages)
    if sum(map(exact, messages)) <= max_tokens:
        return list(messages)
    places = [place for place, unit in enumerate(units) if unit.kind == "calls"]
    older = [place for place in places if place not in needed(units)]
    cleared = [_clear(unit) if place in older else unit for place, unit in enumerate(units)]
    return joined(cleared, kept(cleared, max_tokens))


def _clear(unit: Unit) -> Unit:
    return Unit(unit.kind, tuple(map(_cleared, unit.messages)))


def _cleared(message: Message) -> Message:
    if message["role"] != "tool" or sum(map(len, texts(message))) <= 3 * len(_CLEARED):
        return message
    return {**message, "content": _CLEARED}


@conforms("anthropic")
def keeps_the_task(messages: Sequence[Message], token_budget: int = 8_000) -> list[Message]:
    """Drops from the middle: the first user message, which is the task, stays as long as there is room.

    It drops no more than it must, and so a little with every turn, of which CTX-16.3 warns.
    """
    units = anthropic_units(messages)
    stays = needed(units)
    spare = token_budget - sum(_size(units[place]) for place in stays)
    if spare < 0:
        raise DoesNotFit(f"{-spare} tokens too many")
    first = next((place for place, unit in enumerate(units) if unit.kind == "user"), 0)
    for place in [first, *range(len(units) - 1, -1, -1)]:
        if units and place not in stays:
            if _size(units[place]) > spare:
                break
            spare -= _size(units[place])
            stays.add(place)
    if len(stays) == len(units):
        return list(messages)
    while units and units[min(stays)].kind != "user":
        stays.remove(min(stays))
    return joined(units, sorted(stays))


def _size(unit: Unit) -> int:
    return sum(map(exact, unit.messages))
