"""What the trimmers here share: units that are dropped whole, and dropping down to half of the limit.

A unit is a system text, a user message, an answer, or an assistant message with its calls and results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from contextproof.conformance.contract.tokenizers import count

Message = dict[str, Any]
Size = Callable[[Message], int]
Needs = Callable[[Sequence["Unit"]], set[int]]
TOKENIZER = "o200k_base"


class DoesNotFit(Exception):
    """What has to be sent is more than the limit."""


@dataclass(frozen=True)
class Unit:
    """Messages that stay or go together."""

    kind: Literal["system", "user", "answer", "calls"]
    messages: tuple[Message, ...]


def exact(message: Message) -> int:
    """Tokens of all text in a message, arguments and results included."""
    return sum(count(TOKENIZER, text) for text in texts(message))


def texts(message: Message) -> list[str]:
    """All text in a message of either format."""
    content = message.get("content") or ""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    found: list[str] = []
    for block in blocks:
        match block["type"]:
            case "text":
                found.append(block["text"])
            case "tool_use":
                found += [block["name"], json.dumps(block["input"], ensure_ascii=False)]
            case _:
                found.append(block["content"])
    for call in message.get("tool_calls") or ():
        found += [call["function"]["name"], call["function"]["arguments"]]
    return found


def openai_units(messages: Sequence[Message]) -> list[Unit]:
    """Chat messages in units."""
    units: list[Unit] = []
    for message in messages:
        match message["role"]:
            case "tool":
                units[-1] = Unit("calls", (*units[-1].messages, message))
            case "assistant":
                units.append(Unit("calls" if message.get("tool_calls") else "answer", (message,)))
            case "user":
                units.append(Unit("user", (message,)))
            case _:
                units.append(Unit("system", (message,)))
    return units


def anthropic_units(messages: Sequence[Message]) -> list[Unit]:
    """Anthropic messages in units; words that stand behind results become a message of their own."""
    units: list[Unit] = []
    for message in messages:
        content = message["content"]
        kinds = {block["type"] for block in content} if isinstance(content, list) else {"text"}
        if message["role"] == "assistant":
            units.append(Unit("calls" if "tool_use" in kinds else "answer", (message,)))
        elif "tool_result" not in kinds:
            units.append(Unit("user", (message,)))
        else:
            results = [block for block in content if block["type"] == "tool_result"]
            words = [block for block in content if block["type"] != "tool_result"]
            units[-1] = Unit("calls", (*units[-1].messages, {**message, "content": results}))
            if words:
                units.append(Unit("user", ({**message, "content": words},)))
    return units


def needed(units: Sequence[Unit]) -> set[int]:
    """Places of what stays: system texts, the last user message, and calls at the end that follow it."""
    stays = {place for place, unit in enumerate(units) if unit.kind == "system"}
    users = [place for place, unit in enumerate(units) if unit.kind == "user"]
    stays |= {users[-1]} if users else set()
    if units and units[-1].kind == "calls":
        stays.add(len(units) - 1)
    return stays


def kept(
    units: Sequence[Unit],
    limit: int,
    *,
    size: Size = exact,
    needs: Needs = needed,
    opens_with_user: bool = False,
) -> list[int]:
    """Places of the units to be sent: whenever it was too much, the oldest went until half was left.

    The conversation is gone through as it grew, so that between two such times it only grows at its end.

    Raises:
        DoesNotFit: where what stays is more than the limit.
    """
    sizes = [sum(map(size, unit.messages)) for unit in units]

    def sent(start: int, end: int) -> list[int]:
        stays = needs(units[:end])
        return [place for place in range(end) if place >= start or place in stays]

    def total(start: int, end: int) -> int:
        return sum(sizes[place] for place in sent(start, end))

    start = 0
    for end in [place + 1 for place, unit in enumerate(units) if unit.kind in {"user", "calls"}]:
        if total(start, end) > limit:
            while start < end and (total(start, end) > limit // 2 or _opens_badly(units, start, end)):
                start += 1
        if opens_with_user:
            while start < end and start and _opens_badly(units, start, end):
                start += 1
    if total(start, len(units)) > limit:
        raise DoesNotFit(f"what has to be sent takes more than {limit} tokens")
    return sent(start, len(units))


def _opens_badly(units: Sequence[Unit], start: int, end: int) -> bool:
    """Whether something other than a user message would come first, and not behind the current one."""
    users = [place for place in range(end) if units[place].kind == "user"]
    return bool(users) and start < users[-1] and units[start].kind in {"answer", "calls"}


def joined(units: Sequence[Unit], places: Sequence[int]) -> list[Message]:
    """The messages of some units."""
    return [message for place in places for message in units[place].messages]


def sound(messages: list[Message], limit: int, *, size: Size = exact, needs: Needs = needed) -> list[Message]:
    """Chat messages trimmed as they should be, unless told to measure or to keep something else."""
    units = openai_units(messages)
    return joined(units, kept(units, limit, size=size, needs=needs))
