"""Writing schemas, examples and vectors where the command line wants them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from contextproof.conformance.schemas.examples import as_lines, pairs, transcript
from contextproof.conformance.schemas.models import schemas
from contextproof.conformance.schemas.page import messages_page
from contextproof.conformance.schemas.vectors import vectors


def print_schemas(stream: TextIO) -> None:
    """All schemas as one JSON document."""
    stream.write(_text(schemas()))


def write_schemas(folder: Path, spec: str) -> int:
    """Write schemas, and ``examples`` and ``vectors`` beside them; returns how many files.

    Args:
        folder: made if need be; files of these names in it are written anew.
        spec: the builder that the examples are played with.

    Raises:
        OSError: where it cannot be written.
        BuilderError: where the builder cannot be reached.
    """
    written = {f"{name}.schema.json": _text(schema) for name, schema in schemas().items()}
    written |= {f"vectors/{name}.json": _text(listed) for name, listed in vectors().items()}
    folder.mkdir(parents=True, exist_ok=True)
    lines = transcript(spec)
    written |= {f"examples/{name}.json": _text(pair) for name, pair in pairs(lines).items()}
    written["messages.md"] = messages_page()
    written["examples/transcript.jsonl"] = "".join(as_lines(lines))
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return len(written)


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
