"""Shrinking keeps the fault and loses the rest."""

from __future__ import annotations

from contextproof.conformance.play.scenario import Scenario, SetClock
from contextproof.conformance.shrink import candidates, shrink
from fakes.tiny import REQUEST, USER, call, reply, scenario

LONG = scenario(
    *(USER, REQUEST, reply("a1", call("c1"), call("c2")), REQUEST, reply("a2", text="well " * 50)),
    *({"step": "clock", "clock": "2026-03-28T00:00:00+01:00"}, {**USER, "id": "u2"}, REQUEST),
)


def test_steps_that_do_not_matter_go() -> None:
    def has_clock(candidate: Scenario) -> bool:
        return any(isinstance(step, SetClock) for step in candidate.steps)

    smallest = shrink(LONG, has_clock)
    assert [step.step for step in smallest.steps] == ["clock"]
    assert smallest.opening.tools == ()


def test_texts_and_numbers_get_smaller_but_not_too_small() -> None:
    def still_long(candidate: Scenario) -> bool:
        texts = [getattr(step, "text", "") for step in candidate.steps]
        return any(isinstance(text, str) and len(text) >= 10 for text in texts)

    smallest = shrink(LONG, still_long)
    assert len(smallest.steps) == 1
    assert 10 <= len(getattr(smallest.steps[0], "text", "")) < 20


def test_every_candidate_is_a_scenario_and_none_is_the_original() -> None:
    found = list(candidates(LONG))
    assert len(found) > 20
    assert LONG not in found
    assert all(candidate.name == LONG.name for candidate in found)


def test_no_more_candidates_are_played_than_allowed() -> None:
    played: list[Scenario] = []

    def shows(candidate: Scenario) -> bool:
        played.append(candidate)
        return False

    assert shrink(LONG, shows, plays=25) == LONG
    assert len(played) == 25
    assert len(set(played)) == 25
