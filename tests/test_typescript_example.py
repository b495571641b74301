"""The example in TypeScript: it builds, its adapter is right, and it holds in a small certification."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from contextproof.conformance.cli import main

EXAMPLE = Path(__file__).parents[1] / "examples" / "typescript"
MISSING = [tool for tool in ("node", "npm") if shutil.which(tool) is None]
SMALL = ("--profile", "smoke", "--examples", "1", "--seed", "20")

pytestmark = [
    pytest.mark.slow,
    # Where CI runs, a missing Node is a fault of the set-up and no reason to skip.
    pytest.mark.skipif(bool(MISSING) and "CI" not in os.environ, reason=f"not here: {', '.join(MISSING)}"),
]


def test_the_typescript_example_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = _build(tmp_path / "example")

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["contextproof", *arguments, "--command", command])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), capsys.readouterr().out

    status, told = run("smoke")
    assert status == 0, told
    assert "claims  16 decisions of 16" in told

    _, told = run("certify", *SMALL, "--out", str(tmp_path / "run"))
    assert " passed" in told, told
    assert not [line for line in told.splitlines() if line.startswith(("FAILED", "warning"))], told


def _build(folder: Path) -> str:
    """Build the example in a folder of its own. Gives the command that starts it."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    for words in (["ci"], ["run", "build"]):
        done = subprocess.run(["npm", *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return shlex.join(["node", str(folder / "dist" / "main.js")])
