"""Configurations written into a folder, read back and checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contextproof.conformance.contract.items import tool_content
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.preflight.checking import Preflight, check
from contextproof.conformance.preflight.reading import Configuration, Parts, read

MODEL = {"name": "m", "tokenizer": "o200k_base", "window": 100_000, "output_reserve": 4_000}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}

Write = Callable[..., Path]


def document(**members: Any) -> dict[str, Any]:
    """A small configuration, with these members; None takes one away."""
    whole = {"model": MODEL, "policy": "Do no harm."} | members
    return {key: value for key, value in whole.items() if value is not None}


def written(folder: Path, value: Any, name: str = "opening.json") -> Path:
    """A file with a JSON value, or with the very text or bytes given."""
    path = folder / name
    data = value if isinstance(value, bytes) else value if isinstance(value, str) else json.dumps(value)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def configured(folder: Path, **members: Any) -> Configuration:
    """What is read of a small configuration."""
    return read(written(folder, document(**members)), Parts())


def checked(folder: Path, **members: Any) -> Preflight:
    """What is found of a small configuration, without a builder."""
    return check(configured(folder, **members))


def words(tokens: int) -> str:
    """A text of so many tokens."""
    text = "a" + " a" * (tokens - 1)
    assert count("o200k_base", text) == tokens
    return text


def tools_of(tokens: int, number: int = 1) -> list[dict[str, Any]]:
    """MCP tools of so many tokens together; the first is filled up."""
    names = [f"tool_{n}" for n in range(number)]
    rest = sum(count("o200k_base", tool_content(name, "", "{}")) for name in names[1:])
    bare = count("o200k_base", tool_content(names[0], "a", "{}"))
    first = {"name": names[0], "description": "a" + " a" * (tokens - rest - bare), "inputSchema": {}}
    return [first, *({"name": name, "inputSchema": {}} for name in names[1:])]
