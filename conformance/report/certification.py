"""A certification's outcome for a terminal or a log, and as JSON."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from contextproof.conformance.certification.outcome import Level, Outcome
from contextproof.conformance.certification.reading import Run, read
from contextproof.conformance.counterexample import Counterexample
from contextproof.conformance.report.escape import visible
from contextproof.conformance.report.gate import counted, finding_lines, gate_lines, metric_lines
from contextproof.conformance.requirements import all_requirements

_LEVELS = {
    Level.FULL: "full: every MUST is claimed and holds",
    Level.PARTIAL: "partial",
    Level.NONE: "none",
}


def print_certification(
    outcome: Outcome,
    written: Sequence[tuple[Counterexample, str]],
    console: Console,
    folder: Path | None = None,
) -> None:
    """Print everything, escaped, without wrapping; and what else there is to a run's folder."""
    more = () if folder is None else _folder_lines(folder)
    for line in (*lines(outcome, written), *more):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _folder_lines(folder: Path) -> Iterator[str]:
    yield slowest_line(read(folder))
    yield f"a page with pictures: contextproof report {shlex.quote(str(folder))} --html report.html"


def slowest_line(run: Run) -> str:
    """Whose sessions took the most time, and which requirements they are for."""
    spent: Counter[str] = Counter()
    for session in run.sessions:
        spent[_source(session.unit)] += session.milliseconds
    if not spent:
        return "nothing was played"
    source, most = spent.most_common(1)[0]
    ids = [requirement.id for requirement in all_requirements() if requirement.scenarios == source]
    named = f", for {ids[0]} and {len(ids) - 1} more" if len(ids) > 1 else f", for {ids[0]}" if ids else ""
    return f"slowest strategy: {source}{named}: {most / 1000:.0f} s of {spent.total() / 1000:.0f} s of play"


def _source(unit: str) -> str:
    """The strategy that a unit's name begins or ends with; what is scripted goes together."""
    kind, _, rest = unit.partition("-")
    return rest if kind == "explicit" else kind


def lines(outcome: Outcome, written: Sequence[tuple[Counterexample, str]]) -> Iterator[str]:
    """The outcome as lines; ``written`` are counterexamples with the files they stand in."""
    budget = outcome.budget
    yield (
        f"builder {visible(outcome.manifest.name)} {visible(outcome.manifest.version)} "
        f"({visible(str(outcome.builder))}); profile {budget.profile}, seed {budget.seed}"
        + (f", nonce {visible(budget.nonce)}" if budget.nonce else "")
    )
    yield from gate_lines(outcome.gates)
    yield from metric_lines(outcome.metrics)
    yield from finding_lines(outcome.results)
    for trouble in outcome.trouble[:1]:
        yield f"builder error in {len(outcome.trouble):,} sessions, first: {visible(trouble.error)}"
    for found, path in written:
        yield from _counterexample_lines(found, path, outcome.builder.option)
    yield from _closing(outcome)


def _counterexample_lines(found: Counterexample, path: str, option: str) -> Iterator[str]:
    steps = len(found.scenario.steps)
    yield f"counterexample for {found.requirement}, {steps} steps: {path}"
    yield f"  contextproof replay {shlex.quote(path)} {option}"


def _closing(outcome: Outcome) -> Iterator[str]:
    told = counted(outcome.results)
    yield f"{outcome.sessions:,} sessions, {outcome.requests:,} requests; requirements: {told}"
    yield _level(outcome)


def closing_line(outcome: Outcome) -> str:
    """The whole answer in one line."""
    named = f"{visible(outcome.manifest.name)} {visible(outcome.manifest.version)}"
    troubled = f"; builder error in {len(outcome.trouble):,} sessions" if outcome.trouble else ""
    return f"{named}: {counted(outcome.results)}{troubled}; {_level(outcome)}"


def _level(outcome: Outcome) -> str:
    if outcome.level is None:
        return "this run certifies nothing: it was narrowed, or is not all that a certification plays"
    names = ", ".join(outcome.decisions)
    listed = f" ({names})" if outcome.level is Level.PARTIAL else ""
    return f"level {_LEVELS[outcome.level]}{listed}"
