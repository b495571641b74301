"""Explicit scenarios are told apart, say what they are for, and are what they say."""

from __future__ import annotations

from collections import Counter

import pytest

from contextproof.conformance.play import scenario as s
from contextproof.conformance.play.scenario import Scenario
from contextproof.strategies import explicit
from generated import KEYS, SUMMARIZERS, calls, steps

ALL = [(key, scenario) for key in KEYS for scenario in explicit(key)]
NAMED = {scenario.name: scenario for _, scenario in ALL}


def test_every_key_has_some() -> None:
    assert all(explicit(key) for key in KEYS)


def test_a_key_that_nothing_has_has_none() -> None:
    assert explicit("nothing") == ()


def test_no_two_share_a_name() -> None:
    assert not [name for name, number in Counter(scenario.name for _, scenario in ALL).items() if number > 1]


@pytest.mark.parametrize("scenario", NAMED.values(), ids=list(NAMED))
def test_each_says_in_a_sentence_what_it_is(scenario: Scenario) -> None:
    assert scenario.title[0].isupper()
    assert scenario.title.endswith(".")


def test_they_are_the_same_each_time_they_are_asked_for() -> None:
    before = {key: explicit(key) for key in KEYS}
    explicit.cache_clear()
    assert {key: explicit(key) for key in KEYS} == before


def test_every_torn_log_is_probed() -> None:
    assert len(steps(NAMED["every_torn_log"], s.ProbeBuild)) >= 14


def test_emoji_are_cut_at_every_byte_of_a_family() -> None:
    results = [call.outcome for call in calls(NAMED["emoji_cut_at_every_byte"])]
    firsts = [outcome.text[0] for outcome in results if outcome and not isinstance(outcome.text, str)]
    shifts = {first.times for first in firsts if isinstance(first, s.Repeat)}
    assert shifts >= set(range(25))


def test_every_summarizer_has_its_turn() -> None:
    behaviours = steps(NAMED["every_summarizer_in_turn"], s.SetSummarizer)
    modes = {step.mode for step in behaviours if isinstance(step, s.SetSummarizer)}
    assert modes == set(SUMMARIZERS)
