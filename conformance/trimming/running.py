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
_HANGS, _HANG_PLAYS, _HANG_TIMEOUT = 2, 10, 0.5


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
    with bench(subject) as at:
        run = played(at, budget, progress)
    patience = _HANG_TIMEOUT if run.hangs else subject.timeout
    with bench(subject, min(subject.timeout, patience)) as at:
        examples = tuple(made_small(run.findings, at, progress))
    if run.hangs:
        with bench(subject) as at:
            examples = tuple(_confirmed(example, run.findings, at) for example in examples)
    small = {example.finding.rule: example.finding for example in examples}
    outcome = TrimmerOutcome(
        trimmer=subject.spec,
        format=subject.format,
        tokenizer=subject.tokenizer,
        budget=budget,
        cases=run.cases,
        calls=run.calls,
        level=level_of(run.findings, budget, run.stopped),
        findings=tuple(small.get(finding.rule, finding) for finding in run.findings),
        stopped=run.stopped,
    )
    return Measured(outcome, examples)


@dataclass
class Run:
    """What was played so far, and once it is over, what was found."""

    cases: int = 0
    calls: int = 0
    hangs: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def is_stopped(self) -> bool:
        """Whether too many calls got no answer."""
        return self.hangs >= _HANGS

    @property
    def stopped(self) -> str:
        """Why it ended early, if it did."""
        return f"{self.hangs} calls got no answer in time; the rest was not played" if self.is_stopped else ""


def played(at: Bench, budget: Budget, progress: Progress = unheard) -> Run:
    """All cases of a budget, played and judged."""
    run, tally = Run(), Tally()
    rules = [rule for rule in all_rules() if budget.wants(rule.id) and rule.applies(at.setting)]
    work = units(budget, STRATEGIES, ())
    for done, unit in enumerate(work, 1):
        for case in _cases(unit):
            if run.is_stopped:
                break
            session = play(case, at)
            run.cases, run.calls = run.cases + 1, run.calls + len(session.asked)
            run.hangs += _is_silent(session)
            for rule in rules:
                tally.note(rule, case, list(rule.judge(session)))
        progress("playing", done, len(work))
    run.findings = decided(tally, budget, at.setting)
    return run


def _cases(unit: Unit) -> list[Case]:
    name = next(name for name in STRATEGIES if name == unit.source)
    if unit.kind == "explicit":
        return written_down(name)
    return generate(cases(name), unit.seed, unit.sessions)


def _is_silent(session: Session) -> bool:
    return any(isinstance(asked.answer, Broken) and asked.answer.is_silent for asked in session.asked)


def made_small(findings: tuple[Finding, ...], at: Bench, progress: Progress = unheard) -> Iterator[Example]:
    """An example of each violation that follows from no other, as small as it will go."""
    roots = [finding for finding, causes in in_order_of_cause(findings) if not causes][:_SHRUNK]
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


def _confirmed(example: Example, findings: tuple[Finding, ...], at: Bench) -> Example:
    """The example, where it hangs for the whole time too; else the finding as it was first seen."""
    if not _is_hang(example.finding):
        return example
    first = next(finding for finding in findings if finding.rule == example.finding.rule)
    for finding in (example.finding, first):
        assert finding.case is not None
        session = play(finding.case, at)
        made = [judgement for judgement in RULES[finding.rule].judge(session) if not judgement.held]
        if made:
            return Example(finding.model_copy(update={"violation": made[0]}), session, example.manner)
    return example


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
