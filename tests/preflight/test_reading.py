"""A configuration from a document and its parts, and what is said of one that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextproof.conformance.contract.session import ModelSpec
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.preflight.document import MAX_DEPTH, BadInput
from contextproof.conformance.preflight.reading import Parts, read
from preflight.making import MODEL, SCHEMA, configured, document, written

TOOL = {"name": "read", "inputSchema": SCHEMA}


def problem(path: Path | None, parts: Parts = Parts()) -> str:  # noqa: B008
    with pytest.raises(BadInput) as error:
        read(path, parts)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_members_may_be_texts_objects_and_lists_of_them(tmp_path: Path) -> None:
    found = configured(
        tmp_path,
        policy=["One.", {"text": "Two.", "id": "two"}],
        instructions="Be brief.",
        memory=["Likes tea.", {"id": "m", "text": "Is away.", "trust": "external_untrusted"}],
    ).opening
    assert [(item.id, item.text) for item in found.policy] == [("policy-1", "One."), ("two", "Two.")]
    assert [item.text for item in found.instructions] == ["Be brief."]
    assert [(item.id, item.trust) for item in found.memory] == [
        *(("memory-1", None), ("m", Trust.EXTERNAL_UNTRUSTED))
    ]


def test_members_may_be_files_beside_the_document(tmp_path: Path) -> None:
    written(tmp_path, "Do no harm.\n", "policy.md")
    written(tmp_path, ["Likes tea.", {"id": "away", "text": "Is away."}], "memory.json")
    written(tmp_path, '"One."\n\n{"text": "Two."}\n', "more.jsonl")
    written(tmp_path, {"tools": [TOOL]}, "disk.json")
    found = configured(
        tmp_path,
        policy={"path": "policy.md"},
        memory=[{"path": "memory.json"}, "Three.", {"path": "more.jsonl"}],
        tools=[{"path": "disk.json"}, {**TOOL, "name": "write"}, {"path": "disk.json", "source": "net"}],
    ).opening
    assert found.policy[0].text == "Do no harm.\n"
    assert [item.text for item in found.memory] == ["Likes tea.", "Is away.", "Three.", "One.", "Two."]
    assert [(tool.name, tool.source) for tool in found.tools] == [
        *(("read", "disk"), ("write", "document"), ("read", "net"))
    ]


def test_parts_take_the_place_of_members_and_need_no_document(tmp_path: Path) -> None:
    parts = Parts(
        policy=(written(tmp_path, "Do no harm.", "policy.md"),),
        instructions=(written(tmp_path, "One.", "a.txt"), written(tmp_path, "Two.", "b.txt")),
        tools=(written(tmp_path, [TOOL], "tools.json"), written(tmp_path, [TOOL], "others")),
        memory=(written(tmp_path, ["Likes tea."], "memory.json"),),
        model="ollama/m:8b:cl100k_base:8000:1000",
    )
    alone = read(None, parts).opening
    assert alone.model == ModelSpec(
        name="ollama/m:8b", tokenizer="cl100k_base", window=8_000, output_reserve=1_000
    )
    assert [item.text for item in alone.instructions] == ["One.", "Two."]
    assert [tool.source for tool in alone.tools] == ["tools", "others"]
    whole = document(policy={"path": "gone.md"}, memory=["x", "y"], model={**MODEL, "overhead_per_block": 7})
    beside = read(written(tmp_path, whole), parts).opening
    assert beside == alone.model_copy(
        update={"model": alone.model.model_copy(update={"overhead_per_block": 7})}
    )


def test_a_byte_order_mark_before_json_is_no_matter(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeff" + json.dumps(document()))
    assert read(path, Parts()).opening.policy[0].text == "Do no harm."


def test_all_tools_are_permitted_where_nothing_is_said(tmp_path: Path) -> None:
    tools = [TOOL, {**TOOL, "name": "write"}]
    assert configured(tmp_path, tools=tools).opening.permissions == ("read", "write")
    some = configured(tmp_path, tools=tools, permissions=["write", "gone"])
    assert some.opening.permissions == ("write", "gone")
    assert any('no tool is named "gone"' in note for note in some.notes)
    assert configured(tmp_path, tools=tools, permissions=[]).opening.permissions == ()


def test_two_tools_of_one_name_are_noted(tmp_path: Path) -> None:
    assert any('2 tools are named "read"' in note for note in configured(tmp_path, tools=[TOOL, TOOL]).notes)


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"model": None}, "model: missing: give it there, or by --model"),
        ({"policy": None}, "policy: missing: no session opens without"),
        ({"policy": []}, "policy: missing: no session opens without"),
        ({"policy": " \n"}, "policy: must not be blank"),
        ({"policy": [{"text": ""}]}, "policy[0].text: must not be blank"),
        ({"policy": 7}, "policy: must be an object, and is 7"),
        ({"tool": []}, "tool: there is no such member; there are policy, instructions, tools"),
        ({"model": "gpt"}, 'model: "gpt" is not of the form NAME:tokenizer:window:reserve'),
        ({"model": "m:o200k_base:many:1"}, 'model: window and reserve are numbers of tokens, and "many"'),
        ({"model": "m:o200k_base:²:1"}, "model: window and reserve are numbers of tokens"),
        ({"model": "m:claude:9:1"}, "model.tokenizer: input should be 'o200k_base' or 'cl100k_base'"),
        ({"model": {**MODEL, "window": "9"}}, "model.window: input should be a valid integer"),
        ({"model": {**MODEL, "window": 0.5}}, "model.window: input should be a valid integer"),
        ({"model": {**MODEL, "windw": 9}}, "model.windw: there is no such member"),
        ({"model": {"name": "m"}}, "model.tokenizer: this member is missing"),
        ({"model": []}, "model: must be an object, and is []"),
        ({"memory": [{"text": "x", "trust": "high"}]}, "memory[0].trust: input should be 'platform'"),
        ({"memory": ["x", {"id": "memory-1", "text": "y"}]}, 'the id "memory-1" is given twice, in memory'),
        ({"instructions": {"id": "policy-1", "text": "y"}}, "is given twice, in policy and in instructions"),
        ({"permissions": "read"}, 'permissions: must be a list, and is "read"'),
        ({"permissions": [1]}, "permissions[0]: must be a tool's name, and is 1"),
        ({"platform_secret": "short"}, "platform_secret: "),
        ({"tools": "read"}, 'tools: must be an object, and is "read"'),
        ({"policy": {"path": "gone.md"}}, "gone.md: cannot be read: No such file"),
        ({"policy": {"path": "."}}, ".: cannot be read: Is a directory"),
        ({"policy": {"path": "a\0b"}}, "cannot be read: embedded null byte"),
        ({"policy": {"path": 7}}, "policy.path: must be a text, and is 7"),
        ({"memory": [1.5]}, "memory[0]: must be an object, and is 1.5"),
    ],
)
def test_what_is_wrong_with_a_document_is_told_with_its_place(
    tmp_path: Path, members: dict[str, Any], told: str
) -> None:
    assert told in problem(written(tmp_path, document(**members)))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "opening.json: line 1, column 1: not JSON"),
        (b'{"model": {', "opening.json: line 1, column 12: not JSON"),
        (b"[]", "opening.json: must be an object, and is []"),
        (b'{\n"policy": "\xff"}', "opening.json: line 2, byte 12 of it: not UTF-8"),
        ("{}".encode("utf-16"), "not UTF-8"),
        (b'{"policy": "a", "policy": "b"}', 'opening.json: the key "policy" stands twice in one object'),
        (b'{"policy": ["a", "\\ud800 b"]}', "opening.json: policy[1]: half of a surrogate pair"),
        (b'{"tools": [{"name": "a", "inputSchema": {"\\udc00": 1}}]}', "half of a surrogate pair"),
        (b'{"policy": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"policy": ' + b"[" * 300 + b"]" * 300 + b"}", f"nested more than {MAX_DEPTH} deep"),
        (b'{"model": ' + b"9" * 10_000 + b"}", "model: must be an object, and is Infinity"),
        (b'{"opening": {}, "steps": []}', "it is a scenario of this suite"),
    ],
    ids=range(12),
)
def test_what_is_no_configuration_at_all_is_told(tmp_path: Path, data: bytes, told: str) -> None:
    assert told in problem(written(tmp_path, data))


def test_a_file_that_a_member_names_is_named_in_the_error(tmp_path: Path) -> None:
    written(tmp_path, [TOOL, {"name": 1, "inputSchema": {}}], "tools.json")
    path = written(tmp_path, document(tools={"path": "tools.json"}))
    assert problem(path) == "tools.json: [1].name: input should be a valid string"
    written(tmp_path, '{"text": "x"}\n{"txt": "y"}', "memory.jsonl")
    path = written(tmp_path, document(memory={"path": "memory.jsonl"}))
    assert problem(path).startswith("memory.jsonl, line 2: txt")


def test_a_file_names_no_further_file(tmp_path: Path) -> None:
    written(tmp_path, [{"path": "opening.json"}], "memory.json")
    assert "memory.json: [0]" in problem(written(tmp_path, document(memory={"path": "memory.json"})))


def test_nothing_at_all_is_told() -> None:
    assert problem(None) == (
        "the configuration: model: missing: give it there, or by --model NAME:tokenizer:window:reserve"
    )
