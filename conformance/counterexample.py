"""A counterexample: the smallest session found that shows a violation, as one JSON file that replays."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from importlib.metadata import version
from typing import Literal

from contextproof.conformance.builder import Builder
from contextproof.conformance.contract.base import Frozen, Id
from contextproof.conformance.contract.items import LogItem
from contextproof.conformance.contract.tokenizers import digest
from contextproof.conformance.judgement import Judgement
from contextproof.conformance.judging import judge_by, play_variations
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.play.variations import TWIN
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import MUST, Requirement


class Counterexample(Frozen):
    """A violation and the session that shows it.

    Attributes:
        requirement: the id of what was violated.
        scenario: the session, recipes and all.
        log: what the recipes became against the builder it was found with.
        violation: where, what was seen and what is required.
        cost: what it costs the builder's owner.
        builder: name and version of the builder it was found with.
        suite: version of contextproof. ``tokenizers`` are SHA-256 digests of rank files, by name.
    """

    version: Literal[1] = 1
    requirement: Id
    scenario: Scenario
    log: tuple[LogItem, ...]
    violation: Judgement
    cost: str
    builder: tuple[str, str]
    suite: str
    tokenizers: tuple[tuple[str, str], ...]


def counterexample(
    requirement: Requirement, scenario: Scenario, trace: Trace, violation: Judgement
) -> Counterexample:
    """The counterexample of a violation found in a trace of the scenario."""
    names = sorted({plan.opening.model.tokenizer for plan in trace.plans})
    return Counterexample(
        requirement=requirement.id,
        scenario=scenario,
        log=trace.log,
        violation=violation,
        cost=requirement.cost,
        builder=(trace.manifest.name, trace.manifest.version),
        suite=version("contextproof"),
        tokenizers=tuple((name, digest(name)) for name in names),
    )


def judge_scenario(
    requirement: Requirement,
    scenario: Scenario,
    builder: Builder,
    corpus: Callable[[str], str],
) -> tuple[Trace, list[Judgement]]:
    """Play a scenario, and its variation if the requirement compares with one, and judge.

    A pair requirement whose variation changes nothing in this scenario yields no judgement.
    """
    trace = play(scenario, builder, corpus=corpus)
    varied = play_variations(scenario, builder, corpus, {requirement.variation or ""})
    if requirement.variation == TWIN:
        varied[TWIN] = play(scenario, builder, corpus=corpus, beside=frozenset())
    return trace, judge_by(requirement, trace, varied)


class Replay(StrEnum):
    """What became of a counterexample."""

    FIXED = "FIXED"
    STILL_FAILS = "STILL FAILS"
    FAILS_DIFFERENTLY = "FAILS DIFFERENTLY"
    NO_LONGER_VALID = "NO LONGER VALID"


class Replayed(Frozen):
    """The outcome of a replay, with the violations seen now (requirement id and judgement)."""

    outcome: Replay
    violations: tuple[tuple[str, Judgement], ...] = ()


def replay(found: Counterexample, builder: Builder, corpus: Callable[[str], str]) -> Replayed:
    """Play a counterexample again.

    It is no longer valid where the requirement is not known any more, is not claimed by the builder, or
    is not put to the test by the session as it goes now.
    """
    requirement = {r.id: r for r in all_requirements()}.get(found.requirement)
    claims = builder.manifest.claims
    if requirement is None or requirement.decision not in claims:
        return Replayed(outcome=Replay.NO_LONGER_VALID)
    trace, judgements = judge_scenario(requirement, found.scenario, builder, corpus)
    violated = tuple((requirement.id, j) for j in judgements if not j.held)
    if violated:
        return Replayed(outcome=Replay.STILL_FAILS, violations=violated)
    others = tuple(
        (other.id, judgement)
        for other in all_requirements()
        if other.variation is None and other.level is MUST and other.decision in claims
        for judgement in other.judge(trace)
        if not judgement.held
    )
    if others:
        return Replayed(outcome=Replay.FAILS_DIFFERENTLY, violations=others)
    return Replayed(outcome=Replay.FIXED if judgements else Replay.NO_LONGER_VALID)
