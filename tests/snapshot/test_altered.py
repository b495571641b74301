"""Three real render changes of the reference, read from the diff; the documentation shows one of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from contextproof.conformance.snapshot import sessions
from contextproof.conformance.snapshot.capture import capture
from contextproof.conformance.snapshot.checking import Compared, check
from contextproof.conformance.snapshot.diff import Edit, compare
from contextproof.conformance.snapshot.forms import Format
from contextproof.conformance.snapshot.store import Stored, read, stored
from contextproof.conformance.target import Target

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "snapshots"
PAGE = ROOT / "docs" / "snapshots.md"

pytestmark = pytest.mark.slow


def _beside_the_reference(engine: str, names: tuple[str, ...] = sessions.SHORT) -> Compared:
    """What an altered engine shows in some sessions, beside what the reference showed in them."""
    made = capture(Target(factory=f"snapshot.altered:{engine}"), names, with_gate=False)
    old, new = _only(read(KEPT), names), _only(stored(made), names)
    return Compared(old, new, compare(old, new))


def _only(kept: Stored, names: tuple[str, ...]) -> Stored:
    """Of a set, what belongs to some sessions, without whole requests, gate and what is not shown."""
    apart = ("00-about", "60-requests", "80-gate")
    texts = {name: text for name, text in kept.texts.items() if not name.startswith(apart)}
    measured = {name: one for name, one in kept.facts.sessions.items() if name in names}
    return Stored(texts, kept.hashes, kept.facts.model_copy(update={"sessions": measured}))


def test_an_attribute_added_is_one_change() -> None:
    compared = _beside_the_reference("attribute_added")
    first, *rest = compared.difference.changes
    assert first.edits == (Edit(removed="", added=" version=2"),)
    assert len(first.files) > 60
    assert all(file.startswith("70-answers") for change in rest for file in change.files)
    told = compared.told(sessions=50)
    assert "each adds ` version=2`" in told
    assert "caches: the prefix's bytes change in " in told
    assert "tokens for 50 sessions" in told
    assert re.search(r"CTX-13\.9 empty envelope in the body: 70 → 73, at most 80 tokens", told)


def test_a_delimiter_changed_is_few_changes_and_told_by_its_code_points() -> None:
    compared = _beside_the_reference("delimiter_changed")
    first = compared.difference.changes[0]
    assert first.edits == (Edit(removed="⟪", added="⦃"), Edit(removed="⟫", added="⦄"))
    assert len(compared.difference.changes) < 10
    assert "⟪ is U+27EA" in compared.told()
    assert "⦃ is U+2983" in compared.told()


@pytest.fixture(scope="module")
def pointer_shorter() -> Compared:
    return check(capture(Target(factory="snapshot.altered:pointer_shorter")), KEPT)


def test_a_pointer_made_shorter_leaves_the_prefix_as_it_is(pointer_shorter: Compared) -> None:
    told = pointer_shorter.told()
    assert "caches: the prefix stays as it is" in told
    assert "CTX-08.4 truncation pointer, beside what it names: 73 → 68, at most 128 tokens" in told
    kinds = {file.split("/")[0] for change in pointer_shorter.difference.changes for file in change.files}
    assert kinds == {"30-pointers", "40-checkpoint", "60-requests", "80-gate"}


def test_the_documentation_shows_what_the_command_prints(pointer_shorter: Compared) -> None:
    shown = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert pointer_shorter.told() in shown, "put what `snapshot diff` prints now into docs/snapshots.md"


def test_every_form_tells_every_change(pointer_shorter: Compared) -> None:
    assert all("+cut 2200" in pointer_shorter.told(form) for form in get_args(Format))
    markdown = pointer_shorter.told("markdown")
    assert all(f in markdown for change in pointer_shorter.difference.changes for f in change.files)
