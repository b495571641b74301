"""What a snapshot is, how its file begins, and safe names for what is named by somebody else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from contextproof.conformance.contract.base import canonical_json, sha256
from contextproof.conformance.contract.request import Block
from contextproof.conformance.snapshot.shown import MARK, barred, escaped, one_line, shown

_UNSAFE = re.compile(r"[^a-z0-9_-]+")
#: Characters of a name at the most, before what tells equal names apart.
_LONGEST = 80


class Snapshot(NamedTuple):
    """One file: its text, and the SHA-256 of the unaltered bytes that the text shows."""

    text: str
    sha256: str


Files = dict[str, Snapshot]
"""Snapshots by the names of their files, which are paths with forward slashes."""


def of_blocks(title: str, blocks: Sequence[Block], nonces: Iterable[str], *notes: str) -> Snapshot:
    """Blocks as a file. Pinned is what they send: their texts, one after the other."""
    head = "".join(f"{one_line(line)}\n" for line in (MARK + title, *notes))
    return Snapshot(f"{head}\n{shown(blocks, nonces)}", sha256("".join(block.text for block in blocks)))


def of_lines(title: str, lines: Iterable[str], pinned: str | bytes) -> Snapshot:
    """Lines as a file, each behind a bar."""
    told = "".join(f"{barred(line)}\n" for line in lines)
    return Snapshot(f"{MARK}{title}\n\n{told}", sha256(pinned))


def of_value(title: str, value: object) -> Snapshot:
    """A JSON value as a file. Pinned is its canonical form."""
    return of_lines(title, _members(value), canonical_json(value))


def _members(value: object, inset: str = "") -> Iterator[str]:
    """A JSON value as lines, a member each: easier to read, and to compare, than brackets."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in entries:
        name = "-" if isinstance(value, list) else f"{one_line(str(key))}:"
        if isinstance(inner, dict | list) and inner:
            yield f"{inset}{name}"
            yield from _members(inner, f"{inset}  ")
        else:
            first, *rest = _scalar(inner).split("\n")
            yield f"{inset}{name} {first}"
            yield from (f"{inset}  {line}" for line in rest)


def _scalar(value: object) -> str:
    match value:
        case str():
            return escaped(value)
        case bool():
            return "yes" if value else "no"
        case None | [] | dict():
            return "none"
        case _:
            return str(value)


def safe(name: str) -> str:
    """A name made of small letters, digits, hyphens and underscores, whatever it was."""
    made = _UNSAFE.sub("_", name.lower())[:_LONGEST].strip("_")
    return made or "unnamed"


def add(files: Files, name: str, snapshot: Snapshot) -> None:
    """Put a snapshot among others; one of a name that is taken gets a number."""
    free = name
    number = 1
    while f"{free}.txt" in files:
        number += 1
        free = f"{name}-{number}"
    files[f"{free}.txt"] = snapshot
