"""What can be read in a text that an engine wrote in its own way: escaped, quoted, as JSON, as base64."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator

from contextproof.conformance.contract.codecs import NotDecodable
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.request import Block
from contextproof.conformance.requirements.oracles_text import part


def readings(text: str, item_type: str, manifest: Manifest) -> Iterator[str]:
    """A text as it is, and with the escapes undone that it may have been written with."""
    yield text
    yield html.unescape(text)
    try:
        yield manifest.codec(item_type).decode(text)
    except NotDecodable:
        return


def holds(reading: str, piece: str) -> bool:
    """Whether a piece stands in a reading: as it is, as JSON, as JSON within JSON, or as base64."""
    once = [json.dumps(piece, ensure_ascii=plain)[1:-1] for plain in (True, False)]
    twice = [json.dumps(form, ensure_ascii=plain)[1:-1] for form in once for plain in (True, False)]
    encoded = base64.b64encode(piece.encode()).decode()
    return any(form in reading for form in (piece, *once, *twice, encoded))


def names_an_original(block: Block, manifest: Manifest) -> bool:
    """Whether an id that a pointer refers to can be read where it says that it names its originals.

    Of many it may name a few, and say how many there are.
    """
    pointer = block.pointer
    if pointer is None:
        return False
    shown = part(block.text, pointer.reference.start, pointer.reference.end)
    found = list(readings(shown, block.type, manifest))
    return any(holds(reading, ref.item_id) for ref in pointer.references for reading in found)
