"""The engines of known verdict: each says what is known of it, and together they leave no gap."""

from __future__ import annotations

import pytest

from contextproof.calibration.faulty import Faulty, faulty_engines, spec
from contextproof.calibration.null import NULL
from contextproof.calibration.odd import ODD
from contextproof.conformance.adapters.in_process import load
from contextproof.conformance.requirements import all_requirements


@pytest.mark.parametrize("engine", faulty_engines().values(), ids=lambda engine: engine.__name__)
def test_a_faulty_engine_says_what_it_does_wrong_and_where_that_was_seen(
    engine: type[Faulty],
) -> None:
    assert engine.breaks in {requirement.id for requirement in all_requirements()}
    text = engine.__doc__ or ""
    assert "#" in text or "record" in text or "trivial" in text, text


def test_every_requirement_has_a_faulty_engine_that_breaks_it() -> None:
    broken = {engine.breaks for engine in faulty_engines().values()}
    assert [r.id for r in all_requirements() if r.id not in broken] == []


@pytest.mark.parametrize("builder", [*map(spec, faulty_engines().values()), *ODD, *NULL.values()])
def test_every_engine_can_be_reached_and_claims_every_decision(builder: str) -> None:
    engine = load(builder)
    assert len(engine.manifest.claims) == 16
    engine.close()
