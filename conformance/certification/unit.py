"""Playing a unit and judging its sessions: what a worker does, and the record it leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.certification.budget import Budget, Unit
from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.evidence import Evidence, Found, Ledger
from contextproof.conformance.judging import all_variations, judge_session, play_variations
from contextproof.conformance.metrics import Tally, tally
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.play.variations import TWIN

#: Every so many sessions the twin plays along: over a pipe that costs as much as all the rest.
_TWIN_EVERY = 6


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
    names = all_variations(budget.wants)
    trouble: list[Trouble] = []
    traces: list[Trace] = []
    for number, scenario in enumerate(scenarios):
        try:
            trace = play(scenario, builder, corpus=corpus, resume_in=twin)
            varied = play_variations(scenario, builder, corpus, names, resume_in=twin)
            if TWIN in names and twin is not None and trace.sent and number % _TWIN_EVERY == 0:
                varied[TWIN] = play(scenario, twin, corpus=corpus, beside=frozenset(), resume_in=builder)
        except BuilderError as error:
            trouble.append(Trouble(scenario=scenario, error=str(error)))
            continue
        traces.append(trace)
        judge_session(scenario, trace, varied, ledger, budget.wants)
    return UnitRecord(
        unit=unit,
        sessions=len(traces),
        requests=sum(len(trace.sent) for trace in traces),
        evidence=tuple(ledger.evidence.values()),
        found=tuple(ledger.found.values()),
        trouble=tuple(trouble),
        tally=tally(traces),
    )
