"""What a run of certification comes to: a verdict a requirement, a level, and counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import NamedTuple

from pydantic import ValidationError

from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.causes import in_order_of_cause
from contextproof.conformance.certification.budget import SESSIONS, Budget
from contextproof.conformance.certification.reading import BadRecord, Run, ledger_of
from contextproof.conformance.certification.record import Header, SessionLine
from contextproof.conformance.certification.timeline import Timeline, timeline
from contextproof.conformance.contract.base import Count, Frozen, canonical_json, sha256
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.vocabulary import Decision
from contextproof.conformance.counterexample import Counterexample, counterexample, judge_scenario
from contextproof.conformance.evidence import Found
from contextproof.conformance.gate import GateOutcome, gate_outcome
from contextproof.conformance.metrics import Metrics, measure
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.variations import TWIN
from contextproof.conformance.progress import Progress
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import MUST, REGISTRY, Gate, Requirement
from contextproof.conformance.shrink import shrink
from contextproof.conformance.target import Target
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


class Trouble(Frozen):
    """A session in which the builder crashed or answered outside the contract, and how."""

    scenario: Scenario
    error: str


class Outcome(Frozen):
    """What a run found.

    Attributes:
        level: full where every MUST is claimed and holds; partial where some whole decisions do
            (``decisions``); none otherwise. None at all where the run certifies nothing.
        results: of every requirement wanted, by id.
        trouble: sessions in which the builder crashed or answered outside the contract.
    """

    builder: Target
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


def outcome(header: Header, sessions: Sequence[SessionLine], *, complete: bool = True) -> Outcome:
    """What sessions come to. Where they are not ``complete``, a whole run, nothing is certified."""
    budget, ledger = header.budget, ledger_of(header, sessions)
    thorough = budget.sessions >= SESSIONS["certify"]
    results = {
        requirement.id: decide(
            requirement,
            ledger,
            header.manifest,
            frozenset(header.ports),
            least_sessions=_least(requirement) if thorough else 1,
            every_witness=thorough,
            over_pipe=header.builder.is_over_pipe,
        )
        for requirement in all_requirements()
        if budget.wants(requirement.id)
    }
    trouble = tuple(_trouble(sessions))
    holding = _holding_decisions(results.values())
    level = None
    if thorough and complete and not budget.is_narrowed:
        level = _level(holding, trouble)
    return Outcome(
        builder=header.builder,
        manifest=header.manifest,
        budget=budget,
        sessions=sum(session.trouble is None for session in sessions),
        requests=sum(session.requests for session in sessions),
        level=level,
        decisions=holding,
        gates=tuple(gate_outcome(gate, results.values()) for gate in Gate),
        results=tuple(results.values()),
        metrics=measure(session.tally for session in sessions),
        trouble=trouble,
    )


def outcome_of(run: Run) -> Outcome:
    """What a run comes to, from its record alone.

    Raises:
        BadRecord: where that is not what its footer says: the record was altered.
    """
    found = outcome(run.header, run.sessions, complete=not run.missing)
    if run.footer is not None and run.footer.verdicts_sha256 != verdicts_sha256(found):
        raise BadRecord(
            "the sessions in the record do not come to the verdicts in its footer: it was altered"
        )
    return found


def verdicts_sha256(found: Outcome) -> str:
    """A digest of all verdicts."""
    return sha256(canonical_json([[one.requirement, one.verdict] for one in found.results]))


def _trouble(sessions: Iterable[SessionLine]) -> Iterator[Trouble]:
    for session in sessions:
        if session.trouble is not None and session.scenario is not None:
            yield Trouble(scenario=session.scenario, error=session.trouble)


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


class Shown(NamedTuple):
    """A counterexample, and how the session goes that shows it."""

    counterexample: Counterexample
    timeline: Timeline


def counterexamples(
    found: Outcome,
    builder: Builder,
    corpus: Callable[[str], str],
    spare: frozenset[str],
    progress: Progress,
) -> list[Shown]:
    """Shrink the first causes among the failures, and write each up.

    What only a twin shows is not shrunk; neither are the ids in ``spare``. A failure that cannot be
    played again, since the builder breaks down over it, has no counterexample.
    """
    told = [result for result, causes in in_order_of_cause(found.results) if not causes]
    roots = [r.found for r in told if r.found is not None and r.requirement not in spare][:_SHRUNK]
    made: list[Shown] = []
    for number, root in enumerate(roots):
        progress("shrinking", number, len(roots))
        with suppress(BuilderError):  # it broke down over a session that it got through before
            made.append(shown(root, builder, corpus))
    progress("shrinking", len(roots), len(roots))
    return made


def written_up(root: Found, builder: Builder, corpus: Callable[[str], str]) -> Counterexample:
    """The counterexample of a violation, made as small as a bounded number of plays can make it."""
    return shown(root, builder, corpus).counterexample


def shown(root: Found, builder: Builder, corpus: Callable[[str], str]) -> Shown:
    """The same, with its timeline."""
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
    return Shown(counterexample(requirement, scenario, trace, violation), timeline(trace, violation.at))


def _shows(
    requirement: Requirement, scenario: Scenario, builder: Builder, corpus: Callable[[str], str]
) -> bool:
    try:
        _, judgements = judge_scenario(requirement, scenario, builder, corpus)
    except (BuilderError, KeyError, ValidationError):
        return False  # no session to be played, or one that shows something else
    return any(not judgement.held for judgement in judgements)
