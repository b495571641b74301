"""Telling entries to people: what they are, and how they begin."""

from __future__ import annotations

from collections.abc import Sequence

from contextproof.conformance.trimming.formats import Entry

_SHOWN, _CHARACTERS = 4, 40


def tokens_told(number: int) -> str:
    """A number of tokens in words."""
    return "1 token" if number == 1 else f"{number} tokens"


def told(entries: Sequence[Entry]) -> str:
    """The first few of some entries, in words."""
    if not entries:
        return "nothing"
    more = f" and {len(entries) - _SHOWN} more" if len(entries) > _SHOWN else ""
    return ", ".join(_one(entry) for entry in entries[:_SHOWN]) + more


def _one(entry: Entry) -> str:
    if entry.kind in {"call", "result"}:
        return f"{entry.kind} {entry.id}"
    text = entry.text if len(entry.text) <= _CHARACTERS else f"{entry.text[:_CHARACTERS]}…"
    return f"{entry.kind} {text!r}"
