"""The commands: what they print, what they exit with, and what they say of bad input."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contextproof.conformance.certification.budget import SESSIONS
from contextproof.conformance.cli import main
from contextproof.conformance.requirements import all_requirements

Run = Callable[..., tuple[int, str, str]]
TINY = {
    "name": "tiny",
    "opening": {
        "model": {"name": "m", "body_tokens": 6000},
        "policy": [{"id": "p", "text": "Do no harm."}],
    },
    "steps": [{"step": "user", "id": "u1", "text": "Hello."}, {"step": "request"}],
}


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> Run:
    monkeypatch.chdir(request.config.rootpath / "tests")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)

    def run_command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["contextproof", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run_command


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(TINY), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("builder", "words"),
    [
        ("nonsense", "package.module:factory"),
        ("no.such:thing", "no module to import"),
        ("fakes.broken_builders:nothing", "no callable named"),
        ("fakes.broken_builders:raises", "no licence key found"),
        ("fakes.broken_builders:without_manifest", "manifest"),
        ("fakes.broken_builders:AnswersADict", "`open_session` answered a dict"),
        ("fakes.broken_builders:AnswersAnotherPort", "`open_session` answered a wrong shape"),
        ("fakes.broken_builders:RaisesInACall", "ZeroDivisionError"),
    ],
)
def test_a_builder_that_cannot_be_measured_gets_one_line_and_exit_status_2(
    run: Run, tiny: str, builder: str, words: str
) -> None:
    code, out, err = run("gate", "--builder", builder, "--scenario", tiny)
    complaint = err.strip().splitlines()
    assert code == 2
    assert len(complaint) == 1, err
    assert words in complaint[0]
    assert out == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (json.dumps(TINY)[:-30], "line 1"),
        (json.dumps({**TINY, "version": 2}), "version"),
        (json.dumps(TINY).replace("Hello.", "\\ud83d"), "surrogate"),
        (json.dumps({**TINY, "colour": "red"}), "colour"),
        ("[]", ""),
    ],
    ids=["truncated", "later version", "lone surrogate", "unknown field", "no object"],
)
def test_a_broken_scenario_file_is_told_with_its_place(
    run: Run, tmp_path: Path, content: str, words: str
) -> None:
    path = tmp_path / "broken.json"
    path.write_text(content, encoding="utf-8")
    code, _, err = run("gate", "--scenario", str(path))
    assert code == 2
    assert "broken.json" in err
    assert words in err
    assert "Traceback" not in err


def test_a_missing_scenario_file_is_told(run: Run) -> None:
    code, _, err = run("gate", "--scenario", "nowhere.json")
    assert code == 2
    assert "nowhere.json" in err


def test_a_session_that_exercises_little_does_not_pass_the_gate(run: Run, tiny: str) -> None:
    code, out, _ = run("gate", "--scenario", tiny)
    assert code == 1
    assert "UNEXERCISED" in out
    assert "scripted part only" in out
    assert "0 of 5 gates hold" in out or "of 5 gates hold" in out


def test_json_output_is_one_document_that_says_the_same(run: Run, tiny: str) -> None:
    code, out, err = run("gate", "--scenario", tiny, "--json")
    document = json.loads(out)
    assert code == 1
    assert err == ""
    assert {gate["gate"] for gate in document["gates"]} >= {"G1 one prefix", "G2 whole pairs"}
    assert len(document["results"]) == len(all_requirements())


@pytest.mark.slow
def test_the_gates_cover_generated_sessions_where_that_is_asked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SESSIONS, "gate", 1)
    code, out, _ = run("gate", "--generated", "--json")
    document = json.loads(out)
    assert code == 0
    assert all(gate["holds"] for gate in document["gates"])
    assert document["budget"]["profile"] == "gate"
    assert document["sessions"] > 100


@pytest.mark.parametrize("spelling", ["CTX-03.2", "ctx-03.2", "03.2", "3.2"])
def test_explain_takes_an_id_as_people_write_it(run: Run, spelling: str) -> None:
    code, out, _ = run("explain", spelling)
    assert code == 0
    assert out.startswith("CTX-03.2")
    assert "What a violation costs" in out


def test_explain_lists_a_decision(run: Run) -> None:
    code, out, _ = run("explain", "CTX-03")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["CTX-03.1", "CTX-03.2", "CTX-03.3"]


def test_explain_says_what_ids_there_are(run: Run) -> None:
    code, _, err = run("explain", "CTX-03.77")
    assert code == 2
    assert "CTX-03.1" in err


def test_schemas_are_printed_or_written(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("schema")
    assert code == 0
    printed = json.loads(out)
    code, out, _ = run("schema", "--out", str(tmp_path / "schemas"))
    written = sorted(path.name for path in (tmp_path / "schemas").glob("*.json"))
    assert code == 0
    assert written == sorted(f"{name}.schema.json" for name in printed)


def test_schemas_that_cannot_be_written_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, _, err = run("schema", "--out", str(tmp_path / "file"))
    assert code == 2
    assert "cannot write" in err


def test_help_teaches_and_an_unknown_option_is_a_usage_error(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert "Exit status" in out
    assert run("gate", "--nonsense")[0] == 2


def test_a_fault_of_ours_is_never_blamed_on_the_builder(
    run: Run, tiny: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextproof.conformance import gate

    def breaks(*_: object, **__: object) -> None:
        raise IndexError("our own mistake")

    monkeypatch.setattr(gate, "play", breaks)
    monkeypatch.delenv("CONTEXTPROOF_DEBUG", raising=False)
    code, _, err = run("gate", "--scenario", tiny)
    assert code == 3
    assert "a fault of contextproof, not of the builder" in err
