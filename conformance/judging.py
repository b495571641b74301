"""Judging a session once it is played: by every requirement that it can be judged by."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from contextproof.conformance.builder import Builder
from contextproof.conformance.evidence import Ledger
from contextproof.conformance.judgement import Judgement
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.play.variations import VARIATIONS
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import Requirement


def all_variations(wants: Callable[[str], bool] = bool) -> frozenset[str]:
    """Names of the variations that a requirement, of those wanted, compares with."""
    return frozenset(r.variation for r in all_requirements() if r.variation and wants(r.id))


def play_variations(
    scenario: Scenario,
    builder: Builder,
    corpus: Callable[[str], str],
    names: Collection[str],
    resume_in: Builder | None = None,
) -> dict[str, Trace]:
    """Traces, by name, of those named variations of a scenario that really differ from it."""
    varied = {name: vary(scenario) for name, vary in VARIATIONS.items() if name in names}
    return {
        name: play(other, builder, corpus=corpus, beside=frozenset(), resume_in=resume_in)
        for name, other in varied.items()
        if other != scenario
    }


def judge_session(
    scenario: Scenario,
    trace: Trace,
    varied: Mapping[str, Trace],
    ledger: Ledger,
    requirements: Iterable[Requirement] | None = None,
) -> None:
    """Note every judgement of a session in a ledger.

    Args:
        scenario: what was played.
        trace: its trace.
        varied: traces of its variations, by name; a pair requirement whose variation is not there
            makes no judgement.
        ledger: where judgements are noted.
        requirements: what it is judged by; by default all there are.
    """
    for requirement in all_requirements() if requirements is None else requirements:
        ledger.note(requirement.id, scenario, judge_by(requirement, trace, varied))


def judge_by(requirement: Requirement, trace: Trace, varied: Mapping[str, Trace]) -> list[Judgement]:
    """Judgements of one requirement; none, where it needs a variation that was not played."""
    other = varied.get(requirement.variation) if requirement.variation else None
    if other is None and requirement.needs_variation:
        return []
    return requirement.judge(trace, other)
