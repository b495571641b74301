"""What the reference renders is as accepted, and taken the same on every machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contextproof import scenarios
from contextproof.conformance.builder import BuilderError
from contextproof.conformance.contract.vocabulary import declared_types
from contextproof.conformance.snapshot import sessions
from contextproof.conformance.snapshot.capture import FOLDERS, capture
from contextproof.conformance.snapshot.store import contents, read
from contextproof.conformance.target import Target

ROOT = Path(__file__).parents[2]
REFERENCE = "contextproof.reference_impl.engine:factory"
KEPT = ROOT / "snapshots"
#: The sessions that the snapshots have of their own.
OWN = scenarios.snapshot_names()


@pytest.mark.slow
def test_the_reference_renders_as_accepted(contextproof_snapshots: Callable[..., None]) -> None:
    contextproof_snapshots(REFERENCE, KEPT)


def _names(folder: str) -> set[str]:
    return {
        name.removeprefix(f"{folder}/").removesuffix(".txt") for name in read(KEPT).texts if folder in name
    }


def test_every_section_shows_what_it_is_there_for() -> None:
    assert set(FOLDERS) == {name.split("/")[0] for name in read(KEPT).texts if "/" in name}
    both = ("memory_snapshot", "assistant_message", "tool_call", "tool_result", "memory_correction", "recall")
    wanted = {f"{kind}/{trust}" for kind in both for trust in ("internal", "external_untrusted")}
    wanted |= {f"user_message/{trust}" for trust in ("user", "internal", "external_untrusted")}
    wanted |= {f"working_state/{trust}" for trust in ("internal", "external_untrusted")}
    wanted |= {"platform_policy/platform", "framing/platform", "environment/internal", "checkpoint/internal"}
    wanted |= {"agent_instructions/operator", "tool_definition/operator"}
    assert wanted <= _names("10-envelopes")
    assert {name.split("/")[0] for name in wanted} >= set(declared_types()) - {
        *("working_state_update", "usage", "compaction", "session_closed")
    }
    pointers = {"truncation/external_untrusted-alone", "elision/external_untrusted-alone"}
    assert pointers | {"elision/external_untrusted-merged"} <= _names("30-pointers")
    kinds = {"refused", "budget_exhausted", "invalid_input", "compaction_needed", "compaction_failed"}
    kinds |= {"nothing_to_gain", "escalated", "denied", "rejected"}
    assert {name.split("/")[0] for name in _names("70-answers")} == kinds
    assert _names("80-gate") == {"terminal", "plain"}


def test_whole_requests_stand_on_both_sides_of_every_yield_and_compaction() -> None:
    kept = read(KEPT)
    fifty = kept.facts.sessions[sessions.FIFTY_TURNS]
    shown = {int(name.rsplit("-", maxsplit=1)[1]) for name in _names("60-requests")}
    yields = {int(told.split("request ")[1].split(":")[0]) for told in fifty.yields}
    done = {
        int(told.split("request ")[1].split(":")[0])
        for told in fifty.compactions
        if told.endswith(", compacted")
    }
    assert yields | {number - 1 for number in yields} <= shown
    assert len(done) == 3
    for number in done:
        assert any(number - 2 <= one <= number for one in shown)
        assert any(number <= one <= number + 1 for one in shown)
    assert {turn for turn in (1, 25, 50) if any(f"turn-{turn:02}" in n for n in _names("60-requests"))} == {
        *(1, 25, 50)
    }


def test_working_state_is_shown_at_its_caps() -> None:
    texts = [text for name, text in read(KEPT).texts.items() if name.startswith("50-working-state")]
    assert "20 constraints, 30 tasks, 40 facts, 20 open questions" in texts[0]


def test_the_hashes_are_of_the_bytes_sent() -> None:
    kept = read(KEPT)
    assert set(kept.hashes) == set(kept.texts)
    assert len(set(kept.hashes.values())) > len(kept.hashes) // 2


def test_nothing_hidden_is_in_any_file() -> None:
    for text in read(KEPT).texts.values():
        assert not set(text) & {"\u202e", "\u2066", "\u200b", "\x1b", "\x00", "\r", "\t", "\u2028"}


@pytest.mark.parametrize("name", OWN)
def test_a_session_of_the_snapshots_can_be_read_and_is_not_played_by_the_gate(name: str) -> None:
    scenario = scenarios.load(name)
    assert name == f"snapshots/{scenario.name}"
    assert name not in scenarios.names()
    text = (Path(scenarios.__file__).parent / f"{name}.json").read_text(encoding="utf-8")
    assert not set(text) & {"\u202e", "\u200b", "\u00a0", "\u2028", "\x1b"}


def test_every_session_named_is_there() -> None:
    assert set(sessions.ALL) <= {*scenarios.names(), *OWN}
    assert set(OWN) <= set(sessions.ALL)


@pytest.mark.slow
def test_another_process_zone_hash_seed_and_folder_take_the_same(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from contextproof.conformance.snapshot.capture import capture\n"
        "from contextproof.conformance.snapshot.store import contents\n"
        "from contextproof.conformance.target import Target\n"
        f"made = capture(Target(factory={REFERENCE!r}), {OWN!r}, with_gate=False)\n"
        "sys.stdout.buffer.write(repr(contents(made)).encode())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"},
        capture_output=True,
        timeout=120,
        check=True,
    )
    here = contents(capture(Target(factory=REFERENCE), OWN, with_gate=False))
    assert ran.stdout == repr(here).encode()


@pytest.mark.slow
def test_a_builder_that_claims_little_is_told_what_it_cannot_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples")
    made = capture(Target(factory="minimal_builder:MyBuilder"), OWN, with_gate=False)
    told = {line.split(":")[0] for line in made.absent}
    assert told == {"30-pointers", "40-checkpoint", "50-working-state", "60-requests", "70-answers"}
    assert any("does not claim d08, d12" in line for line in made.absent)
    assert "not shown" in made.files["00-about.txt"].text
    assert any(name.startswith("10-envelopes/") for name in made.files)


@pytest.mark.parametrize("odd", ["other_grammar:other_grammar", "careful:careful"])
@pytest.mark.slow
def test_odd_engines_can_be_shown(odd: str) -> None:
    made = capture(Target(factory=f"contextproof.calibration.odd.{odd}"), OWN, with_gate=False)
    assert {name.split("/")[0] for name in made.files} >= {*FOLDERS[:5], FOLDERS[6]}
    assert any("‹nonce 1›" in snapshot.text for snapshot in made.files.values())


def test_a_builder_that_fails_says_so() -> None:
    with pytest.raises(BuilderError, match="ZeroDivisionError"):
        capture(Target(factory="fakes.broken_builders:RaisesInACall"), OWN)
