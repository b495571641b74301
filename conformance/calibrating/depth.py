"""How thorough a calibration is: the engines of known verdict, and the jobs that each depth makes of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from contextproof import strategies
from contextproof.calibration.faulty import faulty_engines, spec
from contextproof.calibration.null import NULL
from contextproof.calibration.odd import ODD
from contextproof.conformance.calibrating.job import Job, Kind
from contextproof.conformance.requirements import all_requirements

#: Source of a job that plays the scripted sessions.
SCRIPTED = "scripted"


class Depth(StrEnum):
    """How much is measured."""

    SAMPLE = "sample"
    MATRIX = "matrix"
    FULL = "full"


@dataclass(frozen=True)
class Effort:
    """What a depth plays.

    Attributes:
        seeds: how many, counted up from the one given.
        sessions: generated at most for each seed of a faulty engine.
        to_the_end: whether a faulty engine's sessions are all played, to tell how often its fault shows.
        sweep: sessions generated for each strategy and seed of an odd engine; a null engine has a tenth,
            for one seed.
        sampled: how many faulty, odd and null engines are drawn; None where all are measured.
    """

    seeds: int
    sessions: int
    to_the_end: bool
    sweep: int
    sampled: dict[Kind, int] | None = None

    def number(self, kind: Kind, there: int) -> int:
        """How many engines of a kind are measured, of those there are."""
        return there if self.sampled is None else min(there, self.sampled[kind])


EFFORTS = {
    Depth.SAMPLE: Effort(
        1, 40, to_the_end=False, sweep=1, sampled={Kind.FAULTY: 16, Kind.ODD: 1, Kind.NULL: 1}
    ),
    Depth.MATRIX: Effort(1, 160, to_the_end=False, sweep=12),
    Depth.FULL: Effort(5, 5, to_the_end=True, sweep=10),
}


@dataclass(frozen=True)
class Known:
    """An engine of known verdict: its name, and how the command line names it."""

    kind: Kind
    name: str
    spec: str
    breaks: str = ""


def known_engines() -> tuple[Known, ...]:
    """Every engine of known verdict: faulty, odd, null."""
    return (
        *(Known(Kind.FAULTY, name, spec(e), e.breaks) for name, e in faulty_engines().items()),
        *(Known(Kind.ODD, one.rpartition(":")[2], one) for one in ODD),
        *(Known(Kind.NULL, name, one) for name, one in NULL.items()),
    )


def jobs(depth: Depth, seed: int, names: Sequence[str] = ()) -> tuple[Job, ...]:
    """Every job of a depth, the longest first. With names, those of these engines alone.

    Raises:
        KeyError: with a name that no engine has.
    """
    engines = known_engines()
    for name in names:
        if name not in {engine.name for engine in engines}:
            raise KeyError(name)
    effort = EFFORTS[depth]
    chosen = [e for e in engines if e.name in names] if names else _drawn(engines, effort, seed)
    seeds = tuple(range(seed, seed + effort.seeds))
    made = [job for engine in chosen for job in _jobs(engine, effort, seeds)]
    return tuple(sorted(made, key=lambda job: job.kind is not Kind.ODD))


def _drawn(engines: Sequence[Known], effort: Effort, seed: int) -> list[Known]:
    """So many engines of each kind as are measured, in their own order."""
    chance = random.Random(seed)  # noqa: S311 (a sample, not a secret)
    chosen: list[Known] = []
    for kind in Kind:
        there = [engine for engine in engines if engine.kind is kind]
        places = sorted(chance.sample(range(len(there)), effort.number(kind, len(there))))
        chosen += [there[place] for place in places]
    return chosen


def _jobs(engine: Known, effort: Effort, seeds: tuple[int, ...]) -> Iterator[Job]:
    if engine.kind is Kind.FAULTY:
        yield _job(
            engine,
            _strategy_of(engine.breaks),
            seeds,
            effort.sessions,
            to_the_end=effort.to_the_end,
            shrinks=True,
        )
        return
    null = engine.kind is Kind.NULL
    sessions = max(1, effort.sweep // 10) if null else effort.sweep
    for source in strategies.by_key():
        yield _job(engine, source, seeds[:1] if null else seeds, sessions, to_the_end=True)
    if effort.sampled is None and not null:
        yield _job(engine, SCRIPTED, seeds[:1], 0, to_the_end=True)


def _job(
    engine: Known,
    source: str,
    seeds: tuple[int, ...],
    sessions: int,
    *,
    to_the_end: bool,
    shrinks: bool = False,
) -> Job:
    return Job(
        name=engine.name,
        kind=engine.kind,
        spec=engine.spec,
        breaks=engine.breaks,
        source=source,
        seeds=seeds,
        sessions=sessions,
        to_the_end=to_the_end,
        shrinks=shrinks,
    )


def _strategy_of(identifier: str) -> str:
    """The strategy whose sessions stress a requirement."""
    return next(r.scenarios for r in all_requirements() if r.id == identifier)
