"""Blocks as plain text that can be read and compared, and that cannot deceive whoever reads it.

What is hidden is written as its code point between single angle quotes, ``‹U+202E›``, a nonce as
``‹nonce 1›``. The quotes themselves are written so too where they stand in a text, so that no content
can imitate either. A line of a block's text begins with a bar: nothing else in a file does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from contextproof.conformance.contract.request import Block, Pointer, Reference
from contextproof.conformance.report.escape import is_hidden

#: What every file begins with; by it we know a file that we wrote.
MARK = "# contextproof snapshot: "
#: Shorter nonces could not be told from ordinary text, and stand as they are.
_NONCE_CHARACTERS = 8
_UNUSUAL = re.compile(r"[^\x20-\x7e]|[ ](?=\n|$)", re.MULTILINE)
_TEXTS_REMEMBERED = 4_096
_NUMBERED = re.compile("‹nonce [0-9]+›")


@lru_cache(maxsize=_TEXTS_REMEMBERED)
def escaped(text: str) -> str:
    """A text with everything hidden in it shown, blanks at the end of a line too; newlines stay newlines."""
    return _UNUSUAL.sub(_escape, text)


def one_line(text: str) -> str:
    """The same on one line, newlines escaped too."""
    return escaped(text).replace("\n", "‹U+000A›")


def quoted(text: str) -> str:
    """A text in quotation marks on one line."""
    return '"' + one_line(text).replace('"', "‹U+0022›") + '"'


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    if character == "\n":
        return character
    if character in " ‹›" or is_hidden(character):
        return f"‹U+{ord(character):04X}›"
    return character


def barred(line: str) -> str:
    """A line of a text as a file has it."""
    return f"| {line}" if line else "|"


def nonce_of(block: Block) -> str | None:
    """The nonce that a block's opening carries, if it has one that can be told from ordinary text."""
    if block.envelope is None:
        return None
    nonce = block.envelope.nonce.of(block.text).decode(errors="replace")
    return nonce if len(nonce) >= _NONCE_CHARACTERS else None


def nonces_of(blocks: Iterable[Block]) -> frozenset[str]:
    """All nonces of some blocks."""
    return frozenset(nonce for nonce in map(nonce_of, blocks) if nonce is not None)


def shown(blocks: Sequence[Block], nonces: Iterable[str]) -> str:
    """Blocks as text: what each is sent as, then its text. Nonces are numbered as they first appear."""
    return numbered("\n".join(_block(block) for block in blocks), nonces)


def numbered(text: str, nonces: Iterable[str]) -> str:
    """A text that is escaped already, with each nonce in it as ``‹nonce N›``."""
    written = {escaped(nonce) for nonce in nonces}
    present = sorted((nonce for nonce in written if nonce in text), key=text.index)
    number = {nonce: place for place, nonce in enumerate(present, 1)}
    for nonce in sorted(present, key=len, reverse=True):
        text = text.replace(nonce, f"‹nonce {number[nonce]}›")
    return text


def without_numbers(line: str) -> str:
    """A line of a file with every nonce as ``‹nonce›``, whatever its number."""
    return _NUMBERED.sub("‹nonce›", line)


def _block(block: Block) -> str:
    lines = [_heading(block), *_beside(block)]
    lines += map(barred, escaped(block.text).split("\n"))
    return "\n".join(lines) + "\n"


def _heading(block: Block) -> str:
    kind = one_line(block.type)
    place = f"{kind}, {block.slot.value}" if block.slot is not None else kind
    return f"{place}: region {block.region.value}, role {block.role.value}, label {block.label.value}"


def _beside(block: Block) -> list[str]:
    """What a block carries beside its text, a line each."""
    item = "no item" if block.item_id is None else f"item {quoted(block.item_id)}"
    lines = [f"  {item}, source {quoted(block.source)}"]
    if block.call_id is not None:
        status = f", status {block.status.value}" if block.status is not None else ""
        lines.append(f"  call {quoted(block.call_id)}{status}")
    if block.pointer is not None:
        lines.append(f"  {_pointer(block.pointer)}")
    return lines


def _pointer(pointer: Pointer) -> str:
    originals = ", ".join(map(_reference, pointer.references))
    excerpt = ", with an excerpt" if pointer.excerpt is not None else ""
    kind, trust = pointer.kind.value, pointer.trust.value
    return f"{kind} pointer to {pointer.size} bytes, {trust}, of {originals}{excerpt}"


def _reference(reference: Reference) -> str:
    if reference.start is None and reference.end is None:
        return quoted(reference.item_id)
    return f"{quoted(reference.item_id)} from {reference.start or 0} to {reference.end or 'its end'}"
