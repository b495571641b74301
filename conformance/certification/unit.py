"""Playing a unit and judging its sessions: what a worker does, and the record it leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.certification.budget import Budget, Unit
from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.evidence import Evidence, Found, Ledger
from contextproof.conformance.metrics import Tally, tally
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.play.variations import TWIN, VARIATIONS
from contextproof.conformance.requirements import all_requirements

#: Every so many sessions the twin plays along: over a pipe that costs as much as all the rest.
_TWIN_EVERY = 4


class Trouble(Frozen):
    """A session in which the builder crashed or answered outside the contract, and how."""

    scenario: Scenario
    error: str


class UnitRecord(Frozen):
    """Everything a unit leaves behind. ``sessions`` counts those that could be judged."""

    unit: Unit
    sessions: Count
    requests: Count
    evidence: tuple[Evidence, ...]
    found: tuple[Found, ...]
    trouble: tuple[Trouble, ...]
    tally: Tally


def play_unit(
    unit: Unit,
    scenarios: Sequence[Scenario],
    budget: Budget,
    builder: Builder,
    twin: Builder | None,
    corpus: Callable[[str], str],
) -> UnitRecord:
    """Play every session of a unit once, with its variations, and judge it by all that is wanted.

    An error of ours is raised as it comes; one of the builder's costs only the session it fell in.
    """
    ledger = Ledger()
    trouble: list[Trouble] = []
    traces: list[Trace] = []
    for number, scenario in enumerate(scenarios):
        try:
            trace = play(scenario, builder, corpus=corpus, resume_in=twin)
            played_by = twin if number % _TWIN_EVERY == 0 else None
            varied = _varied(scenario, trace, builder, twin, played_by, corpus)
        except BuilderError as error:
            trouble.append(Trouble(scenario=scenario, error=str(error)))
            continue
        traces.append(trace)
        judge(scenario, trace, varied, budget, ledger)
    return UnitRecord(
        unit=unit,
        sessions=len(traces),
        requests=sum(len(trace.sent) for trace in traces),
        evidence=tuple(ledger.evidence.values()),
        found=tuple(ledger.found.values()),
        trouble=tuple(trouble),
        tally=tally(traces),
    )


def judge(scenario: Scenario, trace: Trace, varied: dict[str, Trace], budget: Budget, ledger: Ledger) -> None:
    """Judge a session by every requirement that the budget wants and that it can be judged by."""
    for requirement in all_requirements():
        if not budget.wants(requirement.id):
            continue
        if requirement.variation is None:
            ledger.note(requirement.id, scenario, requirement.judge(trace))
        elif requirement.variation in varied:
            other = varied[requirement.variation]
            ledger.note(requirement.id, scenario, requirement.judge(trace, other))


def _varied(
    scenario: Scenario,
    trace: Trace,
    builder: Builder,
    resume_in: Builder | None,
    twin: Builder | None,
    corpus: Callable[[str], str],
) -> dict[str, Trace]:
    """Traces of those variations that really differ from the session."""
    bare: frozenset[str] = frozenset()
    varied = {
        name: play(other, builder, corpus=corpus, beside=bare, resume_in=resume_in)
        for name, other in ((name, vary(scenario)) for name, vary in VARIATIONS.items())
        if other != scenario
    }
    if twin is not None and trace.sent:
        varied[TWIN] = play(scenario, twin, corpus=corpus, beside=bare, resume_in=builder)
    return varied
