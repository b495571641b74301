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
SEED = "20"

pytestmark = [
    pytest.mark.slow,
    # On the project's own machines a missing Node is a fault of the set-up, not a reason to skip.
    pytest.mark.skipif(bool(MISSING) and "CI" not in os.environ, reason=f"not here: {', '.join(MISSING)}"),
]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command that starts the example, built from its sources in a folder of its own."""
    copy = tmp_path_factory.mktemp("typescript") / "example"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    for words in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
        done = subprocess.run(["npm", *words], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return shlex.join(["node", str(copy / "dist" / "main.js")])


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["contextproof", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0), capsys.readouterr().out


def test_its_adapter_is_right(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out = run(monkeypatch, capsys, "smoke", "--command", command)
    assert status == 0, out
    assert "claims  16 decisions of 16" in out


def test_it_holds_in_a_small_certification(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--profile", "smoke", "--examples", "2", "--seed", SEED, "--out", str(tmp_path / "run")]
    _, out = run(monkeypatch, capsys, "certify", "--command", command, *arguments)
    assert "FAILED" not in out, out
    assert "WARNED" not in out, out
    assert " passed" in out, out
