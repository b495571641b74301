"""OpenAI's chat messages: system text first, calls in the assistant's message, a message for each result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from contextproof.conformance.trimming.dialogue import Conversation, Line
from contextproof.conformance.trimming.formats import (
    Entry,
    Format,
    Json,
    Kind,
    WrongShape,
    kind_of,
    messages_of,
    text_in,
)

_KINDS: dict[str, Kind] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "result",
}


def write(said: Sequence[Line], conversation: Conversation) -> list[Json]:
    """The messages as a caller of the API holds them."""
    return [message for line in said for message in _messages(line, conversation)]


def _messages(line: Line, conversation: Conversation) -> Iterator[Json]:
    def content(text: str) -> Json:
        return [{"type": "text", "text": text}] if "parts" in conversation.traits else text

    if line.role == "results":
        for result in line.results:
            yield {"role": "tool", "tool_call_id": result.id, "content": content(result.text)}
    elif line.calls:
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.tool,
                    "arguments": json.dumps({"q": call.argument}, ensure_ascii=False),
                },
            }
            for call in line.calls
        ]
        yield {
            "role": "assistant",
            "content": content(line.text) if line.text else None,
            "tool_calls": calls,
        }
    else:
        is_developer = line.role == "system" and "developer" in conversation.traits
        yield {"role": "developer" if is_developer else line.role, "content": content(line.text)}


def read(returned: Json) -> list[list[Entry]]:
    """The entries of each message. Raises WrongShape."""
    return [list(_entries(message, index)) for index, message in enumerate(messages_of(returned))]


def _entries(message: dict[str, Json], index: int) -> Iterator[Entry]:
    where = f"message {index}"
    kind = _KINDS.get(str(message.get("role")))
    if kind is None:
        raise WrongShape(f"{where} has the role {message.get('role')!r}, which the format does not know")
    identifier = ""
    if kind == "result":
        identifier = text_in(message.get("tool_call_id"), f"{where}.tool_call_id")
    for text in _texts(message.get("content"), where):
        yield Entry(kind, text, id=identifier)
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise WrongShape(f"{where}.tool_calls is {kind_of(calls)}, not a list")
    for number, call in enumerate(calls or ()):
        yield _call(call, f"{where}.tool_calls[{number}]")


def _texts(content: Json, where: str) -> Iterator[str]:
    if content is None:
        return
    if not isinstance(content, list):
        yield text_in(content, f"{where}.content")
        return
    for part in content:
        if not isinstance(part, dict) or part.get("type") != "text":
            raise WrongShape(f"{where}.content holds a part that is no text")
        yield text_in(part.get("text"), f"{where}.content")


def _call(call: Json, where: str) -> Entry:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise WrongShape(f"{where} has no function")
    return Entry(
        "call",
        text_in(function.get("arguments"), f"{where}.function.arguments"),
        id=text_in(call.get("id"), f"{where}.id"),
        tool=text_in(function.get("name"), f"{where}.function.name"),
    )


OPENAI = Format("openai", write, read, has_system=True, opens_with_user=False)
