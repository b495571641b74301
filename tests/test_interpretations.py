"""The page of interpretations is well formed, and names only requirements that there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import REGISTRY

PAGE = Path(__file__).parents[1] / "docs" / "interpretations.md"
PARTS = ("Reading", "Reason", "If you read it otherwise")

_ID = re.compile(r"I-(T|P|0[1-9]|1[0-6])\.[1-9][0-9]?")
_PART = re.compile(r"- \*\*(.+?):\*\* (.*)")


class Entry(NamedTuple):
    """One entry: its id, the section that it stands in, and the lines below its heading."""

    id: str
    section: str
    lines: tuple[str, ...]


def _entries() -> list[Entry]:
    entries: list[Entry] = []
    section = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("### "):
            entries.append(Entry(line.split()[1], section, ()))
        elif line and entries and entries[-1].section == section:
            entries[-1] = entries[-1]._replace(lines=(*entries[-1].lines, line))
    return entries


ENTRIES = _entries()
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)


def _key(section: str) -> str:
    """What the ids of a section's entries begin with."""
    named = {"Terms and counting": "T", "Playing": "P"}
    return named.get(section) or f"{int(section.removeprefix('Decision ').split(':')[0]):02d}"


def test_ids_are_unique() -> None:
    ids = [entry.id for entry in ENTRIES]
    assert sorted(ids) == sorted(set(ids))


@every_entry
def test_an_id_is_well_formed_and_that_of_its_section(entry: Entry) -> None:
    assert _ID.fullmatch(entry.id), f"{entry.id!r} is not like I-08.5, I-T.1 or I-P.1"
    assert entry.id.startswith(f"I-{_key(entry.section)}."), f"{entry.id} stands under {entry.section!r}"


@every_entry
def test_an_entry_has_its_three_parts_and_nothing_else(entry: Entry) -> None:
    parts = [match for line in entry.lines if (match := _PART.fullmatch(line))]
    assert len(parts) == len(entry.lines), f"{entry.id} has a line that is none of {PARTS}"
    assert tuple(match[1] for match in parts) == PARTS
    assert all(match[2].strip() for match in parts)


@every_entry
def test_a_reading_names_a_requirement_that_it_bears_on(entry: Entry) -> None:
    assert re.search(r"\(CTX-[^)]*\)$", entry.lines[0]), f"{entry.id} ends its reading without ids"


def test_every_decision_has_a_section_with_an_entry() -> None:
    sections = {_key(entry.section) for entry in ENTRIES}
    decisions = {requirement.decision.value.removeprefix("d") for requirement in all_requirements()}
    assert sections == decisions | {"T", "P"}


def test_every_requirement_and_every_entry_named_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    known = {requirement.id for requirement in all_requirements()}
    named = set(re.findall(r"CTX-[0-9.]*[0-9]", text))
    assert named <= known, f"no such requirement: {sorted(named - known)}"
    entries = set(re.findall(r"\bI-[A-Z0-9]+\.[0-9]+", text))
    assert entries <= {entry.id for entry in ENTRIES}


def test_where_an_entry_says_which_gate_it_costs_that_requirement_is_of_that_gate() -> None:
    for entry in ENTRIES:
        for identifier, gate in re.findall(
            r"(CTX-[0-9.]*[0-9])[,;] (?:which costs|it is part of) (G\d)", entry.lines[2]
        ):
            assert (REGISTRY[identifier].gate or "").startswith(gate), f"{identifier} is not of {gate}"


def test_the_page_is_plain_markdown() -> None:
    assert re.findall(r"</?[a-z][^>]*>", PAGE.read_text(encoding="utf-8")) == []
