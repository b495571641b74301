"""Sessions in which a requirement once accused the reference wrongly: it must not do so again."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextproof import scenarios
from contextproof.conformance.adapters.in_process import InProcess
from contextproof.conformance.play.driver import play
from contextproof.conformance.requirements import all_requirements
from contextproof.reference_impl.engine import factory

SESSIONS = sorted((Path(__file__).parent / "data" / "false_alarms").glob("*.json"))


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_the_reference_is_not_accused(path: Path) -> None:
    trace = play(scenarios.read(path), InProcess(factory()), corpus=scenarios.corpus)
    violated = {
        requirement.id: judgement.seen
        for requirement in all_requirements()
        if requirement.variation is None
        for judgement in requirement.judge(trace)
        if not judgement.held
    }
    assert violated == {}
