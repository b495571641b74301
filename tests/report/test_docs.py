"""The pages about reports are true: their commands run as they stand, in order."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PROGRAM = str(Path(sys.executable).parent / "contextproof")


def commands(page: str) -> list[list[str]]:
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


@pytest.mark.slow
def test_every_command_about_reports_runs(tmp_path: Path) -> None:
    for program, *words in commands("report.md"):
        assert program == "contextproof"
        narrowed = ["--only", "CTX-15", "--examples", "1"] if words[0] == "certify" else []
        ran = subprocess.run(
            [PROGRAM, *words, *narrowed],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
    for name in ("report.html", "summary.md", "certificate.json", "junit.xml", "badge.svg"):
        assert (tmp_path / name).stat().st_size, name
    assert (tmp_path / "run" / "certificate.json").exists()


@pytest.mark.slow
def test_a_certificate_that_certifies_nothing_cannot_be_verified(tmp_path: Path) -> None:
    (command,) = commands("certificate.md")
    ran = subprocess.run(
        [PROGRAM, *command[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 2
    assert "certificate.json: cannot be read" in ran.stderr
