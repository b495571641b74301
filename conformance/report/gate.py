"""The gate's result for a terminal, for a log, and as JSON. All three say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from contextproof.conformance.causes import in_order_of_cause
from contextproof.conformance.gate import GateOutcome, GateRun
from contextproof.conformance.metrics import Metrics, Spread
from contextproof.conformance.report.escape import visible
from contextproof.conformance.requirements.registry import REGISTRY
from contextproof.conformance.verdicts import Result, Verdict

#: Failures told in full; the rest are counted.
_CAUSES_SHOWN = 6


def print_gate(run: GateRun, console: Console) -> None:
    """Tables on a terminal; plain lines anywhere else."""
    if not console.is_terminal:
        for line in lines(run):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return
    gates = Table(title=f"{visible(run.manifest.name)} {visible(run.manifest.version)}: {run.scope}")
    for heading in ("gate", "checked", "times", "verdict"):
        gates.add_column(heading, justify="right" if heading == "times" else "left")
    for outcome in run.gates:
        colour = "green" if outcome.holds else "red"
        gates.add_row(
            outcome.gate.value,
            _checked(outcome),
            f"{outcome.judgements:,}",
            f"[{colour}]{_gate_verdict(outcome)}[/{colour}]",
        )
    console.print(gates)
    metrics = Table(title="metrics")
    for heading in ("metric", "measured", "target"):
        metrics.add_column(heading)
    for row in metric_rows(run.metrics):
        metrics.add_row(*row)
    console.print(metrics)
    for line in (*finding_lines(run.results), *closing_lines(run)):
        console.print(escape(line), highlight=False)


def lines(run: GateRun) -> Iterator[str]:
    """The whole result as plain lines."""
    named = f"{visible(run.manifest.name)} {visible(run.manifest.version)} ({visible(str(run.builder))})"
    yield f"builder {named}; {run.scope}"
    yield from gate_lines(run.gates)
    yield from metric_lines(run.metrics)
    yield from finding_lines(run.results)
    yield from closing_lines(run)


def gate_lines(gates: Iterable[GateOutcome]) -> Iterator[str]:
    """A line for each gate: its verdict, and what it rests on."""
    for outcome in gates:
        yield (
            f"{outcome.gate.value:<22} {_gate_verdict(outcome):<14} "
            f"{outcome.judgements:>7,} judgements of {_checked(outcome)}"
        )


def metric_lines(metrics: Metrics) -> Iterator[str]:
    """A line for each metric: what was measured, and what is aimed at."""
    for name, measured, target in metric_rows(metrics):
        yield f"{name:<34} {measured:<38} target {target}"


def _checked(outcome: GateOutcome) -> str:
    ids = [result.requirement.removeprefix("CTX-") for result in outcome.results]
    return f"{len(ids)} requirements ({ids[0]} to {ids[-1]})" if ids else "nothing"


def _gate_verdict(outcome: GateOutcome) -> str:
    return "holds" if outcome.holds else outcome.verdict.value.upper()


def metric_rows(metrics: Metrics) -> list[tuple[str, str, str]]:
    """Each metric's name, what was measured, and what is aimed at."""
    return [
        ("epochs per session", _decimal(metrics.epochs_per_session), "1.0"),
        (
            "cached share",
            _decimal(metrics.cached_share),
            f"append-only would be {_decimal(metrics.append_only_share)}",
        ),
        ("estimate / count, uncalibrated", _spread(metrics.uncalibrated), "min 1.0, p50 at most 1.10"),
        ("estimate / count, after drift", _spread(metrics.after_drift), "min 1.0"),
        ("recoverable share", _decimal(metrics.recoverable_share), "1.0"),
    ]


def _decimal(thousandths: int | None) -> str:
    return "nothing to measure" if thousandths is None else f"{thousandths / 1000:.3f}"


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return "nothing to measure"
    low, middle, high = (f"{value / 1000:.3f}" for value in (spread.minimum, spread.median, spread.p99))
    return f"min {low}, p50 {middle}, p99 {high} of {spread.number}"


def finding_lines(results: Sequence[Result]) -> Iterator[str]:
    """What failed, causes first; then what warned and what was never put to the test."""
    told = in_order_of_cause(results)
    roots = [pair for pair in told if not pair[1]]
    for result, _ in roots[:_CAUSES_SHOWN]:
        yield from failure_lines(result)
    if len(roots) > _CAUSES_SHOWN:
        more = ", ".join(result.requirement for result, _ in roots[_CAUSES_SHOWN:])
        yield f"and {len(roots) - _CAUSES_SHOWN} more: {more}"
    for result, causes in told[len(roots) :]:
        yield f"follows from {', '.join(causes)}: {result.requirement} {_words(result)}: {_seen(result)}"
    for result in results:
        if result.verdict is Verdict.WARNED:
            yield f"warning {result.requirement} {_words(result)}: {_seen(result)}"
    idle = [r.requirement for r in results if r.verdict is Verdict.UNEXERCISED]
    if idle:
        yield f"unexercised, which is no pass: {', '.join(idle)}"
    bare = {REGISTRY[r.requirement].decision: 1 for r in results if r.verdict is Verdict.NOT_CLAIMED}
    if bare:
        yield f"not claimed, so not judged: decisions {', '.join(bare)}"


def failure_lines(result: Result) -> Iterator[str]:
    """One failure: the requirement, the place, seen and required, and its cost."""
    requirement = REGISTRY[result.requirement]
    found = result.found
    where = f" ({visible(found.scenario.name)}, {visible(str(found.violation.at))})" if found else ""
    yield f"FAILED {result.requirement} {_words(result)}{where}: {_seen(result)}"
    if found is not None and found.violation.required:
        yield f"  required: {visible(found.violation.required)}"
    evidence = result.evidence
    if evidence.judgements:
        yield f"  violated {evidence.violations:,} of {evidence.judgements:,} times. {requirement.cost}"


def _words(result: Result) -> str:
    return REGISTRY[result.requirement].name.replace("_", " ")


def _seen(result: Result) -> str:
    return visible(result.found.violation.seen) if result.found is not None else result.note


def closing_lines(run: GateRun) -> Iterator[str]:
    """Where the sessions ended, and the answer in one line."""
    early = [f"{name} {ended}" for name, ended in run.sessions if ended == "escalated"]
    if early:
        yield f"ended early by the engine's own choice: {', '.join(early)}"
    for name, error in run.trouble[:1]:
        yield f"builder error in {len(run.trouble):,} sessions, first in {visible(name)}: {visible(error)}"
    yield closing_line(run)
    if not run.all_hold:
        yield "read a requirement's text: contextproof explain CTX-…"


def closing_line(run: GateRun) -> str:
    """The answer in one line."""
    held = sum(outcome.holds for outcome in run.gates)
    return (
        f"{held} of {len(run.gates)} gates hold over {len(run.sessions)} sessions and "
        f"{run.requests:,} requests; requirements: {counted(run.results)}"
    )


def counted(results: Iterable[Result]) -> str:
    """How many requirements have which verdict, worst first."""
    counts = Counter(result.verdict for result in results)
    return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
