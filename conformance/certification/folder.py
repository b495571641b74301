"""A run's folder on disk: the record, which one process writes, and a box into which workers put units.

A unit appears in the box whole or not at all, and is moved into the record whole. So a run can be
interrupted and resumed, and nothing is lost or counted twice when a worker dies.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from contextproof import scenarios, strategies
from contextproof.conformance.certification.budget import Budget, Unit, units
from contextproof.conformance.certification.outcome import Outcome, Shown, verdicts_sha256
from contextproof.conformance.certification.reading import Run, read
from contextproof.conformance.certification.record import (
    FILE,
    CounterexampleLine,
    Footer,
    Header,
    KnownFailure,
    KnownLine,
    RoundLine,
    SessionLine,
    Shard,
    VerdictLine,
    written,
)
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import MUST, REGISTRY
from contextproof.conformance.target import Target

_PLAYING = ".playing"


def planned(budget: Budget, round_number: int = 0) -> tuple[Unit, ...]:
    """Every unit of a round. Narrowed to some requirements, it has their strategies alone."""
    # A smoke test is to be over in seconds, and the fifty turns alone take some.
    scripted = () if budget.profile == "smoke" else scenarios.names()
    wanted = {r.scenarios for r in all_requirements() if budget.wants(r.id)}
    sources = [source for source in strategies.by_key() if source in wanted]
    return units(budget, sources, scripted, round_number)


def part(planned_units: Sequence[Unit], shard: Shard | None) -> tuple[Unit, ...]:
    """Those units that a shard plays: every so many, which spreads the long ones."""
    return tuple(planned_units if shard is None else planned_units[shard.number - 1 :: shard.of])


class Handout(Frozen):
    """What workers are told: the builder, the budget, and the units that are theirs now."""

    builder: Target
    budget: Budget
    units: tuple[Unit, ...]


class Box:
    """Where workers find what to do, and leave what they did."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "units"

    def hand_out(self, handout: Handout) -> None:
        """Say what the workers are to do; the same for each of them."""
        self.path.mkdir(exist_ok=True)
        replace(self.folder / "handout.json", handout.canonical())

    @property
    def handout(self) -> Handout:
        """What the workers are to do. Raises OSError or pydantic.ValidationError."""
        return Handout.from_json((self.folder / "handout.json").read_bytes())

    def begin(self, unit: Unit) -> None:
        """Say that a unit is being played."""
        (self.path / f"{unit.name}{_PLAYING}").touch()

    def put(self, unit: Unit, lines: Iterable[SessionLine]) -> None:
        """Leave a unit's sessions: they appear whole or not at all."""
        replace(self.path / f"{unit.name}.jsonl", b"".join(map(written, lines)))
        (self.path / f"{unit.name}{_PLAYING}").unlink(missing_ok=True)

    def waiting(self) -> list[Path]:
        """Units that stand ready to be moved."""
        return sorted(self.path.glob("*.jsonl"))

    def longest(self) -> str:
        """The unit that has been played the longest by now, and for how long; empty where none is."""
        begun = [(path.stat().st_mtime, path.name) for path in self._playing()]
        if not begun:
            return ""
        since, name = min(begun)
        return f"{name.removesuffix(_PLAYING)} for {max(0, time.time() - since):.0f} s"

    def clear(self) -> None:
        """Take away what is of no use once all is moved."""
        for path in self._playing():
            path.unlink(missing_ok=True)
        (self.folder / "handout.json").unlink(missing_ok=True)
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()

    def _playing(self) -> list[Path]:
        return [path for path in self.path.glob(f"*{_PLAYING}") if path.exists()]


class Folder:
    """A run's folder, held by the process that writes the record."""

    def __init__(self, path: Path, run: Run) -> None:
        self.path = path
        self.box = Box(path)
        self.header = run.header
        self._planned = [planned(run.header.budget, number) for number in range(1 + len(run.rounds))]
        self._done = set(run.done)
        self._failed = {noted.requirement for session in run.sessions for noted in session.violations}

    @classmethod
    def start(cls, path: Path, header: Header) -> Folder:
        """Make the folder, with a record that has its header. Raises FileExistsError."""
        (path / "units").mkdir(parents=True)
        replace(path / FILE, written(header))
        return cls(path, Run(header))

    @classmethod
    def resume(cls, path: Path) -> Folder:
        """Take a run up again: a torn line is cut off, and what workers left is moved in.

        Raises:
            BadRecord: where there is no record.
        """
        run = read(path)
        if run.torn:
            file = path / FILE
            os.truncate(file, file.read_bytes().rfind(b"\n") + 1)
        folder = cls(path, run)
        folder.collect()
        return folder

    def run(self) -> Run:
        """What the record says by now."""
        return read(self.path)

    def units(self) -> tuple[Unit, ...]:
        """Every unit that is to be played here."""
        return tuple(unit for one in self._planned for unit in part(one, self.header.shard))

    def missing(self) -> tuple[Unit, ...]:
        """Units whose sessions are not here yet."""
        return tuple(unit for unit in self.units() if unit.name not in self._done)

    def next_round(self) -> None:
        """Go on with another round of units."""
        more = planned(self.header.budget, len(self._planned))
        self._planned.append(more)
        self._append(RoundLine(units=tuple(unit.name for unit in more)))

    def collect(self) -> None:
        """Move units from the box into the record."""
        for path in self.box.waiting():
            data = path.read_bytes()
            if path.stem not in self._done:
                self._write(data)
                self._note(path.stem, data)
            path.unlink()

    def has_failed(self, enough: int | None) -> bool:
        """Whether so many requirements that must hold have failed already."""
        if enough is None:
            return False
        return sum(REGISTRY[identifier].level is MUST for identifier in self._failed) >= enough

    def finish(self, found: Outcome, made: Sequence[Shown], known: Sequence[KnownFailure] = ()) -> list[Path]:
        """Write counterexamples, verdicts and the footer; returns the files of the counterexamples."""
        if known:
            self._append(KnownLine(failures=tuple(known)))
        files = [put_counterexample(self.path, one) for one in made]
        finish(self.path / FILE, self.run(), found)
        self.box.clear()
        return files

    def _note(self, unit: str, data: bytes) -> None:
        self._done.add(unit)
        for line in data.splitlines():
            self._failed |= {noted["requirement"] for noted in json.loads(line)["violations"]}

    def _append(self, line: Frozen) -> None:
        self._write(written(line))

    def _write(self, data: bytes) -> None:
        append(self.path / FILE, data)


def put_counterexample(folder: Path, one: Shown) -> Path:
    """Write a counterexample's file, and its line into the record; returns the file."""
    path = folder / "counterexamples" / f"{one.counterexample.requirement}.json"
    path.parent.mkdir(exist_ok=True)
    replace(path, one.counterexample.model_dump_json(indent=1).encode())
    line = CounterexampleLine(
        file=f"counterexamples/{path.name}", counterexample=one.counterexample, timeline=one.timeline
    )
    append(folder / FILE, written(line))
    return path


def finish(file: Path, run: Run, found: Outcome) -> None:
    """Write verdicts and footer below a record."""
    verdicts = [
        VerdictLine(
            requirement=result.requirement,
            verdict=result.verdict,
            sessions=result.evidence.sessions,
            judgements=result.evidence.judgements,
            violations=result.evidence.violations,
            note=result.note,
        )
        for result in found.results
    ]
    footer = Footer(
        complete=not run.missing,
        units=len(run.done),
        sessions=found.sessions,
        requests=found.requests,
        troubled=len(found.trouble),
        verdicts_sha256=verdicts_sha256(found),
    )
    append(file, b"".join(map(written, (*verdicts, footer))))


def append(file: Path, data: bytes) -> None:
    """Add lines to a record, in one go."""
    with file.open("ab") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def replace(path: Path, data: bytes) -> None:
    """Write a file that appears whole or not at all."""
    temporary = path.with_suffix(f".{os.getpid()}.part")
    temporary.write_bytes(data)
    temporary.replace(path)
