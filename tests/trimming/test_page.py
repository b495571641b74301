"""The page on trimmers is true: its trimmer gives the output shown, and its table is the registry's."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contextproof.conformance.cli import main
from contextproof.conformance.trimming.rules import all_rules
from contextproof.conformance.trimming.skeleton import trimmer_skeleton

PAGE = (Path(__file__).parents[2] / "docs" / "trimmer.md").read_text(encoding="utf-8")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["contextproof", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run_command


def _fenced(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def rows() -> list[str]:
    """The page's table of rules."""
    return [f"| {rule.id} | {rule.level.value} | {' '.join(rule.text.split())} |" for rule in all_rules()]


@pytest.mark.slow
def test_the_output_shown_is_what_the_command_prints(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my_trimmer.py").write_text(_fenced("python"))
    code, printed, _ = run(*_fenced("sh").split()[1:])
    assert code == 1
    assert printed == _fenced("text"), "put what the command prints now into docs/trimmer.md"
    scripts = sorted(path.name for path in (tmp_path / "contextproof-7").glob("*.py"))
    assert [f"python contextproof-7/{name}" in printed for name in scripts] == [True] * len(scripts)
    code, _, complaint = run(*_fenced("sh").split()[1:])
    assert code == 2
    assert "is there already" in complaint


def test_the_table_of_rules_is_the_registry() -> None:
    for row in rows():
        assert row in PAGE, f"put this row into docs/trimmer.md: {row}"


@pytest.mark.slow
def test_the_skeleton_can_be_measured_and_fails_by_what_it_does_not_do_yet(run: Run, tmp_path: Path) -> None:
    for name, text in trimmer_skeleton().items():
        (tmp_path / name).write_text(text)
    code, printed, _ = run("gate", "--trimmer", "trimmer:trim", "--json")
    assert code == 1
    assert '"rule": "CTX-06.2",\n   "verdict": "failed"' in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--trimmer", "nowhere.at_all:trim"), "No module named 'nowhere'"),
        (("--trimmer", "nonsense"), "write module:function"),
        (("--trimmer", "json:loads", "--resume"), "--resume has no meaning with --trimmer"),
        (("--trimmer", "json:loads", "--only", "CTX-13"), "matches no rule for trimmers"),
        (("--trimmer", "json:loads", "--builder", "a:b"), "not both"),
        (("--trimmer", "json:loads"), "does not take messages and a limit"),
    ],
)
def test_what_cannot_be_measured_is_told_in_a_sentence_with_exit_status_2(
    run: Run, arguments: tuple[str, ...], words: str
) -> None:
    code, printed, complaint = run("certify", "--profile", "smoke", *arguments)
    assert code == 2
    assert words in re.sub(r"[\s│]+", " ", complaint)
    assert printed == ""
