"""How good the instrument is, from what calibration measured and the distribution carries along."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.resources import files

from pydantic import ValidationError

from contextproof.conformance.calibrating.matrix import Matrix
from contextproof.conformance.certificate.model import CalibrationFigures, Floor

#: What `contextproof calibrate --json` printed for this version.
_FILE = "measured.json"


@cache
def measured() -> Matrix | None:
    """The calibration of this very version; None where there is none, or only part of one."""
    try:
        found = Matrix.from_json(files("contextproof.calibration").joinpath(_FILE).read_bytes())
    except (OSError, ValidationError):
        return None
    return found if found.whole and found.suite == version("contextproof") else None


def calibration(found: Matrix | None) -> CalibrationFigures | None:
    """The four figures that a calibration comes to."""
    if found is None:
        return None
    return CalibrationFigures(
        faulty=len(found.faulty),
        detected=sum(row.is_right for row in found.faulty),
        conforming=len(found.odd),
        false_alarms=sum(len(row.alarms) for row in found.odd),
        sessions_to_detection=found.median_sessions,
        steps_of_a_counterexample=found.median_steps,
    )


def floor(found: Matrix | None) -> Floor | None:
    """The null engine that passes the most."""
    if found is None or not found.null:
        return None
    best = max(found.null, key=lambda row: len(row.passes))
    return Floor(engine=best.name, passed=len(best.passes), requirements=found.requirements)
