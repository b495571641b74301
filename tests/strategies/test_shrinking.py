"""What is found shrinks to a session that a person can read."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import Phase, find, settings

from contextproof.conformance.play import scenario as s
from contextproof.conformance.play.scenario import Scenario
from contextproof.strategies import by_key
from generated import KEYS, calls, steps


def smallest(key: str, condition: Callable[[Scenario], bool]) -> Scenario:
    return find(
        by_key()[key],
        condition,
        random=Random(7),
        settings=settings(
            max_examples=1_000, database=None, deadline=None, phases=[Phase.generate, Phase.shrink]
        ),
    )


@pytest.mark.parametrize("key", KEYS)
def test_anything_shrinks_to_one_request_and_an_opening_of_next_to_nothing(key: str) -> None:
    found = smallest(key, lambda scenario: True)
    assert len(found.steps) <= 3
    assert found.opening.policy[0].text == "Do no harm."
    assert not found.opening.instructions


@pytest.mark.parametrize(
    ("key", "condition", "most"),
    [
        ("sessions", lambda it: len(calls(it)) >= 2, 8),
        ("sessions", lambda it: bool(steps(it, s.Resume)), 2),
        ("revocations", lambda it: bool(steps(it, s.ChangeRouting)), 2),
        ("compactions", lambda it: len(steps(it, s.ForceCompaction)) >= 2, 12),
        ("pairs", lambda it: bool(steps(it, s.ProbeBuild)), 2),
        ("working_state", lambda it: any(call.update for call in calls(it)), 4),
        ("hostile", lambda it: any(_failed(call) for call in calls(it)), 3),
        ("pressure", lambda it: bool(steps(it, s.Recall)), 3),
    ],
)
def test_a_condition_shrinks_to_few_steps(key: str, condition: Callable[[Scenario], bool], most: int) -> None:
    # Hypothesis makes what is drawn short, and a word of many steps may be drawn at once.
    assert len(smallest(key, condition).steps) <= most


def test_texts_shrink_to_a_letter() -> None:
    found = smallest("pairs", lambda it: any(_failed(call) for call in calls(it)))
    call = next(call for call in calls(found) if _failed(call))
    assert call.outcome is not None
    assert call.outcome.text == "x"
    assert call.outcome.source == "tool"
    assert call.arguments == "{}"
    assert call.derived_from == ()


def _failed(call: s.Call) -> bool:
    return call.outcome is not None and call.outcome.status == "error"
