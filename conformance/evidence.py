"""Evidence: how often a requirement was judged, in what situations, and where it first failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.judgement import Judgement
from contextproof.conformance.play.scenario import Scenario


class Evidence(Frozen):
    """What some sessions showed of one requirement.

    ``sessions`` counts those that put it to the test; ``witnesses`` says for each named situation in
    how many judgements it was there.
    """

    requirement: Id
    sessions: Count = 0
    judgements: Count = 0
    violations: Count = 0
    witnesses: tuple[tuple[str, int], ...] = ()

    def __add__(self, other: Evidence) -> Evidence:
        """Evidence of both, for the same requirement."""
        seen = Counter(dict(self.witnesses))
        seen.update(dict(other.witnesses))
        return Evidence(
            requirement=self.requirement,
            sessions=self.sessions + other.sessions,
            judgements=self.judgements + other.judgements,
            violations=self.violations + other.violations,
            witnesses=tuple(sorted(seen.items())),
        )


class Found(Frozen):
    """A violation of a requirement, with the session that shows it."""

    requirement: Id
    scenario: Scenario
    violation: Judgement


def evidence_of(identifier: str, made: Sequence[Judgement]) -> Evidence:
    """The evidence of one session's judgements."""
    seen = Counter(witness for judgement in made for witness in judgement.witnesses)
    return Evidence(
        requirement=identifier,
        sessions=int(bool(made)),
        judgements=len(made),
        violations=sum(not judgement.held for judgement in made),
        witnesses=tuple(sorted(seen.items())),
    )


@dataclass
class Ledger:
    """Adds up evidence as sessions are judged. Of violations it keeps the smallest session's."""

    evidence: dict[str, Evidence] = field(default_factory=dict)
    found: dict[str, Found] = field(default_factory=dict)

    def note(self, identifier: str, scenario: Scenario, made: Sequence[Judgement]) -> None:
        """Note one session's judgements of a requirement."""
        self.add([evidence_of(identifier, made)], ())
        first = next((judgement for judgement in made if not judgement.held), None)
        if first is not None:
            found = Found(requirement=identifier, scenario=scenario, violation=first)
            self.add((), [found])

    def add(self, evidence: Iterable[Evidence], found: Iterable[Found]) -> None:
        """Add what another ledger holds."""
        for part in evidence:
            before = self.evidence.get(part.requirement, Evidence(requirement=part.requirement))
            self.evidence[part.requirement] = before + part
        for one in found:
            known = self.found.get(one.requirement)
            if known is None or len(one.scenario.steps) < len(known.scenario.steps):
                self.found[one.requirement] = one
