"""Joining the records of one run's parts: shards, or what several machines played of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from contextproof.conformance.certification import record as r
from contextproof.conformance.certification.folder import append, finish, put_counterexample
from contextproof.conformance.certification.outcome import Outcome, Shown, outcome_of
from contextproof.conformance.certification.reading import Run, read


class CannotMerge(ValueError):
    """Records that are not parts of one run; the message says why."""


#: What must be the same in all parts, and how it is told where it is not.
_SAME: tuple[tuple[str, Callable[[r.Header], object]], ...] = (
    ("suite version", lambda header: header.suite),
    ("requirement set", lambda header: header.requirements.sha256),
    ("tokenizers", lambda header: header.tokenizers),
    ("builder", lambda header: str(header.builder)),
    ("builder's name and version", lambda header: (header.manifest.name, header.manifest.version)),
    ("manifest", lambda header: (header.manifest, header.ports)),
    ("profile", lambda header: header.budget.profile),
    ("seed", lambda header: header.budget.seed),
    ("nonce", lambda header: header.budget.nonce),
    ("budget", lambda header: header.budget),
    ("units", lambda header: header.units),
)


def merge(paths: Sequence[Path], out: Path) -> Outcome:
    """Write the record of the whole into a new folder; returns what it comes to.

    Raises:
        BadRecord: where one of them cannot be read, or was altered.
        CannotMerge: where they are not finished parts of one run, each with sessions of its own.
        FileExistsError: where the folder is there already.
    """
    runs = [(path, read(path)) for path in paths]
    for path, run in runs:
        if run.footer is None:
            raise CannotMerge(f"{path}: {run.state}")
        outcome_of(run)
    for (one, first), (other, second) in pairwise(runs):
        _check_same(one, first.header, other, second.header)
    _check_apart(runs)
    whole = joined([run for _, run in runs])
    return _write(whole, out)


def joined(runs: Sequence[Run]) -> Run:
    """One run of parts that fit together."""
    headers = [run.header for run in runs]
    environments = dict.fromkeys(one for header in headers for one in header.environments)
    shard = headers[0].shard if len(runs) == 1 else None
    header = headers[0].model_copy(update={"environments": tuple(environments), "shard": shard})
    sessions = sorted((one for run in runs for one in run.sessions), key=lambda one: (one.unit, one.index))
    smallest: dict[str, r.CounterexampleLine] = {}
    for one in (one for run in runs for one in run.counterexamples):
        known = smallest.get(one.counterexample.requirement)
        if known is None or _steps(one) < _steps(known):
            smallest[one.counterexample.requirement] = one
    rounds = max((run.rounds for run in runs), key=len)
    return Run(
        header,
        rounds,
        tuple(sessions),
        tuple(smallest[name] for name in sorted(smallest)),
        tuple({one.id: one for run in runs for one in run.known}.values()),
    )


def _steps(line: r.CounterexampleLine) -> int:
    return len(line.counterexample.scenario.steps)


def _check_same(one: Path, first: r.Header, other: Path, second: r.Header) -> None:
    for what, of in _SAME:
        here, there = of(first), of(second)
        if here != there:
            told = f": {here} and {there}" if isinstance(here, str | int | tuple) and _is_short(here) else ""
            raise CannotMerge(f"{one} and {other} differ in their {what}{told}")


def _is_short(value: object) -> bool:
    return len(str(value)) < 100  # noqa: PLR2004 -- a line for people


def _check_apart(runs: Sequence[tuple[Path, Run]]) -> None:
    seen: dict[str, Path] = {}
    for path, run in runs:
        for unit in sorted(run.done):
            if unit in seen:
                raise CannotMerge(f"{seen[unit]} and {path} both hold the sessions of unit {unit}")
            seen[unit] = path


def _write(whole: Run, out: Path) -> Outcome:
    out.mkdir(parents=True)
    file = out / r.FILE
    append(file, b"".join(map(r.written, (whole.header, *whole.rounds, *whole.sessions))))
    if whole.known:
        append(file, r.written(r.KnownLine(failures=whole.known)))
    for line in whole.counterexamples:
        put_counterexample(out, Shown(line.counterexample, line.timeline))
    found = outcome_of(whole)
    finish(file, whole, found)
    return found
