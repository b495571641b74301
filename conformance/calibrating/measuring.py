"""Measuring one engine: its sessions are played and judged just as a certification's are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from contextproof import scenarios, strategies
from contextproof.conformance.adapters.reach import reach
from contextproof.conformance.adapters.twin import twin
from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.calibrating.job import Job, Measured, Play
from contextproof.conformance.causes import in_order_of_cause
from contextproof.conformance.certification.budget import SESSIONS, UNIT_SESSIONS, WEIGHTS
from contextproof.conformance.certification.generation import generate
from contextproof.conformance.certification.outcome import written_up
from contextproof.conformance.certification.unit import TWIN_EVERY, play_session
from contextproof.conformance.evidence import Found, Ledger
from contextproof.conformance.judgement import Judgement
from contextproof.conformance.judging import all_variations, judge_session
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import Requirement
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import Verdict, decide

#: Set apart, so that no seed of a calibration gives the sessions of another.
_SEEDS_APART = 1_000_000


@dataclass
class _Sessions:
    """Plays sessions one by one, and keeps count."""

    job: Job
    builder: Builder
    twin: Builder
    ledger: Ledger = field(default_factory=Ledger)
    trouble: list[str] = field(default_factory=list)
    played: int = 0
    #: Whether an explicit session shows the fault: it does so for every seed.
    is_shown: bool = False

    def violated_by(
        self, scenario: Scenario, requirements: Sequence[Requirement] | None = None
    ) -> frozenset[str]:
        """Play and judge a session; the ids of requirements that it violates."""
        beside = self.twin if self.played % TWIN_EVERY == 0 else None
        self.played += 1
        ledger = Ledger()
        try:
            trace, varied = play_session(
                scenario, self.builder, self.twin, scenarios.corpus, all_variations(), played_by=beside
            )
        except BuilderError as error:
            self.trouble.append(str(error))
            return frozenset()
        judge_session(scenario, trace, varied, ledger, requirements)
        self.ledger.add(ledger.evidence.values(), ledger.found.values())
        return frozenset(ledger.found)

    def is_detection(self, violated: frozenset[str]) -> bool:
        """Whether a session with these violations detects the engine."""
        return self.job.breaks in violated if self.job.breaks else bool(violated)


def measure(job: Job) -> Measured:
    """Do a job. What goes wrong with us is raised; what the engine does wrong is noted."""
    target = Target(factory=job.spec)
    builder = reach(target)
    with twin(target) as other:
        sessions = _Sessions(job, builder, other)
        explicit = _explicit(job)
        plays = tuple(_play(sessions, seed, explicit if seed == job.seeds[0] else []) for seed in job.seeds)
        found = _smallest(job, sessions.ledger)
        steps, blinded = None, None
        if found is not None and job.breaks:
            blinded = _seen_when_blind(sessions, found)
        if found is not None and job.shrinks:
            steps = len(written_up(found, builder, scenarios.corpus).scenario.steps)
    return Measured(
        job=job,
        plays=plays,
        told=told_first(sessions.ledger, builder),
        found=found,
        steps=steps,
        blinded=blinded,
        evidence=tuple(sessions.ledger.evidence.values()),
        trouble=tuple(sessions.trouble[:1]),
    )


def _explicit(job: Job) -> list[Scenario]:
    if job.source == "scripted":
        return list(scenarios.scripted())
    return list(strategies.explicit(job.source)) if job.explicit else []


def _generated(job: Job, seed: int) -> Iterator[Scenario]:
    """The sessions generated from a seed, a unit at a time, as a certification draws them."""
    if job.source == "scripted":
        return
    strategy = strategies.by_key()[job.source]
    planned = SESSIONS["certify"] * WEIGHTS.get(job.source, 1)
    most = max(job.sessions, planned) if job.breaks else job.sessions
    for start in range(0, most, UNIT_SESSIONS):
        yield from generate(strategy, seed * _SEEDS_APART + start, min(UNIT_SESSIONS, most - start))


def _play(sessions: _Sessions, seed: int, explicit: list[Scenario]) -> Play:
    """One seed's sessions, to the first detection or to the end."""
    violated: Counter[str] = Counter()
    first: int | None = None
    counted = {"explicit": 0, "generated": 0, "hits": 0}

    def goes_on() -> bool:
        if first is None and not sessions.is_shown:
            return True
        return sessions.job.to_the_end and counted["generated"] < sessions.job.sessions

    for kind, drawn in (("explicit", iter(explicit)), ("generated", _generated(sessions.job, seed))):
        while goes_on() and (scenario := next(drawn, None)) is not None:
            ids = sessions.violated_by(scenario)
            violated.update(ids)
            counted[kind] += 1
            if sessions.is_detection(ids):
                counted["hits"] += kind == "generated"
                first = first or counted["explicit"] + counted["generated"]
                sessions.is_shown |= kind == "explicit"
    return Play(seed=seed, first=first, violated=tuple(sorted(violated.items())), **counted)


def _smallest(job: Job, ledger: Ledger) -> Found | None:
    if job.breaks:
        return ledger.found.get(job.breaks)
    return min(ledger.found.values(), key=lambda found: len(found.scenario.steps), default=None)


def told_first(ledger: Ledger, builder: Builder) -> str:
    """The requirement that a report names first; of mere warnings, the first. Empty where there is none."""
    results = [decide(r, ledger, builder.manifest, builder.ports) for r in all_requirements()]
    causes = [result.requirement for result, _ in in_order_of_cause(results)]
    warned = [result.requirement for result in results if result.verdict is Verdict.WARNED]
    return next(iter((*causes, *warned)), "")


def _seen_when_blind(sessions: _Sessions, found: Found) -> bool:
    """Whether the session is still a detection while the requirement that it violates always holds."""
    requirements = [_always_held(r) if r.id == found.requirement else r for r in all_requirements()]
    again = _Sessions(sessions.job, sessions.builder, sessions.twin)
    return again.is_detection(again.violated_by(found.scenario, requirements))


def _always_held(requirement: Requirement) -> Requirement:
    """The same requirement, whose every judgement is that it held."""

    def held(*traces: Trace | None) -> Iterator[Judgement]:
        for judgement in requirement.function(*traces):
            yield judgement.model_copy(update={"held": True})

    return replace(requirement, function=held)
