"""The README is true: its commands run, its output is what comes out, its example is the example."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
#: A run of the gate takes a fraction of this, in seconds.
PATIENCE = 300


def _fenced(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def _run(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    words = command.replace("../dev/env ", "").replace("dev/env ", "").split()
    program = Path(sys.executable).parent / words[0]
    return subprocess.run(
        [str(program), *words[1:]],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.slow
def test_the_output_shown_is_what_the_gate_prints() -> None:
    shown = _fenced(README, "text")[0]
    ran = _run(_fenced(README, "sh")[0].strip(), ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout == shown, "put what `contextproof gate` prints now into README.md"


def test_the_adapter_shown_is_the_example_and_is_short() -> None:
    example = (ROOT / "examples" / "minimal_builder.py").read_text(encoding="utf-8")
    assert _fenced(README, "python")[0] == example
    assert len(example.splitlines()) <= 40


@pytest.mark.slow
def test_the_example_adapter_is_judged_by_what_it_claims() -> None:
    commands = next(block for block in _fenced(README, "sh") if "MyBuilder" in block)
    ran = _run(commands.splitlines()[-1], ROOT / "examples")
    assert ran.returncode == 1, ran.stderr
    assert "FAILED" not in ran.stdout
    assert "requirements: 3 passed" in ran.stdout


def test_the_first_two_commands_need_no_set_up_of_the_users_own() -> None:
    first, second = _fenced(README, "sh")[:2]
    assert first.strip() == "dev/env contextproof gate"
    assert second.strip().startswith("dev/env pytest -n ")


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_every_path_and_command_named_exists(text: str) -> None:
    from typer.main import get_command

    from contextproof.conformance.cli import app

    commands = set(get_command(app).commands)  # type: ignore[attr-defined]
    assert set(re.findall(r"contextproof ([a-z]+)\b", " ".join(_fenced(text, "sh")))) <= commands
    linked = re.findall(r"\]\(([^)#:]+)\)", text)
    rooms = re.findall(r"`((?:conformance|calibration|scenarios|tests|dev)/[\w/.]+)`", text)
    for path in (*linked, *(room for room in rooms if "NN" not in room)):
        assert (ROOT / path).exists(), path


@pytest.mark.slow
def test_the_pytest_way_gives_a_test_for_each_requirement_of_a_gate() -> None:
    command = next(line for line in README.splitlines() if line.startswith("dev/env pytest --pyargs"))
    ran = _run(f"{command} -q -p no:cacheprovider", ROOT / "examples")
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert re.search(r"\b\d\d passed", ran.stdout)
