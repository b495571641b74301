"""The forms of a run's report, each worked out from the record alone and written where it is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from contextproof.conformance.certificate.making import certificate
from contextproof.conformance.certificate.model import Certificate
from contextproof.conformance.certification.reading import Run
from contextproof.conformance.report.badge import badge
from contextproof.conformance.report.html.page import page
from contextproof.conformance.report.junit import junit
from contextproof.conformance.report.markdown import summary

#: Name of the certificate in a run's folder.
CERTIFICATE = "certificate.json"

Form = Callable[[Run, Certificate], str]


def as_json(document: Certificate) -> str:
    """The certificate as it is published."""
    return document.model_dump_json(indent=1) + "\n"


#: By option of the command line.
FORMS: Mapping[str, Form] = {
    "html": page,
    "markdown": lambda _, document: summary(document),
    "json": lambda _, document: as_json(document),
    "junit": lambda _, document: junit(document),
    "badge": lambda _, document: badge(document),
}


def write_forms(run: Run, wanted: Mapping[str, Path]) -> Certificate:
    """Write the forms that are wanted, each into its file; returns the certificate.

    Raises:
        OSError: where a file cannot be written.
    """
    document = certificate(run)
    for form, path in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FORMS[form](run, document), encoding="utf-8")
    return document
