"""Anthropic's messages: system text apart, calls and results as blocks, results in a user's message.

What a user says right after results stands in one message with them, behind them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from contextproof.conformance.trimming.dialogue import Conversation, Line
from contextproof.conformance.trimming.formats import (
    Entry,
    Format,
    Json,
    WrongShape,
    kind_of,
    messages_of,
    text_in,
)


def write(said: Sequence[Line], conversation: Conversation) -> list[Json]:
    """The messages as a caller of the API holds them, without the system text."""
    written: list[Json] = []
    after_results = False
    for line in said:
        if line.role == "system":
            continue
        blocks = list(_blocks(line))
        if after_results and line.role == "user":
            written[-1]["content"] += blocks
        else:
            is_plain = not ("parts" in conversation.traits or line.calls or line.results)
            role = "assistant" if line.role == "assistant" else "user"
            written.append({"role": role, "content": line.text if is_plain else blocks})
        after_results = line.role == "results"
    return written


def _blocks(line: Line) -> Iterator[Json]:
    for result in line.results:
        yield {"type": "tool_result", "tool_use_id": result.id, "content": result.text}
    if line.text or not (line.calls or line.results):
        yield {"type": "text", "text": line.text}
    for call in line.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.tool, "input": {"q": call.argument}}


def read(returned: Json) -> list[list[Entry]]:
    """The entries of each message; cache markers are looked past. Raises WrongShape."""
    return [list(_entries(message, index)) for index, message in enumerate(messages_of(returned))]


def _entries(message: dict[str, Json], index: int) -> Iterator[Entry]:
    role, content, where = message.get("role"), message.get("content"), f"message {index}"
    if role not in {"user", "assistant"}:
        raise WrongShape(f"{where} has the role {role!r}, which the format does not know")
    if not isinstance(content, list):
        yield Entry("user" if role == "user" else "assistant", text_in(content, f"{where}.content"))
        return
    for number, block in enumerate(content):
        yield _entry(block, role == "user", f"{where}.content[{number}]")


def _entry(block: Json, is_user: bool, where: str) -> Entry:
    kind = block.get("type") if isinstance(block, dict) else kind_of(block)
    match kind:
        case "text":
            return Entry("user" if is_user else "assistant", text_in(block.get("text"), f"{where}.text"))
        case "tool_use":
            return Entry(
                "call",
                json.dumps(block.get("input"), ensure_ascii=False),
                id=text_in(block.get("id"), f"{where}.id"),
                tool=text_in(block.get("name"), f"{where}.name"),
            )
        case "tool_result":
            identifier = text_in(block.get("tool_use_id"), f"{where}.tool_use_id")
            return Entry("result", _result(block.get("content", ""), f"{where}.content"), id=identifier)
        case _:
            raise WrongShape(f"{where} is {kind!r}, which the format does not know here")


def _result(content: Json, where: str) -> str:
    if not isinstance(content, list):
        return text_in(content, where)
    texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    if len(texts) < len(content):
        raise WrongShape(f"{where} holds a part that is no text")
    return "".join(text_in(text, where) for text in texts)


ANTHROPIC = Format("anthropic", write, read, has_system=False, opens_with_user=True)
