"""What a run over a trimmer comes to: a verdict a rule, and a level that is partial at the best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from contextproof.conformance.certification.budget import SESSIONS, Budget
from contextproof.conformance.certification.outcome import LEAST_SESSIONS, Level
from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.evidence import Evidence, evidence_of
from contextproof.conformance.judgement import Judgement
from contextproof.conformance.requirements.registry import MUST, SHOULD
from contextproof.conformance.trimming.dialogue import blanks
from contextproof.conformance.trimming.formats import FormatName
from contextproof.conformance.trimming.rules import RULES, Rule, all_rules
from contextproof.conformance.trimming.session import Case, Setting
from contextproof.conformance.verdicts import HOLDING, Verdict


class Finding(Frozen):
    """One rule's verdict with its evidence, and the smallest case seen that violates it, if any."""

    rule: Id
    verdict: Verdict
    evidence: Evidence
    case: Case | None = None
    violation: Judgement | None = None
    note: str = ""


class TrimmerOutcome(Frozen):
    """What a run found.

    Attributes:
        level: partial where every MUST that applies holds, else none; none at all where the run
            certifies nothing. A trimmer is never certified in full: most of what an engine does, it
            does not do.
        stopped: why the run ended early, if it did.
    """

    trimmer: str
    format: FormatName
    tokenizer: str
    budget: Budget
    cases: Count
    calls: Count
    level: Level | None
    findings: tuple[Finding, ...]
    stopped: str = ""

    @property
    def conforms(self) -> bool:
        """Whether something passed, and nothing judged bars it. A short run may leave rules unseen."""
        spared = set() if _is_thorough(self.budget) else {Verdict.UNEXERCISED}
        verdicts = [finding.verdict for finding in self.findings]
        passed = any(verdict is Verdict.PASSED for verdict in verdicts)
        return passed and not self.stopped and all(v in HOLDING | spared for v in verdicts)


@dataclass
class Tally:
    """Adds up judgements. Of the cases that violate a rule it keeps the smallest."""

    evidence: dict[str, Evidence] = field(default_factory=dict)
    found: dict[str, tuple[Case, Judgement]] = field(default_factory=dict)

    def note(self, rule: Rule, case: Case, made: Sequence[Judgement]) -> None:
        """Note one case's judgements by one rule."""
        before = self.evidence.get(rule.id, Evidence(requirement=rule.id))
        self.evidence[rule.id] = before + evidence_of(rule.id, made)
        violation = next((judgement for judgement in made if not judgement.held), None)
        if violation is not None:
            known = self.found.get(rule.id)
            if known is None or _size(case) < _size(known[0]):
                self.found[rule.id] = (case, violation)


def _size(case: Case) -> tuple[int, int]:
    return blanks(case.conversation), len(case.model_dump_json())


def decided(tally: Tally, budget: Budget, setting: Setting) -> tuple[Finding, ...]:
    """A finding for every rule that the budget wants."""
    return tuple(_decide(rule, tally, budget, setting) for rule in all_rules() if budget.wants(rule.id))


def _decide(rule: Rule, tally: Tally, budget: Budget, setting: Setting) -> Finding:
    seen = tally.evidence.get(rule.id, Evidence(requirement=rule.id))
    counts = dict(seen.witnesses)
    named = tuple((witness, counts.get(witness, 0)) for witness in rule.witnesses)
    evidence = seen.model_copy(update={"witnesses": named})
    verdict, note = _verdict(rule, evidence, budget, setting)
    case, violation = tally.found.get(rule.id, (None, None))
    return Finding(
        rule=rule.id, verdict=verdict, evidence=evidence, case=case, violation=violation, note=note
    )


def _verdict(rule: Rule, evidence: Evidence, budget: Budget, setting: Setting) -> tuple[Verdict, str]:
    if not rule.applies(setting):
        return Verdict.NOT_REACHABLE, f"says nothing of {setting.format.name} messages"
    if evidence.violations:
        return (Verdict.WARNED if rule.level is SHOULD else Verdict.FAILED), ""
    missing = [witness for witness, times in evidence.witnesses if not times]
    if not evidence.judgements:
        optional = set(missing) <= set(rule.optional)
        kind = Verdict.NOT_REACHABLE if optional else Verdict.UNEXERCISED
        return kind, f"never brought about: {', '.join(missing)}"
    if _is_thorough(budget):
        barring = [witness for witness in missing if witness not in rule.optional]
        if barring:
            return Verdict.UNEXERCISED, f"never seen: {', '.join(barring)}"
        if rule.level is MUST and evidence.sessions < LEAST_SESSIONS:
            few = f"put to the test by {evidence.sessions} cases, fewer than {LEAST_SESSIONS}"
            return Verdict.UNEXERCISED, few
    spared = [witness for witness in missing if witness in rule.optional]
    return Verdict.PASSED, f"never seen, as a trimmer may have it: {', '.join(spared)}" if spared else ""


def _is_thorough(budget: Budget) -> bool:
    return budget.sessions >= SESSIONS["certify"]


def level_of(findings: Iterable[Finding], budget: Budget, stopped: str) -> Level | None:
    """The level that a run certifies, or none where it certifies nothing."""
    if budget.is_narrowed or not _is_thorough(budget):
        return None
    musts = [finding.verdict for finding in findings if RULES[finding.rule].level is MUST]
    good = not stopped and Verdict.PASSED in musts and all(verdict in HOLDING for verdict in musts)
    return Level.PARTIAL if good else Level.NONE


def in_order_of_cause(findings: Iterable[Finding]) -> list[tuple[Finding, tuple[str, ...]]]:
    """Failed findings, then those warned of, causes first; each with those that it follows from."""
    bad = {f.rule: f for f in findings if f.verdict in {Verdict.FAILED, Verdict.WARNED}}
    told = [
        (f, tuple(c for c in _causes(f) if c in bad and f.rule not in _causes(bad[c]))) for f in bad.values()
    ]
    return sorted(told, key=lambda pair: (pair[0].verdict is Verdict.WARNED, bool(pair[1])))


def _causes(finding: Finding) -> tuple[str, ...]:
    named = finding.violation.follows if finding.violation is not None else ()
    return (*RULES[finding.rule].follows, *named)
