"""Tool lists as they are found: MCP results and the schemas of providers, told apart by their shape.

Of every definition three things reach a model as text to be counted: name, description, and the schema
of the parameters. What else a shape carries (titles, annotations, output schemas, cache marks) does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from contextproof.conformance.contract.items import ToolDefinition
from contextproof.conformance.preflight.document import (
    Place,
    a_list,
    an_object,
    brief,
    made,
    parse,
    refuse_uncarried,
)


class Listed(NamedTuple):
    """An entry of a tool list: a definition, or a note on what stands there and is not measured."""

    definition: ToolDefinition | None
    shape: str
    note: str = ""


@dataclass(frozen=True)
class Shape:
    """A shape that a definition can have.

    Attributes:
        name: what it is called when it is told.
        is_it: whether an object has this shape, where none before it in the list did.
        schema: the member that holds the parameters' schema.
        inside: the member that holds all three parts, where they stand deeper.
        unwrap: from what the schema's member holds to the schema itself.
    """

    name: str
    is_it: Callable[[dict[str, Any]], bool]
    schema: str
    inside: str = ""
    unwrap: Callable[[Any, Place], Any] = lambda value, _: value


def _has(key: str) -> Callable[[dict[str, Any]], bool]:
    return lambda found: key in found


def _from_text(value: Any, place: Place) -> Any:
    """The contract and some exports keep the schema as JSON text."""
    return parse(value, place) if isinstance(value, str) else value


def _from_json_member(value: Any, place: Place) -> Any:
    return an_object(value, place).get("json")


_CONTRACT = Shape("the contract's form", _has("parameters_json"), "parameters_json", unwrap=_from_text)
_GEMINI = "Gemini function declarations"
_BARE = Shape(
    "bare function declarations", lambda found: "name" in found and "type" not in found, "parameters"
)
SHAPES = (
    _CONTRACT,
    Shape("MCP tools/list", _has("inputSchema"), "inputSchema"),
    Shape("Bedrock Converse", _has("toolSpec"), "inputSchema", "toolSpec", _from_json_member),
    Shape("Anthropic messages", _has("input_schema"), "input_schema"),
    Shape("OpenAI chat completions", _has("function"), "parameters", "function"),
    Shape("OpenAI responses", lambda found: found.get("type") == "function", "parameters"),
    Shape(_GEMINI, _has("parametersJsonSchema"), "parametersJsonSchema"),
    Shape(_GEMINI, _has("parameters_json_schema"), "parameters_json_schema"),
    _BARE,
)
"""Every shape of a single definition; the first that fits is taken."""

#: What holds a list of tools: an MCP result or a request's body, older OpenAI requests, and Gemini's.
_LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")
#: What holds something that holds such a list: a JSON-RPC response, a Bedrock request.
_WRAPPERS = ("result", "toolConfig")
#: What Gemini and Bedrock list among the tools, and what is no function of the agent.
_SWITCHES = frozenset(
    {
        *("googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval"),
        *("codeExecution", "code_execution", "urlContext", "url_context", "googleMaps", "google_maps"),
        *("computerUse", "computer_use", "fileSearch", "file_search", "cachePoint", "systemTool"),
    }
)


def read_tools(value: Any, place: Place, source: str, ids: Iterator[str]) -> Iterator[Listed]:
    """Every entry of a tool list, or of what holds one, in order.

    Args:
        value: plain JSON: a list, a result, a request's body, or one definition.
        place: where it was found.
        source: what the tools' source is called.
        ids: fresh ids, for definitions that have none of their own.

    Raises:
        BadInput: where something is of no known shape, or is not right for its shape.
    """
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from read_tools(an_object(entry, place.entry(index)), place.entry(index), source, ids)
        return
    found = an_object(value, place)
    lists = [key for key in _LISTS if key in found]
    for key in () if lists else _WRAPPERS:
        if key in found:
            yield from read_tools(found[key], place.member(key), source, ids)
            return
    for key in lists:
        inside = read_tools(a_list(found[key], place.member(key)), place.member(key), source, ids)
        yield from (_as_gemini(one) for one in inside) if "eclarations" in key else inside
    for key in sorted(_SWITCHES.intersection(found)):
        yield _not_measured(place.member(key), key)
    if found.get("nextCursor"):
        at = place.member("nextCursor")
        yield Listed(None, "", f"{at}: this is one page of a longer list, and the rest is not measured")
    if not lists and not _SWITCHES.intersection(found):
        yield _entry(found, place, source, ids)


def _as_gemini(listed: Listed) -> Listed:
    return listed._replace(shape=_GEMINI) if listed.shape == _BARE.name else listed


def _not_measured(place: Place, name: str) -> Listed:
    return Listed(None, "", f"{place}: {brief(name)} is the provider's own, and is not measured")


def _entry(found: dict[str, Any], place: Place, source: str, ids: Iterator[str]) -> Listed:
    shape = next((shape for shape in SHAPES if shape.is_it(found)), None)
    if shape is not None:
        return Listed(_definition(shape, found, place, source, ids), shape.name)
    if isinstance(found.get("type"), str):
        return _not_measured(place, found["type"])
    known = ", ".join(dict.fromkeys(shape.name for shape in SHAPES))
    raise place.problem(f"{brief(found)} has none of the shapes that are known here ({known})")


def _definition(
    shape: Shape, found: dict[str, Any], place: Place, source: str, ids: Iterator[str]
) -> ToolDefinition:
    holder, at = found, place
    if shape.inside:
        at = place.member(shape.inside)
        holder = an_object(found[shape.inside], at)
    at_schema = at.member(shape.schema)
    schema = shape.unwrap(holder[shape.schema], at_schema) if holder.get(shape.schema) is not None else {}
    refuse_uncarried(an_object(schema, at_schema), at_schema)
    description = holder.get("description")
    fields: dict[str, Any] = {
        "description": "" if description is None else description,
        "parameters_json": json.dumps(schema, ensure_ascii=False),
    }
    own: dict[str, Any] = {
        key: holder[key] for key in ("id", "source") if shape is _CONTRACT and key in holder
    }
    named = {"name": holder["name"]} if "name" in holder else {}
    return made(ToolDefinition, {"id": next(ids), "source": source, **own, **named, **fields}, at)
