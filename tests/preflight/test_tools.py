"""Tool lists in every shape that is known: what is read of them, and what is said of the others."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from contextproof.conformance.contract.items import content, tool_content
from contextproof.conformance.preflight.document import BadInput, Place
from contextproof.conformance.preflight.tools import Listed, read_tools
from preflight.making import SCHEMA, configured, tools_of

NAME, SAID = "read_file", "Reads a file."
NAMED = {"name": NAME, "description": SAID}
SHAPED: dict[str, tuple[Any, str]] = {
    "mcp result": (
        {"tools": [{**NAMED, "title": "Read", "inputSchema": SCHEMA, "outputSchema": {}, "annotations": {}}]},
        "MCP tools/list",
    ),
    "mcp response": (
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{**NAMED, "inputSchema": SCHEMA}]}},
        "MCP tools/list",
    ),
    "openai chat": (
        [{"type": "function", "function": {**NAMED, "parameters": SCHEMA, "strict": True}}],
        "OpenAI chat completions",
    ),
    "openai responses": (
        {"model": "x", "tools": [{"type": "function", **NAMED, "parameters": SCHEMA}]},
        "OpenAI responses",
    ),
    "openai functions": ({"functions": [{**NAMED, "parameters": SCHEMA}]}, "bare function declarations"),
    "anthropic": (
        [{**NAMED, "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}],
        "Anthropic messages",
    ),
    "anthropic custom": ([{"type": "custom", **NAMED, "input_schema": SCHEMA}], "Anthropic messages"),
    "gemini": (
        {"tools": [{"functionDeclarations": [{**NAMED, "parameters": SCHEMA, "response": {}}]}]},
        "Gemini function declarations",
    ),
    "gemini request": (
        {
            "tools": [{"functionDeclarations": [{**NAMED, "parametersJsonSchema": SCHEMA}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        },
        "Gemini function declarations",
    ),
    "gemini in python": (
        [{"function_declarations": [{**NAMED, "parameters_json_schema": SCHEMA}]}],
        "Gemini function declarations",
    ),
    "bedrock": (
        {"toolConfig": {"tools": [{"toolSpec": {**NAMED, "inputSchema": {"json": SCHEMA}}}]}},
        "Bedrock Converse",
    ),
    "contract": (
        [{**NAMED, "id": "t1", "source": "disk", "parameters_json": json.dumps(SCHEMA)}],
        "the contract's form",
    ),
    "a single one": ({**NAMED, "inputSchema": SCHEMA}, "MCP tools/list"),
}


def listed(value: Any) -> list[Listed]:
    ids = (f"t{number}" for number in count(1))
    return list(read_tools(value, Place("tools.json"), "disk", ids))


@pytest.mark.parametrize("name", SHAPED)
def test_every_shape_gives_the_same_definition_and_is_told(name: str) -> None:
    value, shape = SHAPED[name]
    (found,) = listed(value)
    assert found.shape == shape
    assert found.definition is not None
    assert content(found.definition) == tool_content(NAME, SAID, json.dumps(SCHEMA))
    assert (found.definition.id, found.definition.source) == ("t1", "disk")


def test_shapes_may_be_mixed_and_keep_their_order() -> None:
    mixed = [SHAPED["anthropic"][0][0], *SHAPED["openai chat"][0], SHAPED["a single one"][0]]
    assert [found.shape for found in listed(mixed)] == [
        *("Anthropic messages", "OpenAI chat completions", "MCP tools/list")
    ]
    assert [found.definition.id for found in listed(mixed) if found.definition] == ["t1", "t2", "t3"]


@pytest.mark.parametrize(
    "bare",
    [
        {"name": NAME, "inputSchema": {}},
        {"name": NAME, "description": None, "input_schema": {}},
        {"type": "function", "function": {"name": NAME}},
        {"type": "function", "name": NAME, "parameters": None},
        {"name": NAME},
    ],
)
def test_what_may_be_left_out_counts_as_empty(bare: Any) -> None:
    (found,) = listed([bare])
    assert found.definition is not None
    assert content(found.definition) == tool_content(NAME, "", "{}")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"type": "web_search_20250305", "name": "web_search"}, "tools.json: [0]"),
        ({"type": "code_interpreter"}, "tools.json: [0]"),
        ({"googleSearch": {}}, "tools.json: [0].googleSearch"),
        ({"cachePoint": {"type": "default"}}, "tools.json: [0].cachePoint"),
    ],
)
def test_what_the_provider_runs_itself_is_noted_and_not_measured(value: Any, place: str) -> None:
    (found,) = listed([value])
    assert found.definition is None
    assert found.note.startswith(place)
    assert "not measured" in found.note


def test_functions_beside_a_switch_are_both_seen() -> None:
    function, switch = listed([{"functionDeclarations": [NAMED], "codeExecution": {}}])
    assert function.definition is not None
    assert switch.definition is None


def test_one_page_of_a_longer_list_is_noted() -> None:
    *_, last = listed({"tools": [{**NAMED, "inputSchema": {}}], "nextCursor": "2"})
    assert "one page of a longer list" in last.note


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (17, "tools.json: must be an object, and is 17"),
        ([17], "tools.json: [0]: must be an object, and is 17"),
        ({"tools": {}}, "tools.json: tools: must be a list, and is {}"),
        ([{"label": "x"}], 'tools.json: [0]: {"label": "x"} has none of the shapes'),
        ([{"inputSchema": {}}], "tools.json: [0].name: this member is missing"),
        ([{"name": "", "inputSchema": {}}], "tools.json: [0].name: must not be empty"),
        ([{"name": 7, "inputSchema": {}}], "tools.json: [0].name: input should be a valid string"),
        ([{"name": "a", "inputSchema": []}], "tools.json: [0].inputSchema: must be an object, and is []"),
        ([{"name": "a", "description": 1, "inputSchema": {}}], "tools.json: [0].description: input should"),
        ([{"function": "a"}], 'tools.json: [0].function: must be an object, and is "a"'),
        ([{"type": "function", "function": {}}], "tools.json: [0].function.name: this member is missing"),
        (
            [{"name": "a", "inputSchema": {"properties": {"t": {"maximum": 0.5}}}}],
            "tools.json: [0].inputSchema.properties.t.maximum: 0.5 has a fraction",
        ),
        (
            [{"name": "a", "inputSchema": {"enum": [1, 2**53]}}],
            "tools.json: [0].inputSchema.enum[1]: 9007199254740992 has a fraction or is beyond 2^53 - 1",
        ),
        ([{"name": "a", "parameters_json": "{"}], "tools.json: [0].parameters_json: line 1, column 2: not"),
        (
            [{"toolSpec": {"name": "a", "inputSchema": {"json": 1}}}],
            "tools.json: [0].toolSpec.inputSchema: must be an object, and is 1",
        ),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence_with_its_place(value: Any, told: str) -> None:
    with pytest.raises(BadInput) as error:
        listed(value)
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_keys_keep_the_order_of_their_source_and_content_does_not_depend_on_it(tmp_path: Path) -> None:
    one = configured(tmp_path, tools=[{"name": "a", "inputSchema": {"b": 1, "a": "é"}}]).opening.tools[0]
    two = configured(tmp_path, tools=[{"name": "a", "inputSchema": {"a": "é", "b": 1}}]).opening.tools[0]
    assert one.parameters_json == '{"b": 1, "a": "é"}'
    assert content(one) == content(two)


def test_how_tools_were_read_is_told_a_file_and_a_shape_at_a_time(tmp_path: Path) -> None:
    found = configured(tmp_path, tools=[*tools_of(100, 2), SHAPED["anthropic"][0][0], {"googleSearch": {}}])
    path = tmp_path / "opening.json"
    assert found.tools_read == (
        f"{path}: 2 tools read as MCP tools/list",
        f"{path}: 1 tool read as Anthropic messages",
    )
    assert found.notes == (
        f'{path}: tools[3].googleSearch: "googleSearch" is the provider\'s own, and is not measured',
    )
