"""Files from outside as JSON values and texts, with errors of one sentence that name file and place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from contextproof.conformance.contract.base import MAX_INTEGER, Frozen

#: Objects and lists within one another; more of them than any schema has.
MAX_DEPTH = 200
#: Digits that a 64-bit number may have at most; a longer one is read roughly, and refused where it matters.
_DIGITS = 19
_SHOWN = 60

_Made = TypeVar("_Made", bound=Frozen)


class BadInput(ValueError):
    """Something that was given cannot be read as what it is to be; the message says where and why."""


@dataclass(frozen=True)
class Place:
    """A place in what was given: the file (or the option), and the path within it."""

    document: str
    path: str = ""

    def member(self, key: str) -> Place:
        """A member of the object at this place."""
        return replace(self, path=f"{self.path}.{key}" if self.path else key)

    def entry(self, index: int) -> Place:
        """An entry of the list at this place."""
        return replace(self, path=f"{self.path}[{index}]")

    def problem(self, what: str) -> BadInput:
        """What is wrong here, to be raised."""
        return BadInput(f"{self}: {what}")

    def __str__(self) -> str:
        return f"{self.document}: {self.path}" if self.path else self.document


def read_text(path: Path, name: str | None = None) -> str:
    """The text of a file as it stands, its last line break included."""
    place = Place(name or str(path))
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise place.problem(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = error.start - data.rfind(b"\n", 0, error.start)
        raise place.problem(f"line {line}, byte {byte} of it: not UTF-8 ({error.reason})") from None


def read_json(path: Path, name: str | None = None) -> Any:
    """The JSON value of a file: no key twice in an object, no lone surrogate, not too deep."""
    return parse(read_text(path, name).removeprefix("\ufeff"), Place(name or str(path)))


def parse(text: str, place: Place) -> Any:
    """The JSON value of a text, under the same conditions."""

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise place.problem(f"the key {brief(key)} stands twice in one object")
            found[key] = value
        return found

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise place.problem(f"line {error.lineno}, column {error.colno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise place.problem("it is nested too deeply to be read") from None
    for key_or_text, where in _strings(value, place):
        if any("\ud800" <= character <= "\udfff" for character in key_or_text):
            raise where.problem("half of a surrogate pair without the other, which is no character")
    return value


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


def _strings(value: Any, place: Place, depth: int = 0) -> Iterator[tuple[str, Place]]:
    """Every text and every key of a value, with its place."""
    if depth > MAX_DEPTH:
        raise Place(place.document).problem(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        yield value, place
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key, place.member(key)
            yield from _strings(inner, place.member(key), depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _strings(inner, place.entry(index), depth + 1)


def refuse_uncarried(value: Any, place: Place) -> None:
    """Refuse numbers that the contract does not carry: with a fraction, or beyond 2^53 - 1."""
    if isinstance(value, float) or (isinstance(value, int) and abs(value) > MAX_INTEGER):
        raise place.problem(f"{value!r} has a fraction or is beyond 2^53 - 1: the contract carries neither")
    if isinstance(value, dict):
        for key, inner in value.items():
            refuse_uncarried(inner, place.member(key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            refuse_uncarried(inner, place.entry(index))


def an_object(value: Any, place: Place) -> dict[str, Any]:
    """The value, if it is an object."""
    if not isinstance(value, dict):
        raise place.problem(f"must be an object, and is {brief(value)}")
    return value


def a_list(value: Any, place: Place) -> list[Any]:
    """The value, if it is a list."""
    if not isinstance(value, list):
        raise place.problem(f"must be a list, and is {brief(value)}")
    return value


def made(kind: type[_Made], fields: Mapping[str, Any], place: Place, *, is_one_value: bool = False) -> _Made:
    """A message of the contract from plain JSON fields; what is wrong with them is told with its place.

    With ``is_one_value`` the fields stand for a single value, and the place of that is told.
    """
    try:
        return kind.from_json(json.dumps(fields))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        # A member that is misspelt is missing too; what is there is the better hint.
        first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
        for step in () if is_one_value else first["loc"]:
            place = place.entry(step) if isinstance(step, int) else place.member(step)
        message = first["msg"][:1].lower() + first["msg"][1:]
        raise place.problem(_TOLD.get(first["type"], message)) from None


_TOLD = {
    "extra_forbidden": "there is no such member",
    "missing": "this member is missing",
    "string_pattern_mismatch": "must not be blank",
    "string_too_short": "must not be empty",
}


def brief(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    shown = json.dumps(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
