"""The plugin is installed in other people's environments, and leaves their suites as they were."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

QUIET = ("-q", "-p", "no:cacheprovider")


def _pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", *QUIET, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_it_imports_nothing_of_ours_and_loads_no_hypothesis_profile(tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(
        "import sys\n"
        "def test_theirs():\n"
        "    ours = [m for m in sys.modules if m.startswith('contextproof.')]\n"
        "    assert ours == ['contextproof.conformance', 'contextproof.conformance.plugin'], ours\n"
        "    from hypothesis import settings\n"
        "    assert settings().max_examples == 100\n",
        encoding="utf-8",
    )
    ran = _pytest(tmp_path)
    assert ran.returncode == 0, ran.stdout


def test_their_own_strategies_and_scenarios_packages_are_left_alone(tmp_path: Path) -> None:
    for name in ("strategies", "scenarios", "snapshots"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OURS = False\n", encoding="utf-8")
    (tmp_path / "test_theirs.py").write_text(
        "import strategies, scenarios, snapshots\n"
        "def test_theirs():\n"
        "    assert not (strategies.OURS or scenarios.OURS or snapshots.OURS)\n",
        encoding="utf-8",
    )
    ran = _pytest(tmp_path)
    assert ran.returncode == 0, ran.stdout


def test_a_project_that_has_an_option_of_that_name_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--builder', default='cmake')\n",
        encoding="utf-8",
    )
    (tmp_path / "test_theirs.py").write_text(
        "def test_theirs(request):\n    assert request.config.getoption('--builder') == 'cmake'\n",
        encoding="utf-8",
    )
    ran = _pytest(tmp_path, "-p", "theirs")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 1, "say which engine to measure"),
        (("--builder", "no.such:engine"), 2, "no module to import"),
        (("--command", "no-such-program"), 2, "cannot start no-such-program"),
        (("--command", "x", "--builder", "a:b"), 1, "not both"),
    ],
)
def test_measuring_needs_an_engine_that_can_be_reached(
    tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    ran = _pytest(tmp_path, "--pyargs", "contextproof.conformance", "-x", *arguments)
    assert ran.returncode == code, ran.stdout
    assert words in ran.stdout + ran.stderr
