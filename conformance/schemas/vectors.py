"""Test vectors: canonical JSON, contents, hashes, extents and counts, each with what it must come to."""

from __future__ import annotations

from typing import Any

from contextproof.conformance.contract.base import canonical_json, sha256
from contextproof.conformance.contract.codecs import Substitution, Xml
from contextproof.conformance.contract.items import ToolCall, ToolDefinition, content
from contextproof.conformance.contract.request import Block, Extent, prefix_sha256
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Region, Role, Trust

_TEXTS = (
    "",
    "plain",
    'quote " backslash \\ slash /',
    "tab\tnewline\r\nbackspace\x08formfeed\x0cbell\x07delete\x7f",
    "naïve résumé",
    "漢字かな",
    "astral 😀 𝔘 𐍈",
    "joined 👩\u200d👩\u200d👧, right-to-left \u202eabc\u202c",
    "line\u2028separator\u2029paragraph",
    "e\u0301 is not é",
    "\ufeffbyte order mark, \ufffe noncharacter",
    "<|endoftext|>",
)
_VALUES: tuple[Any, ...] = (
    *_TEXTS,
    None,
    True,
    0,
    -1,
    2**53 - 1,
    [],
    {},
    [3, [2], {"a": []}],
    {"b": 1, "a": 2, "B": 3, "": 4},
    {"é": 1, "e": 2, "😀": 3, "\ufb33": 4, "\r": 5, "1": 6},
    {"nested": {"z": [1, {"y": None}], "a": False}},
)
_SCHEMA = '{"type":"object","properties":{"z":{"type":"string"},"a":{"enum":["é","😀"]}}}'


def vectors() -> dict[str, list[dict[str, Any]]]:
    """All vectors, by what they are about."""
    return {
        "canonical_json": [{"value": value, "bytes": canonical_json(value).decode()} for value in _VALUES],
        "contents": _contents(),
        "sha256": [{"text": text, "sha256": sha256(text)} for text in _TEXTS],
        "prefix_sha256": _prefixes(),
        "extents": _extents(),
        "codecs": _codecs(),
        "counts": [
            {"tokenizer": name, "text": text, "tokens": count(name, text)}
            for name in ("o200k_base", "cl100k_base")
            for text in _TEXTS
        ],
    }


def _contents() -> list[dict[str, Any]]:
    """What an item holds, by the contract; texts are their own content."""
    tool = ToolDefinition(
        id="t", name="look_up", description="Looks it up.", parameters_json=_SCHEMA, source="s"
    )
    call = ToolCall(id="c", message_id="m", call_id="1", name="look_up", arguments='{"z": "naïve 😀"')
    return [{"item": item.model_dump(mode="json"), "content": content(item)} for item in (tool, call)]


def _prefixes() -> list[dict[str, Any]]:
    found = []
    for texts in ((), ("one",), ("one", "", "two"), _TEXTS):
        blocks = tuple(_block(text) for text in texts)
        found.append({"texts": list(texts), "prefix_sha256": prefix_sha256(blocks)})
    return found


def _block(text: str) -> Block:
    return Block(
        item_id="p",
        type="platform_policy",
        region=Region.A,
        role=Role.SYSTEM,
        label=Trust.PLATFORM,
        source="platform",
        text=text,
    )


def _extents() -> list[dict[str, Any]]:
    """Where a part lies in a text, in UTF-8 bytes, and not in characters or UTF-16 units."""
    found = []
    for before, part, after in (
        ("", "abc", ""),
        ("<", "naïve", ">"),
        ("é", "x", "é"),
        ("😀", "𝔘", "😀"),
        ("漢字 ", "e\u0301", "\u2028"),
        ("end", "", ""),
    ):
        text = before + part + after
        start = len(before.encode())
        extent = Extent(start=start, end=start + len(part.encode()))
        assert extent.of(text) == part.encode()
        found.append({"text": text, "extent": extent.model_dump(), "covers": part})
    return found


def _codecs() -> list[dict[str, Any]]:
    """How the suite undoes a declared codec: the longest rendered text first, in one scan."""
    table = Substitution(table=(("&", "&amp;"), ("<", "&lt;"), ("[[", "[&#91;")))
    rendered = ("a &lt; b &amp;lt; c", "[&#91;x[", "😀 &amp;&lt;")
    return [
        {"codec": codec.model_dump(mode="json"), "rendered": text, "plain": codec.decode(text)}
        for codec in (table, Xml())
        for text in rendered
    ]
