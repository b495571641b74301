"""Oracles of envelopes: whether one is well formed, what varies in its opening, how strong its nonce is."""

from __future__ import annotations

import json
import math
import string
from collections.abc import Iterable, Iterator
from typing import Any

from contextproof.conformance.contract.codecs import NotDecodable
from contextproof.conformance.contract.items import (
    RenderedItem,
    ToolCall,
    ToolDefinition,
    content,
)
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.request import Block, Envelope, Extent
from contextproof.conformance.requirements.oracles_rendering import decoded, same_json, span
from contextproof.conformance.requirements.telling import quoted

ATTRIBUTES = ("nonce", "type", "trust", "source")
"""What an opening carries, by the names of its spans."""

#: Alphabets a nonce may be written in, smallest first.
_ALPHABETS = (
    string.digits,
    "0123456789abcdef",
    "0123456789ABCDEF",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "abcdefghijklmnopqrstuvwxyz234567",
    string.digits + string.ascii_lowercase,
    string.digits + string.ascii_uppercase,
    string.digits + string.ascii_letters + "-_+/=.~",
)
#: Values a character of an alphabet beyond all these is taken to have: base64's.
_MOST_VALUES = 64


def malformed(block: Block, envelope: Envelope, manifest: Manifest) -> str:
    """What is wrong with an envelope's build; nothing where it is well formed."""
    try:
        parts = {name: span(block, getattr(envelope, name)) for name in ATTRIBUTES}
        closing, closing_nonce = span(block, envelope.closing), span(block, envelope.closing_nonce)
        opening = span(block, envelope.opening)
        span(block, envelope.interior)
    except (NotDecodable, ValueError) as error:
        return f"its extents are not in the text: {error}"
    outside = [name for name in ATTRIBUTES if not _within(envelope.opening, getattr(envelope, name))]
    if outside:
        return f"its {outside[0]} lies outside its opening"
    if not _within(envelope.closing, envelope.closing_nonce):
        return "its closing does not hold the nonce"
    if not parts["nonce"] or closing_nonce != parts["nonce"]:
        return f"opened with nonce {quoted(parts['nonce'])} and closed with {quoted(closing_nonce)}"
    if not parts["type"] or not parts["trust"]:
        return "its opening shows no type or no trust"
    for name, text in (("opening", opening), ("closing", closing)):
        if not any(delimiter in text for delimiter in manifest.delimiters):
            return f"its {name} {quoted(text)} holds no declared delimiter"
    data = block.text.encode()
    beside = data[: envelope.opening.start] + data[envelope.closing.end :]
    return f"text outside of it: {quoted(beside)}" if beside.strip() else ""


def _within(outer: Extent, inner: Extent) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def skeleton(block: Block, envelope: Envelope) -> tuple[str, ...]:
    """An opening without its four attribute spans: what stands before, between and after them.

    Raises NotDecodable where the spans do not lie in the text.
    """
    pieces, place = [], envelope.opening.start
    for attribute in sorted((getattr(envelope, name) for name in ATTRIBUTES), key=_start):
        if attribute.start < place:
            raise NotDecodable("attribute spans overlap")
        pieces.append(span(block, Extent(start=place, end=attribute.start)))
        place = attribute.end
    if place > envelope.opening.end:
        raise NotDecodable("an attribute span ends after the opening")
    return (*pieces, span(block, Extent(start=place, end=envelope.opening.end)))


def _start(extent: Extent) -> int:
    return extent.start


def forged(block: Block, envelope: Envelope) -> str:
    """The attribute whose raw value holds what ends it, or nothing.

    Only a source shown as it is, alone or between its quotes, can be judged so: one that is escaped may
    hold anything. It is ended by the quote or bracket behind it, or else by all the text behind it.
    """
    shown = span(block, envelope.source)
    if shown == block.source:
        order = sorted(ATTRIBUTES, key=lambda name: getattr(envelope, name).start)
        after = skeleton(block, envelope)[order.index("source") + 1]
        end = after if after[:1].isspace() else after[:1]
    elif shown[1:-1] == block.source and shown[0] == shown[-1]:
        end = shown[-1]
    else:
        return ""
    return "source" if end and end in block.source else ""


def not_recovered(block: Block, item: RenderedItem, manifest: Manifest) -> str:
    """Why an item's content cannot be recovered from its block; nothing where it can.

    Tool definitions and calls are recovered as JSON values: a call's arguments are one JSON string,
    so that their bytes are what they were.
    """
    if block.envelope is None and block.type in manifest.structural:
        return "" if _holds_fields(block.text, item) else "its JSON does not hold the content"
    try:
        found = decoded(block, manifest)
    except NotDecodable as error:
        return f"its codec cannot be undone: {error}"
    expected = content(item)
    if found == expected:
        return ""
    if isinstance(item, ToolDefinition | ToolCall) and same_json(found, expected):
        return ""
    return f"undone it is {quoted(found)} instead of {quoted(expected)}"


def _holds_fields(text: str, item: RenderedItem) -> bool:
    """Whether structural JSON holds, in one object, all fields of a definition's or call's content."""
    try:
        value, expected = json.loads(text), json.loads(content(item))
    except ValueError:
        return False
    return any(all(found.get(key) == wanted for key, wanted in expected.items()) for found in _objects(value))


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)


def bad_excerpt(block: Block, item: RenderedItem, manifest: Manifest) -> str:
    """Why a pointer's excerpt is no verbatim leading part of its item; nothing where it is one."""
    if block.pointer is None or block.pointer.excerpt is None:
        return ""
    try:
        shown = manifest.codec(block.type).decode(span(block, block.pointer.excerpt))
    except NotDecodable as error:
        return f"its excerpt cannot be undone: {error}"
    return "" if content(item).startswith(shown) else f"its excerpt {quoted(shown)} is no leading part"


def nonce_bits(nonces: Iterable[str]) -> float:
    """Bits that the shortest of some nonces can carry, by the smallest alphabet that writes them all."""
    every = list(nonces)
    used = {character for nonce in every for character in nonce}
    alphabet = next((len(a) for a in _ALPHABETS if used <= set(a)), _MOST_VALUES)
    return min(len(nonce) for nonce in every) * math.log2(min(alphabet, _MOST_VALUES))
