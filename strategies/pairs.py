"""Words for logs that cannot be requests: orphans, duplicates, late results, undeclared types.

They are probed: one build over the log with such entries added, of which nothing is sent or kept.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contextproof.conformance.contract.items import (
    AssistantMessage,
    LogItem,
    ResultStatus,
    ToolCall,
    ToolResult,
    UndeclaredItem,
    UserMessage,
)
from contextproof.conformance.play.scenario import Text
from contextproof.strategies import tables
from contextproof.strategies.author import Asked, Author, Move

UNDECLARED = ("reminder", "system_message", "Tool_Result", "", "tool_result ", "thought", "x" * 200)
"""Types that nothing declares; the empty one stands for a name of white space."""

Shape = tuple[tuple[str, str], ...]
"""Entries as (kind, call id): m an assistant message, c a call, r a result, u a user message."""

MALFORMED: dict[str, Shape] = {
    "an open call": (("m", ""), ("c", "1")),
    "one of two calls open": (("m", ""), ("c", "1"), ("c", "2"), ("r", "2")),
    "an orphaned result": (("m", ""), ("r", "1")),
    "a result twice": (("m", ""), ("c", "1"), ("r", "1"), ("r", "1")),
    "a result before its call": (("m", ""), ("r", "1"), ("c", "1")),
    "a result after the user's next message": (("m", ""), ("c", "1"), ("u", ""), ("r", "1")),
    "a late result of two": (("m", ""), ("c", "1"), ("c", "2"), ("r", "1"), ("u", ""), ("r", "2")),
    "a result after the next assistant message": (("m", ""), ("c", "1"), ("m", ""), ("r", "1")),
    "equal ids, one result": (("m", ""), ("c", "1"), ("c", "1"), ("r", "1")),
    "an empty id, open": (("m", ""), ("c", "")),
    "nothing, over whatever is open": (),
}

WELL_FORMED: dict[str, Shape] = {
    "equal ids, two results": (("m", ""), ("c", "1"), ("c", "1"), ("r", "1"), ("r", "1")),
    "ids that recur": (("m", ""), ("c", "1"), ("r", "1"), ("m", ""), ("c", "1"), ("r", "1")),
    "crossed order": (("m", ""), ("c", "1"), ("c", "2"), ("r", "2"), ("r", "1")),
}


def probes() -> SearchStrategy[Move]:
    """A log that is no request, or only looks as if it were none."""
    return st.sampled_from((*MALFORMED.values(), *WELL_FORMED.values())).map(_probes)


def _probes(shape: Shape) -> Move:
    return lambda author: author.probe(*entries(author, shape))


def entries(author: Author, shape: Shape) -> tuple[LogItem, ...]:
    """Log entries of that shape, with ids of their own."""
    items: list[LogItem] = []
    message = ""
    for kind, call_id in shape:
        identifier = author.new_id("z")
        if kind == "m":
            message = identifier
            items.append(AssistantMessage(id=identifier, text=""))
        elif kind == "u":
            items.append(UserMessage(id=identifier, text="And?"))
        elif kind == "c":
            items.append(
                ToolCall(id=identifier, message_id=message, call_id=call_id, name="read", arguments="{}")
            )
        else:
            items.append(_result(identifier, call_id))
    return tuple(items)


def _result(identifier: str, call_id: str) -> ToolResult:
    return ToolResult(id=identifier, call_id=call_id, status=ResultStatus.OK, text="late", source="tool")


def probes_open_call() -> SearchStrategy[Move]:
    """The model's call is not answered, and a build is tried over it."""
    return st.builds(_probes_open, st.booleans(), st.sampled_from((None, "0", "")))


def _probes_open(beside: bool, call_id: str | None) -> Move:
    def move(author: Author) -> None:
        author.reply("", [Asked(call_id=call_id, answer=None), *([Asked()] if beside else [])])
        author.probe()

    return move


def probes_undeclared() -> SearchStrategy[Move]:
    """An entry of a type that nothing declares."""
    return st.builds(_undeclared, st.sampled_from(UNDECLARED), st.sampled_from(tables.STRUCTURED))


def _undeclared(name: str, text: Text) -> Move:
    said = text if isinstance(text, str) else ""
    return lambda author: author.probe(
        UndeclaredItem(id=author.new_id("z"), type=name or "\u00a0", text=said)
    )
