"""An oracle of pairing: which result answers which call, in a log or in a request as sent.

Ids of calls recur, in later messages and even within one, so nothing here looks an id up in a map
over the session. A pairing unit starts with an assistant message (or the user's) and ends before the
next; its results answer its calls in order of equal ids, in whatever order they came in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from contextproof.conformance.contract.items import (
    AssistantMessage,
    LogItem,
    ToolCall,
    ToolResult,
    UserMessage,
)
from contextproof.conformance.contract.request import Block


class Beat(NamedTuple):
    """One step of a conversation. ``name`` identifies it; ``call_id`` is what a wire would carry."""

    kind: Literal["message", "call", "result"]
    name: str
    call_id: str = ""


class Pairing(NamedTuple):
    """What was paired, and what was not.

    Attributes:
        pairs: names of (call, result), in order of the results.
        unanswered: names of calls that no result of their unit answers.
        stray: names of results that answer no open call of their unit.
    """

    pairs: tuple[tuple[str, str], ...]
    unanswered: tuple[str, ...]
    stray: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether every call has its result and every result its call."""
        return not self.unanswered and not self.stray


def pair(beats: Iterable[Beat]) -> Pairing:
    """Pair calls with results, unit by unit."""
    pairs: list[tuple[str, str]] = []
    unanswered: list[str] = []
    stray: list[str] = []
    open_calls: list[Beat] = []
    for beat in beats:
        if beat.kind == "message":
            unanswered += [call.name for call in open_calls]
            open_calls = []
        elif beat.kind == "call":
            open_calls.append(beat)
        else:
            answered = next((c for c in open_calls if c.call_id == beat.call_id), None)
            if answered is None:
                stray.append(beat.name)
            else:
                open_calls.remove(answered)
                pairs.append((answered.name, beat.name))
    unanswered += [call.name for call in open_calls]
    return Pairing(tuple(pairs), tuple(unanswered), tuple(stray))


def log_beats(log: Iterable[LogItem]) -> list[Beat]:
    """The conversation in a log; other entries are left out."""
    beats = []
    for item in log:
        if isinstance(item, UserMessage | AssistantMessage):
            beats.append(Beat("message", item.id))
        elif isinstance(item, ToolCall):
            beats.append(Beat("call", item.id, item.call_id))
        elif isinstance(item, ToolResult):
            beats.append(Beat("result", item.id, item.call_id))
    return beats


def block_beats(blocks: Iterable[Block]) -> list[Beat]:
    """The conversation in a request, in the order sent, by the ids that its blocks carry."""
    beats = []
    for block in blocks:
        name = block.item_id or ""
        if block.type in ("user_message", "assistant_message"):
            beats.append(Beat("message", name))
        elif block.type == "tool_call":
            beats.append(Beat("call", name, block.call_id or ""))
        elif block.type == "tool_result":
            beats.append(Beat("result", name, block.call_id or ""))
    return beats


def calls_by_message(log: Iterable[LogItem]) -> dict[str, tuple[ToolCall, ...]]:
    """The calls of each assistant message that has any, by the message's id."""
    found: dict[str, tuple[ToolCall, ...]] = {}
    for item in log:
        if isinstance(item, ToolCall):
            found[item.message_id] = (*found.get(item.message_id, ()), item)
    return found


def late_results(log: Iterable[LogItem]) -> list[tuple[str, str]]:
    """(call, result) where a result came only after the user's next message, by equal call ids."""
    late: list[tuple[str, str]] = []
    open_calls: list[Beat] = []
    overdue: list[Beat] = []
    for item in log:
        if isinstance(item, UserMessage):
            overdue, open_calls = overdue + open_calls, []
        elif isinstance(item, ToolCall):
            open_calls.append(Beat("call", item.id, item.call_id))
        elif isinstance(item, ToolResult):
            same = [call for call in open_calls if call.call_id == item.call_id]
            if same:
                open_calls.remove(same[0])
                continue
            missed = [call for call in overdue if call.call_id == item.call_id]
            if missed:
                overdue.remove(missed[0])
                late.append((missed[0].name, item.id))
    return late
