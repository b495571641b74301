"""Telling in one line what a builder did wrong."""

from __future__ import annotations

import json
import traceback
from typing import Any

from pydantic import ValidationError


def explain(error: ValidationError) -> str:
    """The first thing that is wrong: where, and what; with how many more there are."""
    first, *others = error.errors(include_url=False, include_context=False)
    place = ".".join(str(part) for part in first["loc"]) or "the whole value"
    more = f" (and {len(others)} more)" if others else ""
    return f"{place}: {first['msg']}{more}"


def told(error: BaseException) -> str:
    """An exception in one line: its type, what it says, and where it was raised."""
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, ValidationError):
        what = f"{type(error).__name__} ({error.title}): {explain(error)}"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if "site-packages" not in frame.filename]
    where = f" ({theirs[-1].filename}, line {theirs[-1].lineno})" if theirs else ""
    return " ".join(f"{what}{where}".split())


def lone_surrogate(document: bytes) -> str:
    """Where a JSON document holds half of a surrogate pair, as a path; empty where it holds none."""
    try:
        value = json.loads(document)
    except (ValueError, RecursionError):
        return ""
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
            return path or "the whole value"
        inner = (
            value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
        )
        pending += [(f"{path}.{key}".lstrip("."), one) for key, one in inner]
    return ""
