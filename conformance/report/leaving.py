"""What a finished run leaves behind besides its answer: a certificate, and what a CI service shows."""

from __future__ import annotations

import sys
from pathlib import Path

from contextproof.conformance.certification.outcome import Outcome
from contextproof.conformance.certification.reading import read
from contextproof.conformance.gate import GateRun
from contextproof.conformance.report.annotations import add_job_summary, annotation_lines, in_github
from contextproof.conformance.report.certification import lines as certification_lines
from contextproof.conformance.report.forms import CERTIFICATE, write_forms
from contextproof.conformance.report.gate import lines as gate_lines
from contextproof.conformance.report.markdown import preformatted, summary


def leave_behind(folder: Path, outcome: Outcome) -> None:
    """Write the certificate into the run's folder; in GitHub Actions annotate, and sum up."""
    document = write_forms(read(folder), {"json": folder / CERTIFICATE})
    if in_github():
        _annotate(outcome)
        add_job_summary(summary(document))


def tell_github(run: GateRun | Outcome) -> None:
    """In GitHub Actions, annotate what a gate found, and sum it up."""
    if in_github():
        _annotate(run)
        told = gate_lines(run) if isinstance(run, GateRun) else certification_lines(run, ())
        add_job_summary(preformatted(told))


def _annotate(run: GateRun | Outcome) -> None:
    """On standard error, which GitHub reads too, so that standard output stays one document."""
    if isinstance(run, GateRun):
        trouble = [error for _, error in run.trouble]
    else:
        trouble = [one.error for one in run.trouble]
    for line in annotation_lines(run.results, trouble):
        sys.stderr.write(f"{line}\n")
