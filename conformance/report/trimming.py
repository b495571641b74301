"""What was found of a trimmer, for a terminal or a log; counterexamples in the trimmer's own messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.console import Console

from contextproof.conformance.report.escape import visible
from contextproof.conformance.trimming.outcome import Finding, TrimmerOutcome, in_order_of_cause
from contextproof.conformance.trimming.rules import RULES
from contextproof.conformance.trimming.running import Example, Measured
from contextproof.conformance.trimming.session import Asked, Broken, Raised, Returned
from contextproof.conformance.trimming.telling import tokens_told
from contextproof.conformance.verdicts import Verdict

#: Characters of a message that are shown, and messages.
_CHARACTERS, _MESSAGES = 160, 12


def print_trimmer(measured: Measured, scripts: Mapping[str, Path], console: Console) -> None:
    """Print everything, escaped, without wrapping. ``scripts`` are files by rule."""
    for line in lines(measured, scripts):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def lines(measured: Measured, scripts: Mapping[str, Path]) -> Iterator[str]:
    """What was found, as lines."""
    outcome = measured.outcome
    budget = outcome.budget
    yield (
        f"trimmer {visible(outcome.trimmer)} ({outcome.format} messages, {outcome.tokenizer}); "
        f"profile {budget.profile}, seed {budget.seed}"
        + (f", nonce {visible(budget.nonce)}" if budget.nonce else "")
    )
    yield from map(_finding_line, outcome.findings)
    told = in_order_of_cause(outcome.findings)
    for finding, causes in told:
        yield from _bad_lines(finding, causes)
    for example in measured.examples:
        yield from _example_lines(example, scripts.get(example.finding.rule))
    yield from _closing(outcome)


def _finding_line(finding: Finding) -> str:
    evidence = finding.evidence
    verdict = finding.verdict.value.upper() if finding.verdict is Verdict.FAILED else finding.verdict.value
    seen = f"{evidence.judgements:,} judgements of {evidence.sessions:,} cases"
    note = f"; {finding.note}" if finding.note else ""
    return f"{finding.rule:<9} {_words(finding):<39} {verdict:<14} {seen}{note}"


def _words(finding: Finding) -> str:
    return RULES[finding.rule].name.replace("_", " ")


def _bad_lines(finding: Finding, causes: tuple[str, ...]) -> Iterator[str]:
    assert finding.violation is not None
    seen = visible(finding.violation.seen)
    if causes:
        yield f"follows from {', '.join(dict.fromkeys(causes))}: {finding.rule} {_words(finding)}: {seen}"
        return
    head = "FAILED" if finding.verdict is Verdict.FAILED else "warning"
    yield f"{head} {finding.rule} {_words(finding)}: {seen}"
    yield f"  required: {visible(finding.violation.required)}"
    evidence = finding.evidence
    cost = RULES[finding.rule].cost
    yield f"  violated {evidence.violations:,} of {evidence.judgements:,} times. {cost}"


def _example_lines(example: Example, script: Path | None) -> Iterator[str]:
    asked = example.asked
    yield f"counterexample for {example.finding.rule}, under a limit of {tokens_told(asked.limit)}:"
    if asked.system is not None:
        yield f"  system: {_shown(asked.system)}"
    yield from _messages("handed over", asked.given)
    yield from _answer_lines(asked)
    if script is not None:
        yield f"  python {visible(str(script))}"


def _messages(what: str, messages: list[object]) -> Iterator[str]:
    number = f"{len(messages)} message{'' if len(messages) == 1 else 's'}"
    yield f"  {what}, {number}:" if messages else f"  {what}, nothing"
    yield from (f"    {_shown(message)}" for message in messages[:_MESSAGES])
    if len(messages) > _MESSAGES:
        yield f"    and {len(messages) - _MESSAGES} more"


def _shown(value: object) -> str:
    text = visible(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"


def _answer_lines(asked: Asked) -> Iterator[str]:
    match asked.answer:
        case Returned():
            yield from _messages("came back", asked.answer.messages)
        case Raised():
            yield f"  raised {visible(str(asked.answer))}"
        case Broken():
            yield f"  {visible(asked.answer.problem)}"


def _closing(outcome: TrimmerOutcome) -> Iterator[str]:
    counts = Counter(finding.verdict for finding in outcome.findings)
    told = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
    if outcome.stopped:
        yield visible(outcome.stopped)
    yield f"{outcome.cases:,} cases, {outcome.calls:,} calls; rules: {told}"
    if outcome.level is None:
        yield "this run certifies nothing: it was narrowed, or played less than a certification does"
    elif outcome.conforms:
        yield f"level {outcome.level.value}: as a plain trimmer, by the rules above; an engine does more"
    else:
        yield f"level {outcome.level.value}"
