"""`report`, `merge`, `verify`, `--quiet` and what GitHub is told, on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contextproof.conformance.certification import record as r
from contextproof.conformance.certification.folder import append, finish
from contextproof.conformance.certification.outcome import outcome_of
from contextproof.conformance.cli import main
from report.runs import REFERENCE, STAMPED, run_of

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)

    def run_command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["contextproof", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run_command


@pytest.fixture
def stamped(tmp_path: Path) -> Path:
    """A finished run of a faulty engine."""
    run, file = run_of(STAMPED), tmp_path / "stamped" / r.FILE
    file.parent.mkdir()
    append(file, b"".join(map(r.written, (run.header, *run.sessions, *run.counterexamples))))
    finish(file, run, outcome_of(run))
    return file.parent


def test_report_prints_what_certify_printed(run: Run, stamped: Path) -> None:
    code, out, err = run("report", str(stamped))
    assert (code, err) == (0, "")
    assert "FAILED CTX-03.2" in out
    assert "contextproof replay" in out
    assert run("report", str(stamped / r.FILE))[1] == out


def test_report_of_a_growing_run_says_so(run: Run, stamped: Path) -> None:
    file = stamped / r.FILE
    file.write_bytes(file.read_bytes().rpartition(b'{"line":"footer"')[0])
    code, _, err = run("report", str(stamped), "--markdown", "summary.md")
    assert code == 0
    assert "no footer" in err
    assert Path("summary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [("report", "nowhere"), ("merge", "nowhere", "--out", "x")])
def test_what_is_no_run_is_told(run: Run, command: tuple[str, ...]) -> None:
    code, _, err = run(*command)
    assert code == 2
    assert "nowhere: cannot be read" in err


def test_merge_says_why_it_refuses(run: Run, stamped: Path) -> None:
    code, _, err = run("merge", str(stamped), str(stamped), "--out", "whole")
    assert code == 2
    assert "both hold the sessions" in err
    assert run("merge", str(stamped), "--out", str(stamped))[0] == 2
    code, out, _ = run("merge", str(stamped), "--out", "whole")
    assert code == 0
    assert "FAILED CTX-03.2" in out
    assert json.loads(Path("whole/certificate.json").read_bytes())["complete"] is True


def test_verify_needs_a_certificate(run: Run) -> None:
    Path("certificate.json").write_text("{}", encoding="utf-8")
    code, _, err = run("verify", "certificate.json", "--builder", REFERENCE)
    assert code == 2
    assert "not a certificate" in err


@pytest.mark.slow
def test_quiet_prints_the_closing_line_alone(run: Run) -> None:
    smoke = ("--profile", "smoke", "--only", "CTX-15", "--examples", "1", "--seed", "3", "--quiet")
    code, out, err = run("certify", *smoke, "--out", "run")
    assert (code, err) == (0, "")
    assert out.startswith("contextproof-reference 1.0: 4 passed; this run certifies nothing")
    assert out.count("\n") == 1
    assert Path("run/certificate.json").exists()
    assert run("certify", *smoke, "--out", "run", "--resume")[1] == out


@pytest.mark.slow
def test_github_is_told_what_failed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    tiny = ("--profile", "smoke", "--only", "CTX-03.2", "--examples", "1", "--seed", "3", "--json")
    code, out, err = run("certify", *tiny, "--builder", STAMPED, "--out", "run")
    assert code == 1
    assert json.loads(out)["level"] is None
    assert any(line.startswith("::error title=CTX-03.2 one hash per epoch::") for line in err.splitlines())
    assert "### Failed: CTX-03.2" in Path("summary.md").read_text(encoding="utf-8")
