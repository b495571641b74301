"""Replaying counterexample files, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from contextproof import scenarios
from contextproof.conformance.builder import Builder
from contextproof.conformance.counterexample import Counterexample, Replay, replay
from contextproof.conformance.report.escape import visible
from contextproof.conformance.shape import explain


class BadCounterexample(ValueError):
    """A file is no counterexample; the message names it and the place."""


def replay_files(paths: Iterable[Path], builder: Builder, say: Callable[[str], None]) -> bool:
    """Replay files and folders of files; returns whether there were some and all are fixed.

    Raises:
        BadCounterexample: before anything is played, where a file cannot be read.
    """
    found = [(path, _read(path)) for path in _files(paths)]
    if not found:
        raise BadCounterexample("there is no counterexample here; they are .json files")
    fixed = True
    engine = builder.manifest
    say(f"replaying against {visible(engine.name)} {visible(engine.version)}")
    for path, counterexample in found:
        replayed = replay(counterexample, builder, scenarios.corpus)
        fixed = fixed and replayed.outcome is Replay.FIXED
        say(f"{replayed.outcome.value:<18} {counterexample.requirement} {path}")
        for identifier, violation in replayed.violations[:1]:
            say(f"  {identifier}, {visible(str(violation.at))}: {visible(violation.seen)}")
            say(f"  required: {visible(violation.required)}")
    return fixed


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            inner = path / "counterexamples"  # a whole run's folder will do
            yield from sorted((inner if inner.is_dir() else path).glob("*.json"))
        else:
            yield path


def _read(path: Path) -> Counterexample:
    try:
        return Counterexample.from_json(path.read_bytes())
    except OSError as error:
        raise BadCounterexample(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        raise BadCounterexample(f"{path}: not a counterexample: {explain(error)}") from error
