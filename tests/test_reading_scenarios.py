"""A document that is no scenario is refused with the place and with what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextproof.scenarios import BadScenario, parse, read

GOOD: dict[str, Any] = {
    "version": 1,
    "name": "tiny",
    "opening": {"model": {"name": "m", "body_tokens": 5000}, "policy": [{"id": "p", "text": "Be kind."}]},
    "steps": [{"step": "user", "id": "u1", "text": "Hello 😀"}, {"step": "request"}],
}


def written(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}, indent=1, ensure_ascii=False).encode()


def message(data: bytes) -> str:
    with pytest.raises(BadScenario) as caught:
        parse(data, "mine.json")
    return str(caught.value)


def test_a_scenario_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(written())
    assert read(file).name == "tiny"


def test_a_surrogate_pair_written_as_escapes_is_one_character() -> None:
    data = json.dumps(GOOD).encode()
    assert b"\\ud83d\\ude00" in data
    assert parse(data, "mine.json") == parse(written(), "mine.json")


def test_a_file_that_is_not_there_is_told_by_its_path(tmp_path: Path) -> None:
    with pytest.raises(BadScenario, match=r"nowhere\.json: cannot be read: No such file"):
        read(tmp_path / "nowhere.json")


@pytest.mark.parametrize("cut", [1, 20, 60, 200])
def test_a_truncated_document_is_told_with_line_and_column(cut: int) -> None:
    told = message(written()[:cut])
    assert told.startswith("mine.json: line ")
    assert ", column " in told
    assert "ends too early" in told


def test_an_empty_document_ends_too_early_in_its_first_line() -> None:
    assert message(b"").startswith("mine.json: line 1, column 1: the document ends too early")


def test_what_is_not_json_is_told_with_line_and_column() -> None:
    data = written().replace(b'"version": 1,', b'"version": 1;')
    assert message(data).startswith("mine.json: line 2, column 14: not JSON (")


@pytest.mark.parametrize("version", [2, 0, "1", None, True])
def test_another_version_is_told_together_with_the_one_that_is_read(version: object) -> None:
    told = message(written(version=version))
    assert f"it is of version {json.dumps(version)}, and this release reads version 1 only" in told


def test_another_version_is_told_even_where_its_shape_has_changed() -> None:
    assert "it is of version 7" in message(b'{"version": 7, "scenes": []}')


@pytest.mark.parametrize("escape", ["\\ud83d", "\\udc00x", "\\ud83d\\ud83d\\ude00", "\\\\\\uD800"])
def test_a_lone_surrogate_is_told_with_its_place(escape: str) -> None:
    data = written().replace("Hello 😀".encode(), b"Hello " + escape.encode())
    line = 1 + data[: data.index(b"Hello")].count(b"\n")
    told = message(data)
    assert told.startswith(f"mine.json: line {line}, column ")
    assert "half of a surrogate pair" in told
    column = int(told.partition("column ")[2].partition(":")[0])
    assert data.splitlines()[line - 1][column - 1 :].lower().startswith((b"\\ud8", b"\\udc"))


def test_a_backslash_that_is_escaped_begins_no_escape() -> None:
    data = written().replace("Hello 😀".encode(), b"\\\\ud83d")
    step = parse(data, "mine.json").steps[0]
    assert getattr(step, "text", None) == "\\ud83d"


def test_bytes_that_are_not_utf_8_are_told_with_their_place() -> None:
    data = written().replace("😀".encode(), b"\xed\xa0\xbd")
    line = 1 + data[: data.index(b"\xed")].count(b"\n")
    column = data.splitlines()[line - 1].index(b"\xed") + 1
    assert message(data).startswith(f"mine.json: line {line}, byte {column} of it: not UTF-8")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"stepz": []}, "stepz: there is no such field"),
        ({"steps": [{"step": "request", "retries": 1}]}, "steps[0].retries: there is no such field"),
        ({"steps": [{"step": "user", "text": "x"}]}, "steps[0].id: this field is missing"),
        ({"steps": [{"step": "dance"}]}, "steps[0]: input tag 'dance' found using 'step' does not match"),
        (
            {"steps": [{"step": "user", "id": "u", "text": 7}]},
            "steps[0].text: input should be",
        ),
        ({"steps": {}}, "steps: input should be a valid"),
        ({"opening": {**GOOD["opening"], "policy": []}}, "opening.policy: "),
        (
            {"opening": {**GOOD["opening"], "model": {"name": "m"}}},
            "opening.model: value error, give either window or body_tokens",
        ),
    ],
)
def test_a_wrong_shape_is_told_with_its_path(changes: dict[str, Any], told: str) -> None:
    assert message(written(**changes)).startswith(f"mine.json: {told}")


def test_of_a_text_the_piece_that_is_wrong_is_told() -> None:
    text = [{"kind": "literal", "text": "a"}, {"kind": "repeat", "text": "b", "times": 3, "each": 1}]
    told = message(written(steps=[{"step": "user", "id": "u", "text": text}]))
    assert told == "mine.json: steps[0].text[1].each: there is no such field"


def test_a_key_that_stands_twice_is_refused() -> None:
    data = written().replace(b'"name": "tiny",', b'"name": "tiny",\n "name": "other",')
    assert "the key 'name' stands twice in one object" in message(data)


@pytest.mark.parametrize("data", [b"[]", b"7", b'"text"', b"null"])
def test_a_document_that_is_no_object_is_no_scenario(data: bytes) -> None:
    assert "instead of an object" in message(data)


def test_a_document_nested_too_deeply_is_refused() -> None:
    assert "nested too deeply" in message(b'{"steps": ' + b"[" * 200_000 + b"]" * 200_000 + b"}")
