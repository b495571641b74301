"""Whether a block still holds its item's content, whatever envelope and codec a builder uses.

Deliberately blind to how well content is escaped: a text that can be told from the block is whole
here even where the codec was not applied, or was applied twice. That it is undone to the very bytes
is requirement 13.3's matter, and reported there once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

from contextproof.conformance.contract.codecs import Codec, NotDecodable
from contextproof.conformance.contract.items import RenderedItem, ToolCall, ToolDefinition, content
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.request import Block, Extent

#: How often a codec is undone at most; content that was escaped twice is still told.
_ROUNDS = 4
#: Results remembered: about the blocks of the largest scripted session.
_REMEMBERED = 50_000


def interior(block: Block) -> str:
    """What stands between opening and closing; the whole text where there is no envelope."""
    if block.envelope is None:
        return block.text
    return part(block.text, block.envelope.opening.end, block.envelope.closing.start)


@lru_cache(maxsize=_REMEMBERED)
def part(text: str, start: int, end: int) -> str:
    """Some of a text, by UTF-8 bytes."""
    return text.encode()[start:end].decode(errors="replace")


def excerpt(manifest: Manifest, block: Block) -> str | None:
    """A truncation pointer's excerpt with the codec undone, or None where it has none."""
    if block.pointer is None or block.pointer.excerpt is None:
        return None
    extent: Extent = block.pointer.excerpt
    return _undone(manifest.codec(block.type), part(block.text, extent.start, extent.end), 1)[-1]


def is_whole(manifest: Manifest, block: Block, item: RenderedItem) -> bool:
    """Whether a block holds all of an item's content, verbatim but for its codec."""
    if block.pointer is not None:
        return False
    codec, shown = manifest.codec(block.type), interior(block)
    match item:
        case ToolDefinition():
            return _holds_values(codec, shown, _tool_values(item))
        case ToolCall():
            return _holds_values(codec, shown, (item.name, item.arguments))
        case _ if block.envelope is None:
            return holds_text(codec, shown, content(item))
        case _:
            return _is_same(codec, shown, content(item))


@lru_cache(maxsize=_REMEMBERED)
def _is_same(codec: Codec, shown: str, original: str) -> bool:
    if shown == original:
        return True
    rounds = _undone(codec, shown, _ROUNDS)
    return original in rounds or rounds[-1] == _undone(codec, original, _ROUNDS)[-1]


@lru_cache(maxsize=_REMEMBERED)
def holds_text(codec: Codec, shown: str, text: str) -> bool:
    """Whether a text stands in what is shown."""
    rounds = _undone(codec, shown, _ROUNDS)
    last = _undone(codec, text, _ROUNDS)[-1]
    return any(text in undone for undone in rounds) or last in rounds[-1]


@lru_cache(maxsize=_REMEMBERED)
def _undone(codec: Codec, shown: str, rounds: int) -> tuple[str, ...]:
    """A text, and what it becomes as the codec is undone again and again."""
    texts = [shown]
    for _ in range(rounds):
        try:
            texts.append(codec.decode(texts[-1]))
        except NotDecodable:
            break
        if texts[-1] == texts[-2]:
            break
    return tuple(texts)


def _tool_values(item: ToolDefinition) -> tuple[object, ...]:
    return (item.name, item.description, json.loads(item.parameters_json))


def _holds_values(codec: Codec, shown: str, wanted: tuple[object, ...]) -> bool:
    """Whether JSON shown holds all the wanted values somewhere, under whatever keys."""
    for text in _undone(codec, shown, _ROUNDS):
        try:
            found = list(_values(json.loads(text)))
        except ValueError:
            continue
        if all(value in found for value in wanted):
            return True
    return False


def _values(value: object) -> Iterator[object]:
    yield value
    if isinstance(value, dict):
        for inner in value.values():
            yield from _values(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner)
