"""A run over a trimmer: generate, play, judge, add up, and make what was found small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from contextproof.conformance.certification.budget import Budget, Unit, units
from contextproof.conformance.certification.generation import generate
from contextproof.conformance.progress import Progress, unheard
from contextproof.conformance.shrink import shrink
from contextproof.conformance.trimming.dialogue import blanks
from contextproof.conformance.trimming.examples import written_down
from contextproof.conformance.trimming.generating import STRATEGIES, cases
from contextproof.conformance.trimming.outcome import (
    Finding,
    Tally,
    TrimmerOutcome,
    decided,
    in_order_of_cause,
    level_of,
)
from contextproof.conformance.trimming.playing import Bench, Subject, bench, play
from contextproof.conformance.trimming.reaching import Manner
from contextproof.conformance.trimming.rules import RULES, Rule, all_rules
from contextproof.conformance.trimming.session import Asked, Broken, Case, Session

#: Violations that are shrunk, causes first; for each, candidates looked at, and played.
_SHRUNK, _CANDIDATES, _PLAYS = 6, 3_000, 300
#: A call that hangs costs its whole time: so many of them end the run, and shrinking waits less long.
_HANGS, _HANG_PLAYS, _HANG_TIMEOUT = 2, 25, 1.0


@dataclass(frozen=True)
class Example:
    """A violation made small: the finding, and the call that shows it with those before it."""

    finding: Finding
    session: Session
    manner: Manner

    @property
    def asked(self) -> Asked:
        """The call that shows the violation."""
        assert self.finding.violation is not None
        return self.session.asked[self.finding.violation.at.record]


@dataclass(frozen=True)
class Measured:
    """What a run came to, and an example of each violation told first."""

    outcome: TrimmerOutcome
    examples: tuple[Example, ...]


def measure(subject: Subject, budget: Budget, *, progress: Progress = unheard) -> Measured:
    """Run a budget against a trimmer.

    Raises:
        BuilderError: where the trimmer cannot be reached.
    """
    tally, wanted = Tally(), [rule for rule in all_rules() if budget.wants(rule.id)]
    played = calls = hangs = 0
    work = units(budget, STRATEGIES, ())
    with bench(subject) as at:
        for done, unit in enumerate(work, 1):
            for case in _cases(unit):
                session = play(case, at)
                played, calls = played + 1, calls + len(session.asked)
                hangs += _is_silent(session)
                for rule in wanted:
                    if rule.applies(at.setting):
                        tally.note(rule, case, list(rule.judge(session)))
                if hangs >= _HANGS:
                    break
            progress("playing", done, len(work))
            if hangs >= _HANGS:
                break
        findings = decided(tally, budget, at.setting)
    stopped = f"{hangs} calls got no answer in time; the rest was not played" if hangs >= _HANGS else ""
    examples = tuple(_examples(findings, subject, progress))
    small = {example.finding.rule: example.finding for example in examples}
    found = tuple(small.get(finding.rule, finding) for finding in findings)
    outcome = TrimmerOutcome(
        trimmer=subject.spec,
        format=subject.format,
        tokenizer=subject.tokenizer,
        budget=budget,
        cases=played,
        calls=calls,
        level=level_of(findings, budget, stopped),
        findings=found,
        stopped=stopped,
    )
    return Measured(outcome, examples)


def _cases(unit: Unit) -> list[Case]:
    name = next(name for name in STRATEGIES if name == unit.source)
    if unit.kind == "explicit":
        return written_down(name)
    return generate(cases(name), unit.seed, unit.sessions)


def _is_silent(session: Session) -> bool:
    return any(isinstance(asked.answer, Broken) and asked.answer.is_silent for asked in session.asked)


def _examples(findings: tuple[Finding, ...], subject: Subject, progress: Progress) -> Iterator[Example]:
    roots = [finding for finding, causes in in_order_of_cause(findings) if not causes][:_SHRUNK]
    patience = _HANG_TIMEOUT if any(map(_is_hang, roots)) else subject.timeout
    with bench(subject, min(subject.timeout, patience)) as at:
        for number, finding in enumerate(roots, 1):
            yield _made_small(finding, at)
            progress("shrinking", number, len(roots))


def _is_hang(finding: Finding) -> bool:
    return finding.violation is not None and "within" in finding.violation.seen and finding.rule == "TRIM-2"


def _made_small(finding: Finding, at: Bench) -> Example:
    """The finding with the smallest case found that violates its rule, and that case's session."""
    rule, case = RULES[finding.rule], finding.case
    assert case is not None
    plays = _HANG_PLAYS if _is_hang(finding) else _PLAYS
    smallest = shrink(case, _judged(rule, case, at, plays), plays=_CANDIDATES)
    session = play(smallest, at)
    made = list(rule.judge(session))
    violation = next((judgement for judgement in made if not judgement.held), finding.violation)
    if violation is not None and violation.at.record >= len(session.asked):
        last = violation.at.model_copy(update={"record": len(session.asked) - 1})
        violation = violation.model_copy(update={"at": last})  # it does not do it every time
    update = {"case": smallest, "violation": violation}
    return Example(finding.model_copy(update=update), session, at.trimmer.manner)


def _judged(rule: Rule, case: Case, at: Bench, plays: int) -> Callable[[Case], bool]:
    """Whether a candidate violates the rule: played at most so often, and with no more blank texts."""
    left, most = plays, blanks(case.conversation)

    def violates(candidate: Case) -> bool:
        nonlocal left
        if left == 0 or blanks(candidate.conversation) > most:
            return False
        left -= 1
        return any(not judgement.held for judgement in rule.judge(play(candidate, at)))

    return violates
