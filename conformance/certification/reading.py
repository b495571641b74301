"""Reading a run record, finished or still growing, and what its lines add up to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from contextproof.conformance.certification import record as r
from contextproof.conformance.evidence import Evidence, Found, Ledger
from contextproof.conformance.shape import explain


class BadRecord(ValueError):
    """A file is no run record, or none that this version can read; the message says where and why."""


@dataclass
class Run:
    """All lines of a record.

    ``sessions`` are sorted by unit and index, those of whole units alone. ``footer`` is None while the
    run goes on, or where it was interrupted; ``torn`` says that the last line is not whole.
    """

    header: r.Header
    rounds: tuple[r.RoundLine, ...] = ()
    sessions: tuple[r.SessionLine, ...] = ()
    counterexamples: tuple[r.CounterexampleLine, ...] = ()
    known: tuple[r.KnownFailure, ...] = ()
    footer: r.Footer | None = None
    torn: bool = False

    @property
    def units(self) -> tuple[str, ...]:
        """Names of all units of the whole run."""
        return self.header.units + tuple(name for one in self.rounds for name in one.units)

    @property
    def done(self) -> frozenset[str]:
        """Names of the units whose sessions stand here."""
        return frozenset(session.unit for session in self.sessions)

    @property
    def missing(self) -> tuple[str, ...]:
        """Units of the whole run that are not here."""
        done = self.done
        return tuple(name for name in self.units if name not in done)

    @property
    def state(self) -> str:
        """A sentence about an unfinished run; empty for a finished one."""
        if self.footer is not None:
            return ""
        torn = ", and the last line is torn" if self.torn else ""
        return (
            f"the record has no footer{torn}: the run still goes on, or was interrupted; "
            f"{len(self.missing):,} of {len(self.units):,} units are missing"
        )


def record_path(path: Path) -> Path:
    """The record that a run's folder holds, or the file itself."""
    return path / r.FILE if path.is_dir() else path


def read(path: Path) -> Run:
    """Read a record: a file, or a run's folder.

    Raises:
        BadRecord: where it is none, or was made by a version that judges otherwise.
    """
    file = record_path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BadRecord(f"{file}: cannot be read: {error.strerror or error}") from error
    whole, end, rest = data.rpartition(b"\n")
    lines = list(_lines(file, whole.split(b"\n") if end else []))
    if not lines or not isinstance(lines[0], r.Header):
        raise BadRecord(f"{file}: not a run record: it does not begin with a header")
    _check(file, lines[0])
    return _run(lines, torn=bool(rest))


def _lines(file: Path, raw: Iterable[bytes]) -> Iterator[r.Line]:
    for number, line in enumerate(raw, 1):
        try:
            yield r.LINE.validate_json(line)
        except ValidationError as error:
            raise BadRecord(f"{file}, line {number}: not a run record: {explain(error)}") from error


def _check(file: Path, header: r.Header) -> None:
    """Verdicts are worked out by the requirements at hand, so they must be the record's."""
    if header.requirements.sha256 != r.requirement_set().sha256:
        raise BadRecord(
            f"{file}: made by contextproof {header.suite}, whose requirements are not those of "
            f"{version('contextproof')} here; read it with that version, or run it again"
        )


def _run(lines: Sequence[r.Line], *, torn: bool) -> Run:
    header = lines[0]
    assert isinstance(header, r.Header)
    last = lines[-1]
    counterexamples = {
        one.counterexample.requirement: one for one in lines if isinstance(one, r.CounterexampleLine)
    }
    known = {one.id: one for line in lines if isinstance(line, r.KnownLine) for one in line.failures}
    return Run(
        header=header,
        rounds=tuple(one for one in lines if isinstance(one, r.RoundLine)),
        sessions=_whole_units(one for one in lines if isinstance(one, r.SessionLine)),
        counterexamples=tuple(counterexamples.values()),
        known=tuple(known.values()),
        footer=last if isinstance(last, r.Footer) and not torn else None,
        torn=torn,
    )


def _whole_units(sessions: Iterable[r.SessionLine]) -> tuple[r.SessionLine, ...]:
    """Sessions of units that are all there, once each, in the one order that does not depend on chance."""
    placed = {(one.unit, one.index): one for one in sessions}
    present = Counter(unit for unit, _ in placed)
    kept = (one for one in placed.values() if present[one.unit] == one.of)
    return tuple(sorted(kept, key=lambda one: (one.unit, one.index)))


@dataclass
class _Sum:
    sessions: int = 0
    counts: list[int] = field(default_factory=list)

    def add(self, counts: tuple[int, ...]) -> None:
        self.sessions += 1
        padded = self.counts or [0] * len(counts)
        self.counts = [a + b for a, b in zip(padded, counts, strict=True)]


def ledger_of(header: r.Header, sessions: Iterable[r.SessionLine]) -> Ledger:
    """All evidence of some sessions, and for each requirement the smallest session that violates it."""
    sums: dict[str, _Sum] = defaultdict(_Sum)
    ledger = Ledger()
    for session in sessions:
        for identifier, counts in session.evidence.items():
            sums[identifier].add(counts)
        if session.scenario is not None:
            for noted in session.violations:
                found = Found(
                    requirement=noted.requirement, scenario=session.scenario, violation=noted.violation
                )
                ledger.add((), [found])
    witnesses = {listed.id: listed.witnesses for listed in header.requirements.requirements}
    ledger.add(
        (_evidence(identifier, total, witnesses[identifier]) for identifier, total in sums.items()), ()
    )
    return ledger


def _evidence(identifier: str, total: _Sum, witnesses: tuple[str, ...]) -> Evidence:
    judgements, violations, *seen = total.counts
    return Evidence(
        requirement=identifier,
        sessions=total.sessions,
        judgements=judgements,
        violations=violations,
        witnesses=tuple(sorted((name, times) for name, times in zip(witnesses, seen, strict=True) if times)),
    )
