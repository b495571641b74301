"""Somebody's own suite checks snapshots by syrupy, with its options, and writes what the command writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextproof.conformance.snapshot.checking import accept
from snapshot.making import captured

TESTS = Path(__file__).parents[1]
#: Their suite. What is taken is made up, so that nothing is played.
CONFTEST = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
import pytest

@pytest.fixture(autouse=True)
def made_up(monkeypatch):
    from contextproof.conformance.snapshot import in_pytest
    from snapshot.making import captured
    from texts import TEXTS
    monkeypatch.setattr(in_pytest, "capture", lambda target: captured(TEXTS))
"""
THEIRS = """
def test_rendering(contextproof_snapshots):
    contextproof_snapshots("my.engine:factory", "kept")
"""
TEXTS = {"10-envelopes/a.txt": "| (one) text\n", "20-hostile/b.txt": "| x\r \n"}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (tmp_path / "test_theirs.py").write_text(THEIRS, encoding="utf-8")
    _texts(tmp_path, TEXTS)
    return tmp_path


def _texts(suite: Path, texts: dict[str, str]) -> None:
    (suite / "texts.py").write_text(f"TEXTS = {texts!r}\n", encoding="utf-8")


def _pytest(folder: Path, *arguments: str) -> tuple[int, str]:
    # Ours may be a worker of xdist's, which syrupy takes for a reason to report nothing.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.returncode, ran.stdout


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.slow
def test_it_writes_the_very_files_of_the_command_and_keeps_syrupys_habits(suite: Path) -> None:
    code, out = _pytest(suite, "--snapshot-update")
    assert code == 0, out
    assert "4 snapshots generated" in out
    accept(captured(TEXTS), suite / "by the command")
    assert _files(suite / "kept") == _files(suite / "by the command")

    code, out = _pytest(suite, "-n", "1")
    assert code == 0, out
    assert "4 snapshots passed" in out


@pytest.mark.slow
def test_what_changed_is_told_as_the_command_tells_it(suite: Path) -> None:
    accept(captured(TEXTS), suite / "kept")
    _texts(suite, {**TEXTS, "10-envelopes/a.txt": "| (other) text\n"})
    code, out = _pytest(suite)
    assert code == 1
    assert "   - | (one) text\n   + | (other) text" in out
    assert "What follows" in out
    assert "run pytest again with --snapshot-update" in out
    assert "2 snapshots failed. 2 snapshots passed." in out


@pytest.mark.slow
def test_unused_snapshots_are_told_and_deleted_and_foreign_files_are_not(suite: Path) -> None:
    accept(captured(TEXTS), suite / "kept")
    (suite / "kept" / "README.md").write_text("theirs", encoding="utf-8")
    _texts(suite, {"10-envelopes/a.txt": TEXTS["10-envelopes/a.txt"]})
    code, out = _pytest(suite)
    assert code == 1
    assert "only in the old snapshots: 20-hostile/b.txt" in out
    code, out = _pytest(suite, "test_theirs.py", "--snapshot-update")
    assert code == 0, out
    assert set(_files(suite / "kept")) == {"10-envelopes/a.txt", "sha256.txt", "facts.json", "README.md"}


@pytest.mark.slow
def test_a_foreign_file_in_the_way_is_refused(suite: Path) -> None:
    (suite / "kept" / "20-hostile").mkdir(parents=True)
    (suite / "kept" / "20-hostile" / "b.txt").write_text("theirs", encoding="utf-8")
    code, out = _pytest(suite, "--snapshot-update")
    assert code == 1
    assert "was not written by contextproof" in out
    assert _files(suite / "kept") == {"20-hostile/b.txt": b"theirs"}
