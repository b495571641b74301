"""Making a scenario that shows a fault as small as it will go, or any other document that does.

Works on the scenario's JSON document, so that it serves generated and scripted sessions alike: lists
lose members, texts and numbers get smaller, recipes become plain. Whatever is no longer a scenario is
left aside without being played, and the number of plays is bounded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pydantic import ValidationError

from contextproof.conformance.contract.base import Frozen

Json = Any
Document = TypeVar("Document", bound=Frozen)
Path = tuple[str | int, ...]

#: Members that are never touched: changing them makes another scenario, not a smaller one.
_KEPT = frozenset({"version", "name", "step", "kind", "id", "platform_secret", "parameters_json"})


def shrink(scenario: Document, shows: Callable[[Document], bool], *, plays: int = 400) -> Document:
    """The smallest scenario found that still shows the fault.

    Args:
        scenario: one that shows it.
        shows: plays a candidate and says whether it still does.
        plays: how many candidates may be played at the most.
    """
    tried = {scenario}
    smallest = scenario
    while len(tried) <= plays:
        better = _first_that_shows(smallest, shows, tried, plays)
        if better is None:
            break
        smallest = better
    return smallest


def _first_that_shows(
    scenario: Document, shows: Callable[[Document], bool], tried: set[Document], plays: int
) -> Document | None:
    """The boldest candidate not tried yet that still shows the fault."""
    for candidate in candidates(scenario):
        if candidate in tried:
            continue
        if len(tried) > plays:
            return None
        tried.add(candidate)
        if shows(candidate):
            return candidate
    return None


def candidates(scenario: Document) -> Iterator[Document]:
    """Smaller scenarios, boldest first."""
    document = json.loads(scenario.model_dump_json())
    for change in (_shorter_lists, _smaller_values):
        for smaller in change(document):
            try:
                yield type(scenario).model_validate_json(json.dumps(smaller))
            except ValidationError:
                continue


def _shorter_lists(document: Json) -> Iterator[Json]:
    """The document with runs of members taken out of its lists: long runs first, from the end."""
    lists = sorted(_lists(document), key=lambda path: -len(_at(document, path)))
    longest = max((len(_at(document, path)) for path in lists), default=0)
    run = longest
    while run >= 1:
        for path in lists:
            members = _at(document, path)
            for start in range(len(members) - run, -1, -run):
                yield _with(document, path, members[:start] + members[start + run :])
        run //= 2


def _smaller_values(document: Json) -> Iterator[Json]:
    """The document with one text or number made smaller, or one member left to its default."""
    for path, value in _leaves(document):
        if path[-1] in _KEPT:
            continue
        for smaller in _smaller(value):
            yield _with(document, path, smaller)


def _smaller(value: Json) -> Iterator[Json]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        yield from dict.fromkeys(n for n in (0, 1, value // 2, value - 1) if 0 <= n < value)
    elif isinstance(value, str) and value:
        yield from dict.fromkeys(
            text for text in ("", "x", value[: len(value) // 2]) if len(text) < len(value)
        )


def _lists(value: Json, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, list):
        yield path
    for key, inner in _members(value):
        yield from _lists(inner, (*path, key))


def _leaves(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    members = list(_members(value))
    if not members and path:
        yield path, value
    for key, inner in members:
        yield from _leaves(inner, (*path, key))


def _members(value: Json) -> Iterator[tuple[str | int, Json]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _at(value: Json, path: Path) -> Json:
    for key in path:
        value = value[key]
    return value


def _with(value: Json, path: Path, new: Json) -> Json:
    """A copy of the document with another value at a path; what is off the path is shared."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy
