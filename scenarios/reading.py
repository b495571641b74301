"""Reading a scenario document, with errors that name the file, the place and what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from contextproof.conformance.play.scenario import SCENARIO_VERSION, Scenario

#: Anything escaped in JSON text: a surrogate pair, a \\u escape alone, or one other character.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u(?P<unit>[0-9a-fA-F]{4})|.)", re.DOTALL
)
_SURROGATES = range(0xD800, 0xE000)
_SHOWN = 60


class BadScenario(ValueError):
    """A document is not a scenario that this version can read; the message says where and why."""


class _Problem(ValueError):
    """What is wrong with a document; its name is not known here."""


def read(path: Path | str) -> Scenario:
    """Read a scenario file.

    Raises:
        BadScenario: where it cannot be read, is no JSON, is of another version, holds a lone
            surrogate, or is not shaped as a scenario.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BadScenario(f"{path}: cannot be read: {error.strerror or error}") from error
    return parse(data, str(path))


def parse(data: bytes, name: str) -> Scenario:
    """The scenario that a document's bytes hold. ``name`` is what errors call the document.

    Raises:
        BadScenario: as `read`.
    """
    try:
        text = _decoded(data)
        _refuse_lone_surrogates(text)
        document = _json(text)
        _refuse_other_versions(document)
        return _validated(text, document)
    except _Problem as problem:
        raise BadScenario(f"{name}: {problem}") from problem.__cause__


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise _Problem(f"line {line}, byte {column} of it: not UTF-8 ({error.reason})") from error


def _refuse_lone_surrogates(text: str) -> None:
    for escape in _ESCAPE.finditer(text):
        unit = escape["unit"]
        if unit is not None and int(unit, 16) in _SURROGATES:
            raise _Problem(
                f"{_place(text, escape.start())}: \\u{unit} is half of a surrogate pair without the "
                "other half, which is no character and cannot be sent"
            )


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        ended = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        what = "the document ends too early" if ended else "not JSON"
        raise _Problem(f"{_place(text, error.pos)}: {what} ({error.msg})") from error
    except RecursionError as error:
        raise _Problem("not a scenario: it is nested too deeply to be read") from error


def _no_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Problem(f"the key {key!r} stands twice in one object, once with {_brief(value)}")
        found[key] = value
    return found


def _refuse_other_versions(document: Any) -> None:
    if not isinstance(document, dict):
        raise _Problem(f"not a scenario: it is {_brief(document)} instead of an object")
    version = document.get("version", SCENARIO_VERSION)
    if version != SCENARIO_VERSION or isinstance(version, bool):
        raise _Problem(
            f"version: it is of version {_brief(version)}, and this release reads version "
            f"{SCENARIO_VERSION} only; a later release may read it"
        )


def _validated(text: str, document: Any) -> Scenario:
    try:
        return Scenario.from_json(text)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        told = [(_path(document, p["loc"]), _told(p["type"], p["msg"])) for p in problems]
        # Of what is wrong with the alternatives of one place, the one that was followed furthest says most.
        where, what = max((t for t in told if t[0].startswith(told[0][0])), key=lambda t: len(t[0]))
        raise _Problem(f"{where or 'the document'}: {what}") from error


def _told(kind: str, message: str) -> str:
    told = {"extra_forbidden": "there is no such field", "missing": "this field is missing"}
    return told.get(kind, message[:1].lower() + message[1:])


def _path(document: Any, location: Sequence[int | str]) -> str:
    """A place in the document. Names of variants, which are no keys of it, are left out."""
    path, value = "", document
    for number, key in enumerate(location):
        is_last = number == len(location) - 1
        if isinstance(key, int) and isinstance(value, list):
            path += f"[{key}]"
            value = value[key] if key < len(value) else None
        elif isinstance(value, dict) and (is_last or key in value):
            path += f".{key}" if path else str(key)
            value = value.get(key)
    return path


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return f"line {line}, column {column}"


def _brief(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=True)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
