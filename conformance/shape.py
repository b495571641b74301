"""Telling in one line what a builder did wrong."""

from __future__ import annotations

from pydantic import ValidationError


def explain(error: ValidationError) -> str:
    """The first thing that is wrong: where, and what; with how many more there are."""
    first, *others = error.errors(include_url=False, include_context=False)
    place = ".".join(str(part) for part in first["loc"]) or "the whole value"
    more = f" (and {len(others)} more)" if others else ""
    return f"{place}: {first['msg']}{more}"


def told(error: Exception) -> str:
    """An exception in one line: its type, and what it says."""
    if isinstance(error, ValidationError):
        return f"{type(error).__name__} ({error.title}): {explain(error)}"
    return f"{type(error).__name__}: {error}"
