"""The page of all requirements, as Markdown, generated from the registry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import Requirement

TITLES = {
    "d01": "Regions",
    "d02": "Order",
    "d03": "Prefix stability",
    "d04": "Pinned tools",
    "d05": "Epochs",
    "d06": "Caps",
    "d07": "The prefix never yields",
    "d08": "Yield order",
    "d09": "Atomic pairs",
    "d10": "Purity",
    "d11": "Estimation",
    "d12": "Compaction",
    "d13": "Envelopes",
    "d14": "Working state",
    "d15": "Formation",
    "d16": "Body reuse",
}


def requirements_page(exercised: Mapping[str, int]) -> str:
    """The whole page.

    Args:
        exercised: for each requirement's id, how many sessions of a default certification of the
            reference put it to the test.
    """
    return "\n".join(_lines(exercised)) + "\n"


def _lines(exercised: Mapping[str, int]) -> Iterator[str]:
    requirements = all_requirements()
    yield "# Requirements"
    yield ""
    yield (
        f"{len(requirements)} requirements restate the decisions of ADR-0020. This page is generated from "
        "the registry by `dev/requirements-page`; `contextproof explain ID` tells the same of one."
    )
    yield ""
    yield (
        "*Sessions* says how many sessions of a default certification of the reference put a requirement "
        "to the test. Readings of what the record leaves open: [interpretations](interpretations.md)."
    )
    for decision, group in groupby(requirements, key=lambda requirement: requirement.decision):
        yield ""
        yield f"## Decision {int(decision.value[1:])}: {TITLES[decision.value]}"
        for requirement in group:
            yield from _entry(requirement, exercised.get(requirement.id, 0))


def _entry(requirement: Requirement, sessions: int) -> Iterator[str]:
    yield ""
    yield f"### {requirement.id} {requirement.name.replace('_', ' ')}"
    yield ""
    yield " ".join(requirement.text.split())
    yield ""
    gate = f", {requirement.gate.value}" if requirement.gate else ""
    yield f"- **{requirement.level.value}**{gate}; sessions: {sessions:,}"
    yield f"- Costs: {requirement.cost}"
    yield f"- Witnesses: {'; '.join(requirement.witnesses)}"
