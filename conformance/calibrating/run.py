"""Doing the jobs of a calibration: several at once, each kept as it is done, so that it can be resumed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from contextproof.conformance.calibrating.depth import Depth
from contextproof.conformance.calibrating.job import Job, Measured
from contextproof.conformance.calibrating.measuring import measure
from contextproof.conformance.certification.folder import replace
from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.progress import Progress

#: Seconds between two looks at whether the parent is still there.
_GLANCE = 1.0


class Settings(Frozen):
    """What a calibration's folder was made for. Resuming needs the same.

    ``suite`` is this suite's version; ``engines`` are the names measured, where not all of the depth's are.
    """

    suite: str
    depth: Depth
    seed: Count
    engines: tuple[str, ...] = ()


class OtherCalibration(Exception):
    """The folder holds something else than the calibration asked for."""


class Folder:
    """A calibration's folder: its settings, and a record for each job that is done."""

    def __init__(self, path: Path, settings: Settings) -> None:
        """Make the folder, or take up what was done in it.

        Raises:
            OtherCalibration: where it was made for other settings, or holds no calibration.
        """
        self.path = path
        about = path / "calibration.json"
        if not path.exists() or not any(path.iterdir()):
            (path / "jobs").mkdir(parents=True)
            replace(about, settings.canonical())
        elif not about.exists():
            raise OtherCalibration(f"{path} is not the folder of a calibration")
        elif Settings.from_json(about.read_bytes()) != settings:
            made = Settings.from_json(about.read_bytes())
            raise OtherCalibration(
                f"{path} was made by suite {made.suite} with depth {made.depth}, seed {made.seed} and "
                f"{', '.join(made.engines) or 'all engines'}; take it up so, or name another folder"
            )

    def done(self, job: Job) -> Measured | None:
        """What a job left behind, if it was done just as it is asked for now."""
        path = self._record(job)
        record = Measured.from_json(path.read_bytes()) if path.exists() else None
        return record if record is not None and record.job == job else None

    def keep(self, record: Measured) -> None:
        """Keep what a job left behind: whole, or not at all."""
        replace(self._record(record.job), record.canonical())

    def _record(self, job: Job) -> Path:
        return self.path / "jobs" / f"{job.title}.json"


def work(folder: Folder, jobs: Iterable[Job], workers: int, progress: Progress) -> list[Measured]:
    """Do the jobs that are not done yet; returns the records of all, in the jobs' order."""
    wanted = list(jobs)
    missing = [job for job in wanted if folder.done(job) is None]
    done = len(wanted) - len(missing)
    progress("engines measured", done, len(wanted))
    for measured in _measured(missing, workers):
        folder.keep(measured)
        done += 1
        progress("engines measured", done, len(wanted))
    return [record for job in wanted if (record := folder.done(job)) is not None]


def _measured(jobs: list[Job], workers: int) -> Iterator[Measured]:
    """Records as they are ready, from processes of their own."""
    pool = ProcessPoolExecutor(
        max_workers=workers,
        mp_context=get_context("spawn"),
        initializer=_end_with,
        initargs=(os.getpid(),),
    )
    try:
        for future in as_completed([pool.submit(measure, job) for job in jobs]):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _end_with(parent: int) -> None:
    """A worker ends once the process that it works for is gone, however that ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_GLANCE)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
