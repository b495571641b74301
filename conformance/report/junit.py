"""A run as JUnit XML: a suite for each decision, a case for each requirement."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as ET

from contextproof.conformance.certificate.model import Certificate, RequirementLine
from contextproof.conformance.report.escape import visible
from contextproof.conformance.report.words import named
from contextproof.conformance.verdicts import HOLDING, Verdict

#: Verdicts that a reader of JUnit knows as an error, and those that it knows as skipped.
_ERRORS = frozenset({Verdict.HARNESS_ERROR, Verdict.BUILDER_ERROR})
_SKIPPED = frozenset({Verdict.NOT_CLAIMED})


def junit(document: Certificate) -> str:
    """The document. What was never put to the test counts as a failure, as it bars a level."""
    name = f"contextproof {named(document)}"
    root = ET.Element("testsuites", name=name)
    for decision, lines in groupby(document.requirements, key=lambda line: line.decision):
        cases = [_case(line) for line in lines]
        suite = ET.SubElement(root, "testsuite", {"name": f"decision {decision.value}", **_counts(cases)})
        suite.extend(cases)
    if document.trouble is not None:
        suite = ET.SubElement(root, "testsuite", name="builder", tests="1", errors="1", failures="0")
        case = ET.SubElement(suite, "testcase", classname="contextproof", name="every session can be judged")
        ET.SubElement(case, "error", message=visible(document.trouble.first))
    ET.indent(root, " ")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counts(cases: list[ET.Element]) -> dict[str, str]:
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counted = {name: sum(case.find(tag) is not None for case in cases) for name, tag in kinds.items()}
    return {"tests": str(len(cases)), **{name: str(number) for name, number in counted.items()}}


def _case(line: RequirementLine) -> ET.Element:
    case = ET.Element(
        "testcase", classname=f"contextproof.{line.decision.value}", name=f"{line.id} {line.name}"
    )
    told = visible(line.seen or line.note or line.verdict.value)
    if line.verdict in _ERRORS:
        ET.SubElement(case, "error", message=told)
    elif line.verdict in _SKIPPED:
        ET.SubElement(case, "skipped", message=told)
    elif line.verdict not in HOLDING:
        failure = ET.SubElement(case, "failure", type=line.verdict.value, message=told)
        failure.text = visible(f"required: {line.required} {line.cost}" if line.required else line.cost)
    return case
