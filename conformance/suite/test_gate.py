"""One test for each gate, and one for each requirement: of the gates alone, or of a whole certification."""

from __future__ import annotations

import warnings

import pytest

from contextproof.conformance.certification.outcome import Outcome
from contextproof.conformance.gate import GateRun
from contextproof.conformance.report.gate import failure_lines
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import Gate, Requirement
from contextproof.conformance.verdicts import HOLDING, Verdict

# All of it rests on one run; with ``--dist loadgroup`` one worker makes that run.
pytestmark = pytest.mark.xdist_group("contextproof")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each requirement that the run is to judge."""
    if "requirement" not in metafunc.fixturenames:
        return
    whole = metafunc.config.getoption("--contextproof-profile") != "scripted"
    chosen = [r for r in all_requirements() if whole or r.gate is not None]
    metafunc.parametrize("requirement", chosen, ids=lambda r: f"{r.id}-{r.name}")


def _is_smoke(run: GateRun | Outcome) -> bool:
    """Whether it is short by design, and no pass for what it did not see."""
    return isinstance(run, Outcome) and run.budget.profile == "smoke"


def test_requirement(requirement: Requirement, contextproof_run: GateRun | Outcome) -> None:
    """The requirement held wherever it was put to the test."""
    result = next(r for r in contextproof_run.results if r.requirement == requirement.id)
    if result.verdict is Verdict.FAILED:
        pytest.fail("\n".join(failure_lines(result)), pytrace=False)
    if result.verdict is Verdict.UNEXERCISED and _is_smoke(contextproof_run):
        pytest.skip(f"{result.requirement} is not put to the test by a smoke run")
    if result.verdict is Verdict.NOT_CLAIMED:
        pytest.skip(result.note)
    if result.verdict not in HOLDING:
        pytest.fail(f"{result.requirement} is {result.verdict.value}: {result.note}", pytrace=False)
    if result.verdict is Verdict.WARNED:
        warnings.warn("\n".join(failure_lines(result)), stacklevel=1)


@pytest.mark.parametrize("gate", list(Gate), ids=lambda g: g.value.replace(" ", "-"))
def test_gate(gate: Gate, contextproof_run: GateRun | Outcome) -> None:
    """The gate holds."""
    outcome = next(o for o in contextproof_run.gates if o.gate is gate)
    barring = [r.requirement for r in outcome.results if r.verdict not in HOLDING]
    if outcome.verdict is Verdict.UNEXERCISED and _is_smoke(contextproof_run):
        pytest.skip(f"{gate.value} is not put to the test by a smoke run: {', '.join(barring)}")
    if not outcome.holds:
        reason = ", ".join(barring) or "nothing in it was put to the test"
        pytest.fail(f"{gate.value} does not hold: {reason}", pytrace=False)
