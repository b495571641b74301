"""What a run of certification comes to: a verdict a requirement, a level, and counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

from pydantic import ValidationError

from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.causes import in_order_of_cause
from contextproof.conformance.certification.budget import SESSIONS, Budget
from contextproof.conformance.certification.unit import Trouble, UnitRecord
from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.vocabulary import Decision
from contextproof.conformance.counterexample import Counterexample, counterexample, judge_scenario
from contextproof.conformance.evidence import Found, Ledger
from contextproof.conformance.gate import GateOutcome, gate_outcome
from contextproof.conformance.metrics import Metrics, measure
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.variations import TWIN
from contextproof.conformance.progress import Progress
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import MUST, REGISTRY, Gate, Requirement
from contextproof.conformance.shrink import shrink
from contextproof.conformance.verdicts import HOLDING, Result, Verdict, decide

#: Sessions that must have put a requirement to the test, for a certification to pass it.
LEAST_SESSIONS = 100
#: Failures that are shrunk, causes first.
_SHRUNK = 4
#: Candidates played for each, and how many steps they may have together: long sessions are dear.
_PLAYS = 120
_STEPS = 3_000


class Level(StrEnum):
    """How far a builder conforms."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


class Outcome(Frozen):
    """What a run found.

    Attributes:
        level: full where every MUST is claimed and holds; partial where some whole decisions do
            (``decisions``); none otherwise. None at all where the run certifies nothing.
        results: of every requirement wanted, by id.
        trouble: sessions in which the builder crashed or answered outside the contract.
    """

    builder: str
    manifest: Manifest
    budget: Budget
    sessions: Count
    requests: Count
    level: Level | None
    decisions: tuple[Decision, ...]
    gates: tuple[GateOutcome, ...]
    results: tuple[Result, ...]
    metrics: Metrics
    trouble: tuple[Trouble, ...]

    @property
    def conforms(self) -> bool:
        """Whether nothing that was judged bars it."""
        return not self.trouble and all(result.verdict in HOLDING for result in self.results)


def outcome(
    spec: str,
    budget: Budget,
    records: Iterable[UnitRecord],
    builder: Builder,
    *,
    complete: bool = True,
) -> Outcome:
    """Add up the records of a run; one that is not ``complete`` certifies nothing."""
    ledger = Ledger()
    parts = list(records)
    for record in parts:
        ledger.add(record.evidence, record.found)
    thorough = budget.sessions >= SESSIONS["certify"]
    results = {
        requirement.id: decide(
            requirement,
            ledger,
            builder.manifest,
            builder.ports,
            least_sessions=_least(requirement) if thorough else 1,
            every_witness=thorough,
        )
        for requirement in all_requirements()
        if budget.wants(requirement.id)
    }
    trouble = tuple(one for record in parts for one in record.trouble)
    holding = _holding_decisions(results.values())
    level = None
    if thorough and complete and not budget.is_narrowed:
        level = _level(holding, trouble)
    return Outcome(
        builder=spec,
        manifest=builder.manifest,
        budget=budget,
        sessions=sum(record.sessions for record in parts),
        requests=sum(record.requests for record in parts),
        level=level,
        decisions=holding,
        gates=tuple(gate_outcome(gate, results.values()) for gate in Gate),
        results=tuple(results.values()),
        metrics=measure(record.tally for record in parts),
        trouble=trouble,
    )


def _least(requirement: Requirement) -> int:
    """Sessions that must put a requirement to the test: what is scripted is played once."""
    generated = requirement.scenarios != "scripted" and requirement.level is MUST
    return LEAST_SESSIONS if generated else 1


def _holding_decisions(results: Iterable[Result]) -> tuple[Decision, ...]:
    """Decisions none of whose requirements is barred: a SHOULD may warn, nothing may be unseen."""
    verdicts: dict[Decision, list[Verdict]] = {}
    for result in results:
        verdicts.setdefault(REGISTRY[result.requirement].decision, []).append(result.verdict)
    return tuple(decision for decision, some in verdicts.items() if all(v in HOLDING for v in some))


def _level(holding: tuple[Decision, ...], trouble: tuple[Trouble, ...]) -> Level:
    if trouble or not holding:
        return Level.NONE
    return Level.FULL if set(holding) == set(Decision) else Level.PARTIAL


def counterexamples(
    found: Outcome,
    builder: Builder,
    corpus: Callable[[str], str],
    spare: frozenset[str],
    progress: Progress,
) -> list[Counterexample]:
    """Shrink the first causes among the failures, and write each up.

    What only a twin shows is not shrunk; neither are the ids in ``spare``.
    """
    told = [result for result, causes in in_order_of_cause(found.results) if not causes]
    roots = [r.found for r in told if r.found is not None and r.requirement not in spare][:_SHRUNK]
    made: list[Counterexample] = []
    for number, root in enumerate(roots):
        progress("shrinking", number, len(roots))
        made.append(_written_up(root, builder, corpus))
    progress("shrinking", len(roots), len(roots))
    return made


def _written_up(root: Found, builder: Builder, corpus: Callable[[str], str]) -> Counterexample:
    requirement = REGISTRY[root.requirement]
    scenario = root.scenario
    if requirement.variation != TWIN:
        scenario = shrink(
            scenario,
            lambda candidate: _shows(requirement, candidate, builder, corpus),
            plays=min(_PLAYS, _STEPS // max(1, len(scenario.steps))),
        )
    trace, judgements = judge_scenario(requirement, scenario, builder, corpus)
    violation = next((j for j in judgements if not j.held), root.violation)
    return counterexample(requirement, scenario, trace, violation)


def _shows(
    requirement: Requirement, scenario: Scenario, builder: Builder, corpus: Callable[[str], str]
) -> bool:
    try:
        _, judgements = judge_scenario(requirement, scenario, builder, corpus)
    except (BuilderError, KeyError, ValidationError):
        return False  # no session to be played, or one that shows something else
    return any(not judgement.held for judgement in judgements)
