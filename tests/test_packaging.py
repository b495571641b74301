"""What is installed is one import root, whole, and the same however it was built."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections import defaultdict
from pathlib import Path

import pytest

import contextproof

ROOT = Path(__file__).resolve().parents[1]
LINKS = ROOT / "dev" / "contextproof"
ROOMS = sorted(link.name for link in LINKS.iterdir() if link.is_symlink())
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NEVER_INSTALLED = {"benchmarks", "examples", "tests"}
PATIENCE = 300
"""Seconds after which a started process counts as hung."""


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run to the end with nothing of this checkout in the environment; both outputs in stdout."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "VIRTUAL"))}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=kept | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def build(what: str, source: Path, out: Path) -> Path:
    ran = run(sys.executable, "-m", "build", "--no-isolation", what, "-o", out, source, cwd=out.parent)
    assert ran.returncode == 0, ran.stdout
    return next(out.iterdir())


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("--sdist", ROOT, tmp_path_factory.mktemp("sdist") / "out")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("--wheel", ROOT, tmp_path_factory.mktemp("wheel") / "out")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment that holds the wheel.

    Its dependencies are those of the environment that the tests run in: the folder is appended to
    the path, which leaves the editable install there without effect.
    """
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    ran = run(
        *(
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--quiet",
            "--no-deps",
            wheel,
        ),
        cwd=home,
    )
    assert ran.returncode == 0, ran.stdout
    packages = sysconfig.get_path("purelib", vars={"base": str(home)})
    Path(packages, "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python.parent


def names_in(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.slow
def test_a_wheel_built_from_the_sdist_is_the_wheel_built_from_the_tree(
    sdist: Path, wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert names_in(build("--wheel", unpacked, tmp_path / "out")) == names_in(wheel)


@pytest.mark.slow
def test_the_wheel_holds_one_import_root_with_every_source_file_once(wheel: Path) -> None:
    names = names_in(wheel)
    tops = {name.split("/")[0] for name in names}
    assert tops == {"contextproof", f"contextproof-{contextproof.__version__}.dist-info"}
    assert {"contextproof/__init__.py", "contextproof/py.typed"} <= set(names)
    in_tree = {
        f"contextproof/{path.relative_to(ROOT).as_posix()}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and path.suffix in {".py", ".json", ".txt", ".toml"}
    }
    assert in_tree <= set(names), "a room or a kind of file is missing from the wheel"


@pytest.mark.slow
def test_the_installed_command_tells_its_version(installed: Path, tmp_path: Path) -> None:
    ran = run(installed / "contextproof", "--version", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, f"contextproof {contextproof.__version__}\n")


@pytest.mark.slow
def test_the_gate_passes_from_an_installed_wheel_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    where = "import contextproof.scenarios as module; print(module.__file__)"
    ran = run(installed / "python", "-c", where, cwd=tmp_path)
    assert Path(ran.stdout.strip()).is_relative_to(installed.parent), ran.stdout
    ran = run(installed / "contextproof", "gate", cwd=tmp_path, HOME=str(tmp_path / "home"))
    assert ran.returncode == 0, ran.stdout


@pytest.mark.slow
def test_the_plugin_changes_nothing_in_a_project_that_does_not_ask_for_it(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "strategies.py").write_text("mine = True\n")
    (tmp_path / "test_mine.py").write_text("from strategies import mine\ndef test(): assert mine\n")
    ran = run(installed / "python", "-m", "pytest", "-q", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout


def test_no_module_is_loaded_under_two_names() -> None:
    for module in pkgutil.walk_packages(contextproof.__path__, "contextproof."):
        # Candidates need the libraries that they adapt.
        if not module.name.startswith("contextproof.candidates."):
            importlib.import_module(module.name)
    names = defaultdict(set)
    for name, loaded in list(sys.modules.items()):
        file = Path(getattr(loaded, "__file__", None) or os.devnull).resolve()
        if file.is_relative_to(ROOT) and not file.is_relative_to(sys.prefix) and name != "__main__":
            names[file].add(name)
    assert len(names) > len(ROOMS)
    assert {file: found for file, found in names.items() if len(found) > 1} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_an_installed_room_cannot_be_imported_by_its_bare_name(room: str, tmp_path: Path) -> None:
    script = f"import importlib.util as u; s = u.find_spec({room!r}); print(s and s.origin or '')"
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    origin = ran.stdout.strip()
    assert not origin or not Path(origin).resolve().is_relative_to(ROOT)


@pytest.mark.parametrize("room", ROOMS)
def test_the_linter_refuses_a_room_imported_by_its_bare_name(room: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--stdin-filename", "tests/test_any.py", "-"],
        input=f"from {room}.something import anything\n",
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert f"import it as contextproof.{room}" in ran.stdout


def test_every_room_has_its_link_and_its_line_in_each_list_of_the_build() -> None:
    targets = CONFIG["tool"]["hatch"]["build"]["targets"]
    assert all((LINKS / room).resolve() == ROOT / room for room in ROOMS)
    assert {room for room in ROOMS if (LINKS / room).readlink().is_absolute()} == set()
    packages = {init.parent.name for init in ROOT.glob("*/__init__.py")} - NEVER_INSTALLED
    assert packages == set(ROOMS), "a package at the root is a room with a link, or never installed"
    for target in ("wheel", "sdist"):
        assert packages <= set(targets[target]["only-include"])
    assert {room: f"contextproof/{room}" for room in ROOMS}.items() <= (targets["wheel"]["sources"].items())


def test_the_lock_pins_every_requirement_and_names_no_host() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))
    required = CONFIG["project"]["dependencies"] + CONFIG["dependency-groups"]["dev"]
    required += CONFIG["build-system"]["requires"]
    assert {re.split(r"[^a-z0-9-]", line)[0] for line in required} <= pinned
    assert "://" not in lock
