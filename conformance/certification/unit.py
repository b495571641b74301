"""Playing a unit and judging its sessions: what a worker does, and the record it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.certification.budget import Budget, Unit
from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.evidence import Evidence, Found, Ledger
from contextproof.conformance.judgement import Judgement
from contextproof.conformance.metrics import Tally, tally
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.play.variations import TWIN, VARIATIONS
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import Requirement


class UnitRecord(Frozen):
    """Everything a unit leaves behind.

    ``trouble`` are sessions in which the builder crashed or answered outside the contract, each with
    what was wrong.
    """

    unit: Unit
    sessions: Count
    requests: Count
    evidence: tuple[Evidence, ...]
    found: tuple[Found, ...]
    trouble: tuple[tuple[Scenario, str], ...] = ()
    metrics: Tally


def play_unit(
    unit: Unit,
    scenarios: Sequence[Scenario],
    budget: Budget,
    builder: Builder,
    twin: Builder | None,
    corpus: Callable[[str], str],
) -> UnitRecord:
    """Play every session of a unit once, with its variations, and judge it by all that is wanted.

    A harness error is raised as it comes; a builder's error costs only the session it fell in.
    """
    wanted = [requirement for requirement in all_requirements() if budget.wants(requirement.id)]
    ledger = Ledger()
    trouble: list[tuple[Scenario, str]] = []
    traces: list[Trace] = []
    for scenario in scenarios:
        try:
            trace = play(scenario, builder, corpus=corpus)
            varied = _varied(scenario, trace, builder, twin, corpus, wanted)
        except BuilderError as error:
            trouble.append((scenario, str(error)))
            continue
        traces.append(trace)
        for requirement in wanted:
            ledger.note(requirement.id, scenario, _judge(requirement, trace, varied))
    return UnitRecord(
        unit=unit,
        sessions=len(traces),
        requests=sum(len(trace.sent) for trace in traces),
        evidence=tuple(ledger.evidence.values()),
        found=tuple(ledger.found.values()),
        trouble=tuple(trouble),
        metrics=tally(traces),
    )


def _varied(
    scenario: Scenario,
    trace: Trace,
    builder: Builder,
    twin: Builder | None,
    corpus: Callable[[str], str],
    wanted: Iterable[Requirement],
) -> dict[str, Trace]:
    """Traces of the variations that some wanted requirement compares with, and that really differ."""
    names = {requirement.variation for requirement in wanted}
    varied: dict[str, Trace] = {}
    for name, vary in VARIATIONS.items():
        other = vary(scenario)
        if name in names and other != scenario:
            varied[name] = play(other, builder, corpus=corpus, beside=frozenset())
    if TWIN in names and twin is not None and trace.sent:
        varied[TWIN] = play(scenario, twin, corpus=corpus, beside=frozenset())
    return varied


def _judge(requirement: Requirement, trace: Trace, varied: dict[str, Trace]) -> list[Judgement]:
    if requirement.variation is None:
        return requirement.judge(trace)
    other = varied.get(requirement.variation)
    return [] if other is None else requirement.judge(trace, other)
