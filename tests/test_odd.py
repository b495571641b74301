"""Engines that conform and look unlike the reference fail nothing: the requirements accuse nobody falsely."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import contextproof.reference_impl.framing
from contextproof import scenarios
from contextproof.calibration.odd import ODD
from contextproof.calibration.recompose import recomposed
from contextproof.conformance.gate import run_gate
from contextproof.conformance.report.gate import finding_lines
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import HOLDING, Verdict
from contextproof.reference_impl.framing import FRAMING

SMALL = Path(__file__).parent / "data" / "small_session.json"


@pytest.mark.parametrize("builder", ODD)
def test_an_odd_engine_fails_nothing(builder: str) -> None:
    run = run_gate(Target(factory=builder), [scenarios.read(SMALL)], scenarios.corpus, twins=frozenset())
    bad = [r.requirement for r in run.results if r.verdict not in (*HOLDING, Verdict.UNEXERCISED)]
    assert bad == [], list(finding_lines(run.results))


def test_an_odd_engine_leaves_the_reference_as_it_was() -> None:
    known = {name: module for name, module in sys.modules.items() if "reference_impl" in name}
    recomposed((("framing", lambda framing: setattr(framing, "FRAMING", "other words")),))
    assert {name: module for name, module in sys.modules.items() if "reference_impl" in name} == known
    assert contextproof.reference_impl.framing.FRAMING is FRAMING
