"""JSON Schemas of everything that travels, generated from the models themselves.

Models explain a field in a string below it; that text becomes the field's description.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from contextproof.conformance.certificate.model import Certificate
from contextproof.conformance.certification.record import Line
from contextproof.conformance.contract.calls import (
    METHODS,
    REVERSE,
    InitializeCall,
    Initialized,
    ShutDown,
    ShutdownCall,
)
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.counterexample import Counterexample
from contextproof.conformance.play.document import TraceDocument
from contextproof.conformance.play.scenario import Scenario


def messages() -> dict[str, Any]:
    """The types of all messages by name: ``build.call``, ``build.answer`` and so on."""
    types: dict[str, Any] = {
        "initialize.call": InitializeCall,
        "initialize.answer": Initialized,
        "shutdown.call": ShutdownCall,
        "shutdown.answer": ShutDown,
    }
    for name, method in METHODS.items():
        types[f"{name}.call"] = method.arguments
        types[f"{name}.answer"] = method.answer_type
    for name, (call, answer) in REVERSE.items():
        types[f"{name}.call"] = call
        types[f"{name}.answer"] = answer
    return types


def schemas() -> dict[str, dict[str, Any]]:
    """Schemas by name: of all messages, of manifest, scenario and trace, and of what a run leaves behind.

    A run record has one JSON document a line; ``run-record`` is the schema of each.
    What the suite sends has every field; in what it reads, fields with a default may be left out.
    """
    types = {
        **messages(),
        "manifest": Manifest,
        "scenario": Scenario,
        "trace": TraceDocument,
        "counterexample": Counterexample,
        "run-record": Line,
        "certificate": Certificate,
    }
    return {
        name: TypeAdapter(types[name]).json_schema(
            schema_generator=_WithDescriptions, mode="serialization" if _is_sent(name) else "validation"
        )
        for name in sorted(types)
    }


def _is_sent(name: str) -> bool:
    """Whether the suite sends it: calls, and answers to reverse calls."""
    method, _, part = name.partition(".")
    return part == ("answer" if method in REVERSE else "call")


class _WithDescriptions(GenerateJsonSchema):
    """Gives every field the description that stands below it in its model, and requires tags."""

    def model_schema(self, schema: Any) -> Any:
        found = super().model_schema(schema)
        described = field_descriptions(schema["cls"])
        for name, member in found.get("properties", {}).items():
            if name in described:
                member.setdefault("description", described[name])
            if "const" in member and name not in found.setdefault("required", []):
                found["required"].append(name)
        return found


def field_descriptions(model: type[BaseModel]) -> dict[str, str]:
    """By field, the strings below the fields of a model and of those that it inherits from."""
    found: dict[str, str] = {}
    for ancestor in reversed(model.__mro__):
        found |= _documented(ancestor.__module__).get(ancestor.__name__, {})
    return found


@cache
def _documented(module: str) -> dict[str, dict[str, str]]:
    """The strings below fields, by class and field, of a module of ours."""
    if not module.startswith("contextproof."):
        return {}
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return {node.name: dict(_below_fields(node)) for node in classes}


def _below_fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, below in zip(node.body, node.body[1:], strict=False):
        match statement, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, " ".join(inspect.cleandoc(text).split())
