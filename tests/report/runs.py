"""Small runs, made here and now, to make reports of."""

from __future__ import annotations

from functools import cache

from contextproof import scenarios, strategies
from contextproof.calibration.faulty.prefix import TimestampInThePrefix
from contextproof.conformance.adapters.in_process import InProcess
from contextproof.conformance.builder import Builder
from contextproof.conformance.certification.budget import Budget, Unit
from contextproof.conformance.certification.outcome import Shown, counterexamples, outcome_of, verdicts_sha256
from contextproof.conformance.certification.reading import Run
from contextproof.conformance.certification.record import CounterexampleLine, Footer, header
from contextproof.conformance.certification.unit import play_unit
from contextproof.conformance.progress import unheard
from contextproof.conformance.target import Target
from contextproof.reference_impl.engine import ReferenceEngine
from report.hostile import HostileEngine

REFERENCE = "contextproof.reference_impl.engine:factory"
STAMPED = "contextproof.calibration.faulty.prefix:TimestampInThePrefix"
HOSTILE = "report.hostile:HostileEngine"
ENGINES = {REFERENCE: ReferenceEngine, STAMPED: TimestampInThePrefix, HOSTILE: HostileEngine}
UNITS = (
    Unit(name="scripted-rotations", kind="scripted", source="rotations"),
    Unit(name="explicit-sessions", kind="explicit", source="sessions"),
)


@cache
def run_of(spec: str) -> Run:
    """A finished run over a scripted session and a few written-down ones, with its counterexamples."""
    builder: Builder = InProcess(ENGINES[spec]())
    budget = Budget(profile="gate", seed=5, sessions=1)
    lines = [
        line
        for unit, sessions in (
            (UNITS[0], [scenarios.load("rotations")]),
            (UNITS[1], list(strategies.explicit("sessions"))[:3]),
        )
        for line in play_unit(unit, sessions, budget, builder, None, scenarios.corpus)
    ]
    names = tuple(unit.name for unit in UNITS)
    run = Run(
        header(Target(factory=spec), builder, budget, names),
        sessions=tuple(sorted(lines, key=lambda line: (line.unit, line.index))),
    )
    made = counterexamples(outcome_of(run), builder, scenarios.corpus, frozenset(), unheard)
    run.counterexamples = tuple(_line(one) for one in made)
    run.footer = Footer(
        complete=True,
        units=2,
        sessions=len(lines),
        requests=0,
        troubled=0,
        verdicts_sha256=verdicts_sha256(outcome_of(run)),
    )
    return run


def _line(one: Shown) -> CounterexampleLine:
    file = f"counterexamples/{one.counterexample.requirement}.json"
    return CounterexampleLine(file=file, counterexample=one.counterexample, timeline=one.timeline)
