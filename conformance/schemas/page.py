"""The page of messages: every message and what it is made of, field by field, for people."""

from __future__ import annotations

from collections.abc import Iterator
from enum import EnumMeta, StrEnum
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from contextproof.conformance.contract.calls import METHODS, REVERSE
from contextproof.conformance.schemas.models import field_descriptions, messages

_HEAD = (
    "# Messages\n\n"
    "Every message of the protocol and what it is made of. This page is generated from the contract's "
    "models; `contextproof schema --out DIR` writes it, and the JSON Schemas that say the same to a program. "
    "How the messages go to and fro, and what they are for: [protocol](protocol.md).\n\n"
    "*May be left out* is said of what a builder sends: a field left out is null, empty, or has the default "
    "that its schema gives. What the suite sends has every field.\n"
)


def messages_page() -> str:
    """The whole page as Markdown."""
    return "\n".join((_HEAD, *_calls(), "## What they are made of", "", *_models())) + "\n"


def _calls() -> Iterator[str]:
    yield "## Calls"
    yield ""
    yield "| call | of | params | answers |"
    yield "| --- | --- | --- | --- |"
    types = messages()
    for name in ("initialize", *METHODS, "shutdown", *REVERSE):
        caller = "the builder" if name in REVERSE else "the suite"
        params, answers = (
            " or ".join(f"[{model.__name__}](#{model.__name__.lower()})" for model in _direct(types[key]))
            for key in (f"{name}.call", f"{name}.answer")
        )
        yield f"| `{name}` | {caller} | {params} | {answers} |"
    yield ""


def _models() -> Iterator[str]:
    for model in sorted(_all_models(), key=lambda model: model.__name__):
        yield f"### {model.__name__}"
        yield ""
        yield _inline(model.__doc__ or "")
        yield ""
        yield from _fields(model)


def _fields(model: type[BaseModel]) -> Iterator[str]:
    described = field_descriptions(model)
    if not model.model_fields:
        return
    yield "| field | is | means |"
    yield "| --- | --- | --- |"
    for name, field in model.model_fields.items():
        left_out = "" if field.is_required() or _is_tag(field.annotation) else "; may be left out"
        kind = _kind(field.annotation)
        yield f"| `{name}` | {kind}{left_out} | {described.get(name, '')} |"
    yield ""


def _is_tag(annotation: Any) -> bool:
    return bool(_literal(annotation))


def _literal(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _kind(annotation: Any) -> str:
    """A type in words."""
    if annotation is type(None):
        return "null"
    if isinstance(annotation, EnumMeta):
        members: list[StrEnum] = list(annotation)
        return ", ".join(f"`{member.value}`" for member in members)
    if literal := _literal(annotation):
        return ", ".join(f"`{value}`" for value in literal)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    if get_origin(annotation) is tuple:
        inner = [argument for argument in get_args(annotation) if argument is not Ellipsis]
        return f"list of {' and '.join(_kind(argument) for argument in inner)}"
    if hasattr(annotation, "__metadata__"):
        return _kind(get_args(annotation)[0])
    if get_args(annotation):
        return " or ".join(_kind(argument) for argument in get_args(annotation))
    return {"str": "text", "int": "integer", "bool": "true or false"}.get(annotation.__name__, "anything")


def _direct(annotation: Any) -> list[type[BaseModel]]:
    """The models that a type names, without what they are made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _direct(argument)]


def _all_models() -> set[type[BaseModel]]:
    pending = [model for annotation in messages().values() for model in _direct(annotation)]
    found: set[type[BaseModel]] = set()
    while pending:
        model = pending.pop()
        if model not in found:
            found.add(model)
            pending += [one for field in model.model_fields.values() for one in _direct(field.annotation)]
    return found


def _inline(text: str) -> str:
    return " ".join(text.replace("``", "`").split())
