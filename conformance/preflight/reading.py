"""Reading a configuration: one document, and single parts that take the place of its members.

A member of the document is the thing itself, or ``{"path": "…"}`` for a file beside the document, or a
list of either. In a file that ends in .json stands what could stand in the document, a .jsonl has an
entry a line, and any other file is one text as it stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.items import (
    AgentInstructions,
    MemoryItem,
    PlatformPolicy,
    ToolDefinition,
)
from contextproof.conformance.contract.session import ModelSpec, Opening
from contextproof.conformance.preflight.document import (
    Place,
    a_list,
    an_object,
    brief,
    made,
    parse,
    read_json,
    read_text,
)
from contextproof.conformance.preflight.tools import read_tools

#: Stands in for the platform's secret, which no measure of content depends on.
STAND_IN_SECRET = "stands in for the secret of the platform"  # noqa: S105

_LISTS = ("policy", "instructions", "tools", "memory")
_PLAIN = ("model", "permissions", "platform_secret")
_MODEL_PARTS = 4
#: More digits than any number that the contract carries.
_FIGURE_DIGITS = 16

_Item = TypeVar("_Item", bound=Frozen)


@dataclass(frozen=True)
class Parts:
    """What takes the place of members of the document: files, and a model in one word."""

    policy: tuple[Path, ...] = ()
    instructions: tuple[Path, ...] = ()
    tools: tuple[Path, ...] = ()
    memory: tuple[Path, ...] = ()
    model: str | None = None


@dataclass(frozen=True)
class Configuration:
    """What a session would open with.

    Attributes:
        opening: as the contract has it.
        tools_read: how each file's or member's tools were read.
        notes: what a reader should know besides, such as what is not measured.
        has_secret: whether the platform's secret was given.
    """

    opening: Opening
    tools_read: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    has_secret: bool = False


class _Found(NamedTuple):
    """A value with where it was found, and what tools from there have as their source."""

    value: Any
    place: Place
    source: str = "document"


@dataclass(frozen=True)
class _Members:
    """The members of a document: lists as the values in them, and the others as they stand."""

    place: Place
    lists: Mapping[str, tuple[_Found, ...]]
    plain: Mapping[str, Any]


def read(document: Path | None, parts: Parts) -> Configuration:
    """The configuration that a document and single parts describe.

    Raises:
        BadInput: one sentence that says what is wrong, and where.
    """
    members = _members(document, parts)
    model = _model(members, parts.model)
    tools, tools_read, notes = _tools(members.lists["tools"])
    items: dict[str, Sequence[Frozen]] = {
        "policy": _items(PlatformPolicy, "policy", members),
        "instructions": _items(AgentInstructions, "instructions", members),
        "tools": tools,
        "memory": _items(MemoryItem, "memory", members),
    }
    if not items["policy"]:
        raise members.place.member("policy").problem("missing: no session opens without platform policy")
    _refuse_equal_ids(items, members.place)
    permissions = _permissions(members, tools)
    fields = {
        "platform_secret": members.plain.get("platform_secret", STAND_IN_SECRET),
        "model": model.model_dump(mode="json"),
        "permissions": permissions,
    }
    fields |= {key: [item.model_dump(mode="json") for item in found] for key, found in items.items()}
    return Configuration(
        opening=made(Opening, fields, members.place),
        tools_read=tools_read,
        notes=(*notes, *_remarks(tools, permissions, members)),
        has_secret="platform_secret" in members.plain,
    )


# --- The document and its members ------------------------------------------------------------------------


def _members(document: Path | None, parts: Parts) -> _Members:
    place, found, folder = Place("the configuration"), {}, Path()
    if document is not None:
        place, folder = Place(str(document)), document.parent
        found = an_object(read_json(document), place)
        _refuse_other_members(found, place)
    lists = {}
    for key in _LISTS:
        files: tuple[Path, ...] = getattr(parts, key)
        given = (one for file in files for one in _from_file(file, str(file), key))
        lists[key] = tuple(given if files else _expanded(found.get(key), place.member(key), folder, key))
    return _Members(place, lists, {key: found[key] for key in _PLAIN if key in found})


def _refuse_other_members(found: Mapping[str, Any], place: Place) -> None:
    if "opening" in found and "steps" in found:
        raise place.problem("it is a scenario of this suite, and not the configuration of an agent")
    for key in found:
        if key not in (*_LISTS, *_PLAIN):
            known = ", ".join((*_LISTS, *_PLAIN))
            raise place.member(key).problem(f"there is no such member; there are {known}")


def _expanded(value: Any, place: Place, folder: Path, key: str) -> Iterator[_Found]:
    """What stands for a member: entries of lists one by one, files read. A file names no further file."""
    entries = [(value, place)]
    if value is None:
        entries = []
    elif isinstance(value, list):
        entries = [(entry, place.entry(index)) for index, entry in enumerate(value)]
    for entry, at in entries:
        if not isinstance(entry, dict) or "path" not in entry or not entry.keys() <= {"path", "source"}:
            yield _Found(entry, at)
            continue
        for name in ("path", "source"):
            if not isinstance(entry.get(name, ""), str):
                raise at.member(name).problem(f"must be a text, and is {brief(entry[name])}")
        for one in _from_file(folder / entry["path"], entry["path"], key):
            yield one._replace(source=entry.get("source", one.source))


def _from_file(path: Path, name: str, key: str) -> Iterator[_Found]:
    if path.suffix == ".jsonl":
        for number, line in enumerate(read_text(path, name).splitlines(), 1):
            if line.strip():
                at = Place(f"{name}, line {number}")
                yield _Found(parse(line, at), at, path.stem)
    elif path.suffix == ".json" or key == "tools":
        value = read_json(path, name)
        if isinstance(value, list):
            for index, entry in enumerate(value):
                yield _Found(entry, Place(name).entry(index), path.stem)
        else:
            yield _Found(value, Place(name), path.stem)
    else:
        yield _Found(read_text(path, name), Place(name), path.stem)


# --- What they hold --------------------------------------------------------------------------------------


def _model(members: _Members, option: str | None) -> ModelSpec:
    place = members.place.member("model")
    given = members.plain.get("model")
    if given is None and option is None:
        raise place.problem("missing: give it there, or by --model NAME:tokenizer:window:reserve")
    fields: dict[str, Any] = {}
    if given is not None:
        fields = _in_words(given, place) if isinstance(given, str) else an_object(given, place)
    if option is not None:
        place = Place("--model")
        fields = {**fields, **_in_words(option, place)}
    return made(ModelSpec, fields, place)


def _in_words(text: str, place: Place) -> dict[str, Any]:
    """A model in one word. A name may have colons of its own, so the parts are taken from the right."""
    words = text.rsplit(":", _MODEL_PARTS - 1)
    if len(words) < _MODEL_PARTS:
        raise place.problem(f"{brief(text)} is not of the form NAME:tokenizer:window:reserve")
    name, tokenizer, *figures = words
    for figure in figures:
        if not (figure.isascii() and figure.isdigit() and len(figure) <= _FIGURE_DIGITS):
            raise place.problem(f"window and reserve are numbers of tokens, and {brief(figure)} is none")
    window, reserve = map(int, figures)
    return {"name": name, "tokenizer": tokenizer, "window": window, "output_reserve": reserve}


def _items(kind: type[_Item], key: str, members: _Members) -> tuple[_Item, ...]:
    """Texts, and objects with a text; ids are made up where none is given."""
    items = []
    for number, (value, place, _) in enumerate(members.lists[key], 1):
        fields = {"id": f"{key}-{number}"}
        if isinstance(value, str):
            items.append(made(kind, fields | {"text": value}, place, is_one_value=True))
        else:
            items.append(made(kind, fields | an_object(value, place), place))
    return tuple(items)


def _tools(
    found: Sequence[_Found],
) -> tuple[tuple[ToolDefinition, ...], tuple[str, ...], tuple[str, ...]]:
    """All definitions, how they were read, and what is to be noted on the way."""
    ids = (f"tools-{number}" for number in count(1))
    listed = [(one.place.document, tool) for one in found for tool in read_tools(*one, ids)]
    shapes = Counter((document, tool.shape) for document, tool in listed if tool.definition is not None)
    return (
        tuple(tool.definition for _, tool in listed if tool.definition is not None),
        tuple(
            f"{document}: {number} {'tool' if number == 1 else 'tools'} read as {shape}"
            for (document, shape), number in shapes.items()
        ),
        tuple(tool.note for _, tool in listed if tool.note),
    )


def _permissions(members: _Members, tools: Sequence[ToolDefinition]) -> list[str]:
    """Names of the tools permitted: all of them, where nothing is said."""
    given = members.plain.get("permissions")
    if given is None:
        return list(dict.fromkeys(tool.name for tool in tools))
    place = members.place.member("permissions")
    for index, name in enumerate(a_list(given, place)):
        if not isinstance(name, str):
            raise place.entry(index).problem(f"must be a tool's name, and is {brief(name)}")
    return list(given)


def _refuse_equal_ids(items: Mapping[str, Sequence[Frozen]], place: Place) -> None:
    owner: dict[str, str] = {}
    for key, some in items.items():
        for item in some:
            identifier: str = item.model_dump()["id"]
            if identifier in owner:
                where = f"in {key}" if owner[identifier] == key else f"in {owner[identifier]} and in {key}"
                raise place.problem(f"the id {brief(identifier)} is given twice, {where}")
            owner[identifier] = key


def _remarks(tools: Sequence[ToolDefinition], permissions: Sequence[str], members: _Members) -> Iterator[str]:
    names = Counter(tool.name for tool in tools)
    for name, number in names.items():
        if number > 1:
            yield f"{number} tools are named {brief(name)}: most providers refuse that"
    for name in permissions:
        if name not in names:
            yield f"{members.place.member('permissions')}: no tool is named {brief(name)}"
