"""What docs/protocol.md promises to whoever writes a builder from it alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from contextproof.conformance.adapters.stdio import host_command
from contextproof.conformance.contract.base import canonical_json, sha256
from contextproof.conformance.contract.calls import METHODS, REVERSE
from contextproof.conformance.contract.caps import CAPS
from contextproof.conformance.contract.request import Extent
from contextproof.conformance.contract.vocabulary import Place, Region, declared_types
from contextproof.conformance.schemas.examples import as_lines, pairs, transcript
from contextproof.conformance.schemas.models import messages, schemas
from contextproof.conformance.schemas.page import messages_page
from contextproof.conformance.schemas.vectors import vectors

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "protocol.md").read_text(encoding="utf-8")
REFERENCE = "contextproof.reference_impl.engine:factory"
WRITE = "run: dev/env contextproof schema --out DIR, and copy DIR/"


def _transcript() -> list[dict[str, Any]]:
    lines = (DOCS / "transcript.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def test_the_transcript_replays_line_by_line() -> None:
    process = subprocess.Popen(
        host_command(REFERENCE), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for number, line in enumerate(_transcript(), start=1):
        if line["from"] == "suite":
            process.stdin.write(json.dumps(line["message"]) + "\n")
            process.stdin.flush()
        else:
            assert json.loads(process.stdout.readline()) == line["message"], f"line {number}"
    assert process.wait(30) == 0
    process.stdin.close()
    process.stdout.close()


def test_the_transcript_is_what_the_suite_sends_now() -> None:
    written = (DOCS / "transcript.jsonl").read_text(encoding="utf-8")
    assert "".join(as_lines(transcript(REFERENCE))) == written, f"{WRITE}examples/transcript.jsonl"


def test_the_page_of_messages_is_up_to_date() -> None:
    assert (DOCS / "messages.md").read_text(encoding="utf-8") == messages_page(), f"{WRITE}messages.md"


def test_there_is_an_example_of_every_call_and_it_fits_its_types() -> None:
    found = pairs(_transcript())
    assert set(found) == {*METHODS, *REVERSE, "initialize", "shutdown"}
    for name, pair in found.items():
        for part, member in (("call", "params"), ("answer", "result")):
            document = json.dumps(pair[part][member])
            TypeAdapter(messages()[f"{name}.{part}"]).validate_json(document)


def test_every_field_of_every_message_is_described() -> None:
    bare = {
        (defined, field)
        for name, schema in schemas().items()
        if name not in ("scenario", "trace", "counterexample", "run-record")
        for defined, model in {**schema.get("$defs", {}), name: schema}.items()
        for field, member in model.get("properties", {}).items()
        if not member.get("description")
    }
    assert bare == set()


@pytest.mark.parametrize("name", sorted(messages()))
def test_tags_are_required(name: str) -> None:
    for model in schemas()[name].get("$defs", {}).values():
        tags = {field for field, member in model.get("properties", {}).items() if "const" in member}
        assert tags <= set(model.get("required", ()))


def test_vectors_can_be_checked_without_our_models() -> None:
    found = vectors()
    for case in found["canonical_json"]:
        assert json.loads(case["bytes"]) == case["value"]
        assert canonical_json(case["value"]).decode() == case["bytes"]
    for case in found["extents"]:
        extent = Extent(**case["extent"])
        assert case["text"].encode()[extent.start : extent.end].decode() == case["covers"]
    for case in found["prefix_sha256"]:
        assert sha256("".join(case["texts"])) == case["prefix_sha256"]
    assert any(ord(character) > 0xFFFF for case in found["extents"] for character in case["text"])


def test_the_page_names_every_type_place_cap_call_and_claim() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    for name in declared_types():
        assert any(f"`{name}`" in row for row in rows), name
    for cap in CAPS.values():
        assert any(f"{cap:,}" in row for row in rows), cap
    places = ", ".join(f"`{place.value}`" for place in Place)
    assert f"Places in their default order: {places}" in PAGE
    assert len(declared_types(Region.A)) == 5
    claims = PAGE[PAGE.index("needed by a claim of") : PAGE.index("are needed in any case")]
    for name, method in METHODS.items():
        row = next(line for line in claims.splitlines() if f"`{name}`" in line)
        assert [decision.value for decision in method.decisions] == row.split("|")[2].replace(" ", "").split(
            ","
        )


def test_the_drawing_of_an_envelope_is_right() -> None:
    envelope, marks, names = PAGE[PAGE.index("```text\n<item") :].split("\n")[1:4]
    assert envelope[marks.index("^", 1)] == ">"
    assert envelope[marks.index("^closing") :].startswith("</item")
    for name, shown in (("type", "tool_result"), ("trust", "external_untrusted"), ("source", "files")):
        assert envelope[names.index(name) :].startswith(shown)
    nonce = envelope[names.index("nonce") :].split()[0]
    assert envelope[names.index("closing_nonce") :] == f"{nonce}>"


def test_hosting_needs_the_contracts_light_dependencies_alone() -> None:
    script = (
        "import sys\n"
        "from contextproof.conformance.adapters import host, in_process\n"
        f"in_process.load({REFERENCE!r})\n"
        "from contextproof.conformance.contract.tokenizers import count\n"
        "count('o200k_base', 'text')\n"
        "print(*sorted(name for name in sys.modules if '.' not in name))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported = set(ran.stdout.split())
    assert {"pydantic", "tiktoken"} <= imported
    assert imported.isdisjoint({"hypothesis", "pytest", "_pytest", "rich", "typer", "xdist", "syrupy"})


def test_models_are_explained() -> None:
    from contextproof.conformance.schemas.page import _all_models

    def own(model: type[BaseModel]) -> str:
        return vars(model).get("__doc__") or ""

    assert [model.__name__ for model in _all_models() if not own(model)] == []
