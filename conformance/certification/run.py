"""A run of certification: a folder with the settings, and one record for each unit that is done.

Workers are pytest's: they take the units that have no record yet, and a record appears whole or not
at all. So a run can be interrupted and resumed, and nothing is lost or counted twice when one dies.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from contextproof import scenarios, strategies
from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.certification.budget import Budget, Unit, units
from contextproof.conformance.certification.generation import generate
from contextproof.conformance.certification.unit import UnitRecord, play_unit
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.counterexample import Counterexample
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.progress import Progress
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import MUST, REGISTRY

#: Seconds between two looks at how far the workers are.
_GLANCE = 0.2
#: How often workers are started anew over units that were left without a record.
_ATTEMPTS = 3


class Settings(Frozen):
    """What a run's folder was made for. Resuming needs the same."""

    builder: str
    budget: Budget
    rounds: int = 1


class HarnessError(Exception):
    """Something of ours went wrong; nothing is said about the builder."""


class Folder:
    """A run's folder on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: What failed in each record that was looked into so far.
        self._failed: dict[Path, frozenset[str]] = {}

    @property
    def settings(self) -> Settings:
        """What the run was made for. Raises OSError or pydantic.ValidationError."""
        return Settings.from_json((self.path / "settings.json").read_bytes())

    def start(self, settings: Settings) -> None:
        """Make the folder. Raises FileExistsError where it holds anything."""
        (self.path / "units").mkdir(parents=True)
        self._write(self.path / "settings.json", settings.canonical())

    def change(self, settings: Settings) -> None:
        """Go on under other settings: a soak's next round."""
        self._write(self.path / "settings.json", settings.canonical())

    def keep(self, found: Counterexample) -> Path:
        """Write a counterexample into the folder; returns its path."""
        path = self.path / "counterexamples" / f"{found.requirement}.json"
        path.parent.mkdir(exist_ok=True)
        self._write(path, found.model_dump_json(indent=1).encode())
        return path

    def units(self) -> tuple[Unit, ...]:
        """Every unit of the run. Narrowed to some requirements, it has their strategies alone."""
        settings = self.settings
        # A smoke test is to be over in seconds, and the fifty turns alone take some.
        scripted = () if settings.budget.profile == "smoke" else scenarios.names()
        wanted = {r.scenarios for r in all_requirements() if settings.budget.wants(r.id)}
        sources = [source for source in strategies.by_key() if source in wanted]
        return tuple(
            unit
            for number in range(settings.rounds)
            for unit in units(settings.budget, sources, scripted, number)
        )

    def missing(self) -> tuple[Unit, ...]:
        """Units without a record."""
        return tuple(unit for unit in self.units() if not self._record(unit).exists())

    def todo(self) -> tuple[Unit, ...]:
        """The units handed to the workers now; the same list for each of them."""
        names = set((self.path / "todo.txt").read_text(encoding="utf-8").split("\n"))
        return tuple(unit for unit in self.units() if unit.name in names)

    def hand_out(self, todo: tuple[Unit, ...]) -> None:
        """Say which units the workers are to do."""
        self._write(self.path / "todo.txt", "\n".join(unit.name for unit in todo).encode())

    def save(self, record: UnitRecord) -> None:
        """Keep a unit's record: it appears whole or not at all."""
        self._write(self._record(record.unit), record.canonical())

    def has_failed(self, enough: int | None) -> bool:
        """Whether so many requirements that must hold have failed already."""
        if enough is None:
            return False
        for path in set((self.path / "units").glob("*.json")) - set(self._failed):
            found = UnitRecord.from_json(path.read_bytes()).found
            self._failed[path] = frozenset(one.requirement for one in found)
        failed = frozenset[str]().union(*self._failed.values())
        return sum(REGISTRY[identifier].level is MUST for identifier in failed) >= enough

    def records(self) -> Iterator[UnitRecord]:
        """Every record there is, in the units' order."""
        for unit in self.units():
            path = self._record(unit)
            if path.exists():
                yield UnitRecord.from_json(path.read_bytes())

    def _record(self, unit: Unit) -> Path:
        return self.path / "units" / f"{unit.name}.json"

    def _write(self, path: Path, data: bytes) -> None:
        temporary = path.with_suffix(f".{os.getpid()}.part")
        temporary.write_bytes(data)
        temporary.replace(path)


def sessions_of(unit: Unit) -> list[Scenario]:
    """The sessions of a unit. Raises GenerationFailed."""
    if unit.kind == "scripted":
        return [scenarios.load(unit.source)]
    if unit.kind == "explicit":
        return list(strategies.explicit(unit.source))
    return generate(strategies.by_key()[unit.source], unit.seed, unit.sessions)


def do_unit(folder: Folder, unit: Unit, builder: Builder, twin: Builder | None) -> UnitRecord:
    """Play a unit and keep its record."""
    budget = folder.settings.budget
    record = play_unit(unit, sessions_of(unit), budget, builder, twin, scenarios.corpus)
    folder.save(record)
    return record


def work(
    folder: Folder,
    workers: int,
    progress: Progress,
    max_failures: int | None = None,
) -> None:
    """Have all missing units done, or so many that enough requirements have failed.

    Raises:
        HarnessError: where our own code failed in a worker.
        BuilderError: where units stay without a record although workers were started anew.
    """
    total = len(folder.units())
    for _ in range(_ATTEMPTS):
        missing = folder.missing()
        if not missing or folder.has_failed(max_failures):
            return
        folder.hand_out(missing)
        _start_workers(folder, min(workers, len(missing)), total, progress, max_failures)
    if folder.has_failed(max_failures):
        return
    left = folder.missing()
    if left:
        raise BuilderError(f"the builder ends its process while unit {left[0].name} is played")


def _start_workers(
    folder: Folder,
    workers: int,
    total: int,
    progress: Progress,
    max_failures: int | None,
) -> None:
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header"),
        *("-c", os.devnull, "--rootdir", str(folder.path), "-n", str(workers if workers > 1 else 0)),
        *("--dist", "worksteal", "--pyargs", "contextproof.conformance.suite.units"),
        *("--contextproof-run", str(folder.path)),
    ]
    paths = [str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    log = folder.path / "workers.log"
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            while process.poll() is None:
                progress("units of sessions", total - len(folder.missing()), total)
                if folder.has_failed(max_failures):
                    break
                time.sleep(_GLANCE)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    progress("units of sessions", total - len(folder.missing()), total)
    errors = folder.path / "harness-error.txt"
    if errors.exists():
        text = errors.read_text(encoding="utf-8")
        errors.unlink()
        raise HarnessError(text)
