"""The two commands: what they print, what they exit with, and what they say of bad input."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contextproof.conformance.cli import main
from contextproof.conformance.snapshot import capture as taking
from contextproof.conformance.snapshot.capture import Captured
from snapshot.making import captured, facts, session

Run = Callable[..., tuple[int, str, str]]
ONE = captured({"10-envelopes/a.txt": "| (one) text\n", "20-hostile/b.txt": "| x\n"})
OTHER = captured({"10-envelopes/a.txt": "| (other) text\n"}, facts(fifty_turns=session(body_sha256="other")))


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> Run:
    monkeypatch.chdir(request.config.rootpath / "tests")

    def run_command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["contextproof", "snapshot", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return int(ended.value.code or 0), printed.out, printed.err

    return run_command


@pytest.fixture
def takes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Captured], None]:
    """Have a set taken without anything being played."""

    def take(made: Captured) -> None:
        monkeypatch.setattr(taking, "capture", lambda *_, **__: made)

    return take


def test_snapshots_are_written_checked_and_accepted(
    run: Run, takes: Callable[[Captured], None], tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    takes(ONE)
    code, out, _ = run("--dir", kept, "--update")
    assert (code, out) == (0, f"{kept}: 4 files written, 0 deleted, 0 as they were\n")
    code, out, _ = run("--dir", kept)
    assert (code, out) == (0, f"2 snapshots in {kept}: nothing changed\n")
    takes(OTHER)
    code, out, err = run("--dir", kept)
    assert code == 1
    assert "   - | (one) text\n   + | (other) text\n" in out
    assert "only in the old snapshots: 20-hostile/b.txt" in out
    assert "run it again with --update" in err
    code, out, _ = run("--dir", kept, "--update")
    assert code == 0
    assert "unused, deleted: 20-hostile/b.txt" in out
    assert run("--dir", kept)[0] == 0


def test_what_cannot_be_shown_is_said(run: Run, takes: Callable[[Captured], None], tmp_path: Path) -> None:
    takes(ONE._replace(absent=("40-checkpoint: the builder does not claim d12",)))
    for update in (["--update"], []):
        code, out, _ = run("--dir", tmp_path / "kept", *update)
        assert code == 0
        assert out.startswith("nothing to show in 40-checkpoint: the builder does not claim d12\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--dir"),
        (("--dir", "nowhere"), "does not exist"),
        (("--dir", "test_cli.py"), "no folder"),
        (("--dir", "test_cli.py", "--update", "--builder", "no.such:thing"), "is no folder"),
        (("--dir", "nowhere", "--update", "--builder", "nonsense"), "package.module:factory"),
        (("--dir", "nowhere", "--update", "--builder", "no.such:thing"), "no module to import"),
        (
            ("--dir", "nowhere", "--update", "--builder", "fakes.broken_builders:RaisesInACall"),
            "ZeroDivision",
        ),
        (("--dir", "nowhere", "--update", "--command", "no-such-program"), "cannot start"),
        (("diff", "nowhere", "nowhere"), "does not exist"),
        (("diff", "test_cli.py", "nowhere"), "no folder"),
        (("diff", ".", "."), "no folder of snapshots"),
        (("diff", "."), "Missing argument"),
        (("diff", ".", ".", "--format", "pdf"), "pdf"),
        (("diff", ".", ".", "--sessions", "0"), "sessions"),
    ],
)
def test_what_cannot_be_compared_is_told_and_exits_with_2(
    run: Run, arguments: tuple[str, ...], words: str
) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert not Path("nowhere").exists()


def test_two_folders_are_compared_in_three_forms(run: Run, tmp_path: Path) -> None:
    from contextproof.conformance.snapshot.checking import accept

    old, new = tmp_path / "old", tmp_path / "new"
    accept(ONE, old)
    accept(OTHER, new)
    assert run("diff", old, old)[:2] == (0, "Nothing changed.\n")
    code, text, _ = run("diff", old, new, "--sessions", 7)
    assert code == 1
    assert "for 7 sessions" in text
    code, out, _ = run("diff", old, new, "--format", "markdown")
    assert code == 1
    assert "```diff\n- | (one) text\n+ | (other) text\n```" in out
    code, out, _ = run("diff", old, new, "--format", "json")
    assert code == 1
    assert json.loads(out)["difference"]["vanished"] == ["20-hostile/b.txt"]
    assert json.loads(run("diff", old, old, "--format", "json")[1])["changed"] is False


def test_hostile_names_and_texts_are_escaped_on_the_terminal(run: Run, tmp_path: Path) -> None:
    from contextproof.conformance.snapshot.checking import accept

    old, new = tmp_path / "old", tmp_path / "new"
    accept(ONE, old)
    accept(captured({"10-envelopes/a.txt": "| \u202e\x1b[2J\n", "10-envelopes/\u202e.txt": ""}), new)
    code, out, _ = run("diff", old, new)
    assert code == 1
    assert not set(out) & {"\u202e", "\x1b"}
