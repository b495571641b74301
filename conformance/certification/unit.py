"""Playing a unit and judging its sessions: what a worker does, and the lines it leaves."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence

from contextproof.conformance.builder import Builder, BuilderError, BuilderGone
from contextproof.conformance.certification.budget import Budget, Unit
from contextproof.conformance.certification.record import Noted, SessionLine, compact
from contextproof.conformance.certification.series import series
from contextproof.conformance.evidence import Ledger
from contextproof.conformance.judging import all_variations, judge_session, play_variations
from contextproof.conformance.metrics import tally
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.play.variations import TWIN
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import REGISTRY

#: Every so many sessions the twin plays along: over a pipe that costs as much as all the rest.
TWIN_EVERY = 6


def play_unit(
    unit: Unit,
    scenarios: Sequence[Scenario],
    budget: Budget,
    builder: Builder,
    twin: Builder | None,
    corpus: Callable[[str], str],
) -> tuple[SessionLine, ...]:
    """Play every session of a unit once, with its variations, and judge it by all that is wanted.

    An error of ours is raised as it comes; one of the builder's costs only the session it fell in.
    """
    lines: list[SessionLine] = []
    names = all_variations(budget.wants)
    requirements = [requirement for requirement in all_requirements() if budget.wants(requirement.id)]
    for number, scenario in enumerate(scenarios):
        beside = twin if number % TWIN_EVERY == 0 else None
        start = time.monotonic()
        ledger = Ledger()
        try:
            trace, varied = play_session(scenario, builder, twin, corpus, names, played_by=beside)
        except BuilderError as error:
            lines.append(_troubled(unit, number, scenario, error, start))
            if isinstance(error, BuilderGone):
                break
            continue
        judge_session(scenario, trace, varied, ledger, requirements)
        lines.append(_line(unit, number, scenario, trace, ledger, start))
    return tuple(line.model_copy(update={"of": len(lines)}) for line in _smallest_alone(lines))


def _line(
    unit: Unit, index: int, scenario: Scenario, trace: Trace, ledger: Ledger, start: float
) -> SessionLine:
    found = ledger.found.values()
    return SessionLine(
        unit=unit.name,
        index=index,
        name=scenario.name,
        steps=len(scenario.steps),
        ended=trace.ended,
        requests=len(trace.sent),
        milliseconds=_since(start),
        evidence={
            identifier: compact(evidence, REGISTRY[identifier].witnesses)
            for identifier, evidence in ledger.evidence.items()
            if evidence.judgements
        },
        violations=tuple(Noted(requirement=one.requirement, violation=one.violation) for one in found),
        scenario=scenario if found else None,
        tally=tally([trace]),
        series=series(trace) if unit.kind == "scripted" and trace.sent else None,
    )


def _troubled(unit: Unit, index: int, scenario: Scenario, error: BuilderError, start: float) -> SessionLine:
    return SessionLine(
        unit=unit.name,
        index=index,
        name=scenario.name,
        steps=len(scenario.steps),
        ended="builder error",
        requests=0,
        milliseconds=_since(start),
        scenario=scenario,
        trouble=str(error),
    )


def _since(start: float) -> int:
    return round(1000 * (time.monotonic() - start))


def _smallest_alone(lines: Sequence[SessionLine]) -> list[SessionLine]:
    """Of each requirement's violations the smallest session's alone; evidence counts the others."""
    smallest: dict[str, SessionLine] = {}
    for line in sorted(lines, key=lambda line: line.steps):
        for noted in line.violations:
            smallest.setdefault(noted.requirement, line)
    return [_without_larger(line, smallest) for line in lines]


def _without_larger(line: SessionLine, smallest: dict[str, SessionLine]) -> SessionLine:
    if not line.violations:
        return line
    kept = tuple(noted for noted in line.violations if smallest[noted.requirement] is line)
    return line.model_copy(update={"violations": kept, "scenario": line.scenario if kept else None})


def play_session(
    scenario: Scenario,
    builder: Builder,
    twin: Builder | None,
    corpus: Callable[[str], str],
    names: Collection[str],
    *,
    played_by: Builder | None,
) -> tuple[Trace, dict[str, Trace]]:
    """Play a session and those of its variations that are named.

    Args:
        scenario: the session.
        builder: what plays it.
        twin: where it goes on after a resume.
        corpus: gives the texts that recipes cut from.
        names: of variations.
        played_by: the twin, where it plays the whole session too.

    Raises:
        BuilderError: where one of them crashes or answers outside the contract.
    """
    trace = play(scenario, builder, corpus=corpus, resume_in=twin)
    varied = play_variations(scenario, builder, corpus, names, resume_in=twin)
    if TWIN in names and played_by is not None and trace.sent:
        varied[TWIN] = play(scenario, played_by, corpus=corpus, beside=frozenset(), resume_in=builder)
    return trace, varied
