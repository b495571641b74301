"""One test for each gate, and one for each requirement that a gate rests on."""

from __future__ import annotations

import warnings

import pytest

from contextproof.conformance.gate import GateRun
from contextproof.conformance.report.gate import failure_lines
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import Gate, Requirement
from contextproof.conformance.verdicts import HOLDING, Verdict

# All of it rests on one run; with ``--dist loadgroup`` one worker makes that run.
pytestmark = pytest.mark.xdist_group("contextproof")

_GATED = [requirement for requirement in all_requirements() if requirement.gate is not None]


@pytest.mark.parametrize("requirement", _GATED, ids=lambda r: f"{r.id}-{r.name}")
def test_requirement(requirement: Requirement, contextproof_gate: GateRun) -> None:
    """The requirement held wherever the scripted sessions put it to the test."""
    result = next(r for r in contextproof_gate.results if r.requirement == requirement.id)
    if result.verdict is Verdict.FAILED:
        pytest.fail("\n".join(failure_lines(result)), pytrace=False)
    if result.verdict not in HOLDING:
        pytest.fail(f"{result.requirement} is {result.verdict.value}: {result.note}", pytrace=False)
    if result.verdict is Verdict.WARNED:
        warnings.warn("\n".join(failure_lines(result)), stacklevel=1)


@pytest.mark.parametrize("gate", list(Gate), ids=lambda g: g.value.replace(" ", "-"))
def test_gate(gate: Gate, contextproof_gate: GateRun) -> None:
    """The gate holds."""
    outcome = next(o for o in contextproof_gate.gates if o.gate is gate)
    barring = [r.requirement for r in outcome.results if r.verdict not in HOLDING]
    if not outcome.holds:
        reason = ", ".join(barring) or "nothing in it was put to the test"
        pytest.fail(f"{gate.value} does not hold: {reason}", pytrace=False)
