"""The gate notices: each faulty engine turns it red, with the right requirement first."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextproof import scenarios
from contextproof.calibration.faulty import faulty_engines, spec
from contextproof.conformance.causes import in_order_of_cause
from contextproof.conformance.gate import GateRun, run_gate
from contextproof.conformance.report.gate import finding_lines, lines
from contextproof.conformance.requirements.registry import REGISTRY, SHOULD
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import HOLDING, Verdict

#: A short session in which each of these faults shows: it stands in for the fifty turns here.
SMALL = Path(__file__).parent / "data" / "small_session.json"
SHOWN = (
    "AlwaysBudgetExhausted",
    "EnvelopeNotEscaped",
    "HashOfTheOpeningInsteadOfThePrefix",
    "LiveToolsInsteadOfPinnedOnes",
    "MemoryRefreshedInThePrefix",
    "NonceDrawnPerBuild",
    "OldestTurnsDroppedUnderPressure",
    "OrphanRepairedInSilence",
    "OutputReserveForgotten",
    "PreviewOfAnElidedSpanInItsPointer",
    "RevokedToolDropped",
    "SameNonceForAll",
    "SummaryFedUntrustedText",
    "TimestampInThePrefix",
    "ToolsSortedInsideTheHashOnly",
    "VolatileClassesBeforeHistory",
)
REFERENCE = "contextproof.reference_impl.engine:factory"


def _run(builder: str) -> GateRun:
    session = scenarios.read(SMALL)
    return run_gate(Target(factory=builder), [session], scenarios.corpus, twins=frozenset())


def test_the_reference_fails_nothing_in_it() -> None:
    run = _run(REFERENCE)
    bad = [r.requirement for r in run.results if r.verdict not in (*HOLDING, Verdict.UNEXERCISED)]
    assert bad == []
    assert [r.requirement for r in run.results if r.verdict is Verdict.WARNED] == []


@pytest.mark.parametrize("name", SHOWN)
def test_a_faulty_engine_is_noticed_by_the_requirement_it_breaks(name: str) -> None:
    engine = faulty_engines()[name]
    run = _run(spec(engine))
    if REGISTRY[engine.breaks].level is SHOULD:
        warned = [r.requirement for r in run.results if r.verdict is Verdict.WARNED]
        assert warned == [engine.breaks]
        return
    told = in_order_of_cause(run.results)
    assert told, "nothing failed"
    first, causes = told[0]
    assert first.requirement == engine.breaks, list(finding_lines(run.results))
    assert causes == ()
    assert not run.all_hold
    assert first.found is not None
    assert first.found.violation.seen
    assert first.found.violation.required


def test_the_lines_say_what_was_checked_how_often_and_how_far_it_reaches() -> None:
    printed = list(lines(_run(REFERENCE)))
    assert "scripted part only" in printed[0]
    assert [line.split()[0] for line in printed[1:6]] == ["G1", "G2", "G3", "G4", "G5"]
    assert all("judgements of" in line for line in printed[1:6])


def test_the_same_run_gives_the_same_result() -> None:
    assert _run(REFERENCE) == _run(REFERENCE)
