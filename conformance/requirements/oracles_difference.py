"""The first difference between two answers, as a path into their JSON and what stands at either end."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from contextproof.conformance.requirements.telling import quoted


class Difference(NamedTuple):
    """Where two values part, and what each has there."""

    path: str
    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.path}: {self.left} against {self.right}"


def first_difference(left: object, right: object) -> Difference | None:
    """The first place where two contract values differ, in order of their fields, or None."""
    if left == right:
        return None
    return _compare("", to_jsonable_python(left), to_jsonable_python(right))


def _compare(path: str, left: Any, right: Any) -> Difference | None:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            found = _compare(f"{path}.{key}", left.get(key), right.get(key))
            if found:
                return found
        return None
    if isinstance(left, list) and isinstance(right, list):
        for n, (one, other) in enumerate(zip(left, right, strict=False)):
            found = _compare(f"{path}[{n}]", one, other)
            if found:
                return found
        return _sizes(path, left, right)
    if isinstance(left, str) and isinstance(right, str) and left != right:
        return _texts(path, left, right)
    return None if left == right else Difference(path or ".", repr(left), repr(right))


def _sizes(path: str, left: list[Any], right: list[Any]) -> Difference | None:
    if len(left) == len(right):
        return None
    return Difference(path or ".", f"{len(left)} entries", f"{len(right)} entries")


def _texts(path: str, left: str, right: str) -> Difference:
    """Where two texts part, with what follows there."""
    length = min(len(left), len(right))
    place = next((n for n in range(length) if left[n] != right[n]), length)
    where = f"{path or '.'} from character {place} on" if place else path or "."
    return Difference(where, quoted(left[place:]), quoted(right[place:]))
