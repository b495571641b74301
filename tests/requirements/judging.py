"""Judging hand-written traces by one requirement."""

from __future__ import annotations

from contextproof.conformance.judgement import Judgement
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.requirements import all_requirements

_BY_ID = {requirement.id: requirement for requirement in all_requirements()}


def judged(identifier: str, trace: Trace, varied: Trace | None = None) -> list[Judgement]:
    """All judgements of a requirement; every witness named must be one it declares."""
    requirement = _BY_ID[identifier]
    judgements = requirement.judge(trace, varied)
    for judgement in judgements:
        assert set(judgement.witnesses) <= set(requirement.witnesses), judgement
    return judgements


def declared(identifier: str) -> set[str]:
    """The witnesses that a requirement declares."""
    return set(_BY_ID[identifier].witnesses)


def holds(identifier: str, trace: Trace, varied: Trace | None = None) -> set[str]:
    """Assert that it was judged and held; returns the witnesses that were there."""
    judgements = judged(identifier, trace, varied)
    assert judgements, f"{identifier} was not judged"
    violated = [judgement for judgement in judgements if not judgement.held]
    assert not violated, f"{identifier}: {violated[0].seen}; required: {violated[0].required}"
    return {witness for judgement in judgements for witness in judgement.witnesses}


def violation(identifier: str, trace: Trace, varied: Trace | None = None) -> Judgement:
    """Assert that it was violated, and say how: the first violation, told in full."""
    violated = [j for j in judged(identifier, trace, varied) if not j.held]
    assert violated, f"{identifier} was not violated"
    assert violated[0].seen, violated[0]
    assert violated[0].required, violated[0]
    return violated[0]


def unjudged(identifier: str, trace: Trace, varied: Trace | None = None) -> None:
    """Assert that the trace gives no occasion to judge it."""
    assert not judged(identifier, trace, varied)
