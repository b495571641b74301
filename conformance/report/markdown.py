"""A run as Markdown, for the summary of a CI job or a comment. Whatever a builder wrote stays text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contextproof.conformance.certificate.making import failing
from contextproof.conformance.certificate.model import Certificate, RequirementLine
from contextproof.conformance.report.gate import metric_rows
from contextproof.conformance.report.words import SENTENCE, level_words, named, score, shortened
from contextproof.conformance.verdicts import HOLDING, Verdict

#: Failures told in full; the others stand in the table.
_TOLD = 5
#: Characters that mean something to Markdown, or to HTML within it.
_ACTIVE = frozenset("\\`*_{}[]()#+-.!|<>&~@:'\"$^=")


def summary(document: Certificate) -> str:
    """The whole summary."""
    return "\n".join(_lines(document)) + "\n"


def preformatted(lines: Iterable[str]) -> str:
    """Plain lines, as they are."""
    return "<pre>\n" + "".join(f"{escaped(line)}\n" for line in lines) + "</pre>\n"


def escaped(text: str) -> str:
    """Text as Markdown that shows as just this text, on one line, cut where it is very long."""
    return "".join(f"&#{ord(c)};" if c in _ACTIVE else c for c in shortened(text, SENTENCE))


def _code(text: str) -> str:
    return f"<code>{escaped(text)}</code>"


def _lines(document: Certificate) -> Iterator[str]:
    yield f"## {escaped(named(document))}: {level_words(document)}"
    yield ""
    yield escaped(document.verdict)
    yield ""
    yield from _gates(document)
    yield from _metrics(document)
    yield from _failures(document)
    yield from _others(document)
    yield from _all(document)
    yield ""
    yield (
        f"{document.sessions:,} sessions, {document.requests:,} requests; contextproof "
        f"{escaped(document.suite)}, seed {document.budget.seed}. Again: {_code(document.reproduce)}"
    )


def _gates(document: Certificate) -> Iterator[str]:
    yield "| gate | verdict | judgements |"
    yield "| --- | --- | ---: |"
    for gate in document.gates:
        verdict = "holds" if gate.holds else f"**{gate.verdict.value}**"
        yield f"| {gate.gate.value} | {verdict} | {gate.judgements:,} |"
    yield ""


def _metrics(document: Certificate) -> Iterator[str]:
    yield "| metric | measured | target |"
    yield "| --- | --- | --- |"
    for row in metric_rows(document.metrics):
        yield f"| {' | '.join(row)} |"
    yield ""


def _failures(document: Certificate) -> Iterator[str]:
    failed = failing(document)
    files = {one.requirement: one.file for one in document.counterexamples}
    for line in failed[:_TOLD]:
        yield f"### Failed: {line.id} {line.name}"
        yield ""
        yield f"{escaped(line.seen or line.note)}"
        if line.required:
            yield f"<br>Required: {escaped(line.required)}"
        yield f"<br>{_measure(line)} {escaped(line.cost)}"
        if line.follows_from:
            yield f"<br>Follows from {', '.join(line.follows_from)}."
        if line.id in files:
            command = f"contextproof replay {files[line.id]} {document.builder.reached.option}"
            yield f"<br>{_code(command)}"
        yield ""
    if len(failed) > _TOLD:
        yield f"And {len(failed) - _TOLD} more, in the table below."
        yield ""


def _measure(line: RequirementLine) -> str:
    return f"Violated {line.violations:,} of {line.judgements:,} times." if line.judgements else ""


def _others(document: Certificate) -> Iterator[str]:
    if document.trouble is not None:
        first = escaped(document.trouble.first)
        yield f"Builder error in {document.trouble.sessions:,} sessions, first: {first}"
        yield ""
    for known in document.known_failures:
        link = f" ({escaped(known.link)})" if known.link else ""
        yield f"Known failure {known.id}: {escaped(known.reason)}{link}"
        yield ""
    idle = [line.id for line in document.requirements if line.verdict is Verdict.UNEXERCISED]
    if idle:
        yield f"Never put to the test, which is no pass: {', '.join(idle)}"
        yield ""


def _all(document: Certificate) -> Iterator[str]:
    yield f"<details><summary>All requirements: {score(document)}</summary>"
    yield ""
    yield "| requirement | | verdict | sessions | judgements |"
    yield "| --- | --- | --- | ---: | ---: |"
    for line in document.requirements:
        verdict = line.verdict.value if line.verdict in HOLDING else f"**{line.verdict.value}**"
        yield f"| {line.id} | {line.name} | {verdict} | {line.sessions:,} | {line.judgements:,} |"
    yield ""
    yield "</details>"
