"""`contextproof init`: what it writes can be called, claims nothing and conforms to nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from contextproof.conformance.skeletons import NEXT, Language, skeleton

ROOT = Path(__file__).parents[1]
PROGRAM = Path(sys.executable).parent / "contextproof"
NOTHING_CLAIMED = "WRONG  claims  no decision is claimed, so nothing would be judged"


def contextproof(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PROGRAM), *words], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


def written(language: Language, cwd: Path) -> Path:
    ran = contextproof(cwd, "init", "--language", language, "mine")
    assert ran.returncode == 0, ran.stderr
    for command in NEXT[language]:
        assert f"  {command.format(folder='mine')}\n" in ran.stdout
    return cwd / "mine"


@pytest.mark.parametrize("language", get_args(Language))
def test_what_is_written_is_the_skeleton(language: Language, tmp_path: Path) -> None:
    folder = written(language, tmp_path)
    files = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert files == skeleton(language)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("mine")
    ran = contextproof(tmp_path, "init", "--language", "python", "mine")
    assert ran.returncode == 2
    assert "not empty" in ran.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    assert contextproof(tmp_path, "init", "--language", "python", "mine").returncode == 2


@pytest.mark.slow
def test_the_python_skeleton_is_called_and_claims_nothing(tmp_path: Path) -> None:
    folder = written("python", tmp_path)
    wrong, rest = _smoke(folder, "--builder", "my_engine:MyEngine")
    assert wrong == [NOTHING_CLAIMED]
    assert "right  `compact`  answered 1 times" in rest


@pytest.mark.slow
def test_the_python_skeleton_conforms_to_nothing(tmp_path: Path) -> None:
    folder = written("python", tmp_path)
    scenario = ROOT / "scenarios" / "bare_session.json"
    words = ("gate", "--builder", "my_engine:MyEngine", "--scenario", str(scenario))
    ran = contextproof(folder, *words)
    assert ran.returncode == 1, ran.stderr
    assert "0 of 5 gates hold" in ran.stdout
    assert "passed" not in ran.stdout


@pytest.mark.slow
def test_the_trimmer_skeleton_is_measured_and_does_not_conform(tmp_path: Path) -> None:
    folder = written("trimmer", tmp_path)
    budget = ("--profile", "smoke", "--seed", "7", "--examples", "2")
    ran = contextproof(folder, "certify", "--trimmer", "trimmer:trim", *budget)
    assert ran.returncode == 1, ran.stderr
    assert "FAILED CTX-06.2" in ran.stdout


def test_the_typescript_skeleton_has_the_example_s_wire() -> None:
    example = ROOT / "examples" / "typescript"
    files = skeleton("typescript")
    assert files["src/wire.ts"] == (example / "src" / "wire.ts").read_text("utf-8")
    assert files["tsconfig.json"] == (example / "tsconfig.json").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="not here: npm")
def test_the_typescript_skeleton_is_called_and_claims_nothing(tmp_path: Path) -> None:
    folder = written("typescript", tmp_path)
    for words in (("install", "--no-audit", "--no-fund"), ("run", "build")):
        ran = subprocess.run(["npm", *words], cwd=folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    wrong, rest = _smoke(folder, "--command", "node dist/main.js")
    assert wrong == [NOTHING_CLAIMED]
    assert "right  its end  it left no process behind" in rest


def _smoke(folder: Path, *builder: str) -> tuple[list[str], list[str]]:
    """The checks of a skeleton that are wrong, and the others."""
    ran = contextproof(folder, "smoke", *builder)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    lines = ran.stdout.splitlines()
    return [line for line in lines if line.startswith("WRONG")], lines
