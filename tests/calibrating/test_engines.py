"""The engines of known verdict: each says what is known of it, and together they leave no gap."""

from __future__ import annotations

import pytest

from contextproof.calibration.faulty import faulty_engines
from contextproof.calibration.null import NULL
from contextproof.calibration.odd import ODD
from contextproof.conformance.adapters.in_process import load
from contextproof.conformance.requirements import all_requirements


def test_a_faulty_engine_says_what_it_does_wrong_and_where_that_was_seen() -> None:
    known = {requirement.id for requirement in all_requirements()}
    for name, engine in faulty_engines().items():
        assert engine.breaks in known, name
        text = engine.__doc__ or ""
        assert "#" in text or "record" in text or "trivial" in text, f"{name}: {text}"


def test_every_requirement_has_a_faulty_engine_that_breaks_it() -> None:
    broken = {engine.breaks for engine in faulty_engines().values()}
    assert [r.id for r in all_requirements() if r.id not in broken] == []


@pytest.mark.parametrize("builder", [*ODD, *NULL.values()])
def test_every_engine_can_be_reached_and_claims_every_decision(builder: str) -> None:
    engine = load(builder)
    assert len(engine.manifest.claims) == 16
    engine.close()
