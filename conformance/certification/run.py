"""Having a run played: workers are pytest's, and take the units that are not done yet."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from contextproof import scenarios, strategies
from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.certification.budget import Budget, Unit
from contextproof.conformance.certification.folder import Box, Folder, Handout
from contextproof.conformance.certification.generation import generate
from contextproof.conformance.certification.unit import play_unit
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.progress import Progress

#: Seconds between two looks at how far the workers are.
_GLANCE = 0.2
#: How often workers are started anew over units that were left undone.
_ATTEMPTS = 3


class HarnessError(Exception):
    """Something of ours went wrong; nothing is said about the builder."""


def sessions_of(unit: Unit) -> list[Scenario]:
    """The sessions of a unit. Raises GenerationFailed."""
    if unit.kind == "scripted":
        return [scenarios.load(unit.source)]
    if unit.kind == "explicit":
        return list(strategies.explicit(unit.source))
    return generate(strategies.by_key()[unit.source], unit.seed, unit.sessions)


def do_unit(box: Box, budget: Budget, unit: Unit, builder: Builder, twin: Builder | None) -> None:
    """Play a unit and leave its sessions in the box."""
    box.begin(unit)
    box.put(unit, play_unit(unit, sessions_of(unit), budget, builder, twin, scenarios.corpus))


def work(
    folder: Folder,
    workers: int,
    progress: Progress,
    max_failures: int | None = None,
) -> None:
    """Have all missing units done, or so many that enough requirements have failed.

    Raises:
        HarnessError: where our own code failed in a worker.
        BuilderError: where units stay undone although workers were started anew.
    """
    for _ in range(_ATTEMPTS):
        missing = folder.missing()
        if not missing or folder.has_failed(max_failures):
            return
        header = folder.header
        folder.box.hand_out(Handout(builder=header.builder, budget=header.budget, units=missing))
        _start_workers(folder, min(workers, len(missing)), progress, max_failures)
    if folder.has_failed(max_failures):
        return
    left = folder.missing()
    if left:
        raise BuilderError(f"the builder ends its process while unit {left[0].name} is played")


def _start_workers(folder: Folder, workers: int, progress: Progress, max_failures: int | None) -> None:
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header"),
        *("-c", os.devnull, "--rootdir", str(folder.path), "-n", str(workers if workers > 1 else 0)),
        *("--dist", "worksteal", "--pyargs", "contextproof.conformance.suite.units"),
        *("--contextproof-run", str(folder.path)),
    ]
    paths = [str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    total = len(folder.units())
    log = folder.path / "workers.log"
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            while process.poll() is None:
                folder.collect()
                done, longest = total - len(folder.missing()), folder.box.longest()
                progress(f"units of sessions; {longest}" if longest else "units of sessions", done, total)
                if folder.has_failed(max_failures):
                    break
                time.sleep(_GLANCE)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
            folder.collect()
    progress("units of sessions", total - len(folder.missing()), total)
    errors = folder.path / "harness-error.txt"
    if errors.exists():
        text = errors.read_text(encoding="utf-8")
        errors.unlink()
        raise HarnessError(text)
