"""JSON Schemas of everything that travels, generated from the models themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from pydantic import TypeAdapter

from contextproof.conformance.contract.calls import METHODS, REVERSE, InitializeCall, Initialized
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.play.document import TraceDocument
from contextproof.conformance.play.scenario import Scenario


def schemas() -> dict[str, dict[str, Any]]:
    """Schemas by name: ``build.call``, ``build.answer`` and so on, manifest, scenario, trace."""
    types: dict[str, Any] = {
        "manifest": Manifest,
        "scenario": Scenario,
        "trace": TraceDocument,
        "initialize.call": InitializeCall,
        "initialize.answer": Initialized,
    }
    for name, method in METHODS.items():
        types[f"{name}.call"] = method.arguments
        types[f"{name}.answer"] = method.answer_type
    for name, (call, answer) in REVERSE.items():
        types[f"{name}.call"] = call
        types[f"{name}.answer"] = answer
    return {name: TypeAdapter(types[name]).json_schema() for name in sorted(types)}


def print_schemas(stream: TextIO) -> None:
    """All of them as one JSON document."""
    json.dump(schemas(), stream, indent=1, ensure_ascii=False)
    stream.write("\n")


def write_schemas(folder: Path) -> int:
    """One file each into a folder, which is made if need be; returns how many. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    found = schemas()
    for name, schema in found.items():
        text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{name}.schema.json").write_text(text, encoding="utf-8")
    return len(found)
