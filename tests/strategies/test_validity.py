"""What strategies generate is valid by construction, whatever builder it is played against."""

from __future__ import annotations

import json
import time

import pytest

import contextproof.scenarios as scripted
from contextproof.conformance.adapters.in_process import InProcess
from contextproof.conformance.play import scenario as s
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.recipes import Resolver
from contextproof.conformance.requirements import all_requirements
from contextproof.strategies import by_key, explicit, tables
from fakes.tiny import minimal_builder
from generated import KEYS, ids, links, sessions, step_ids, steps


def everything(key: str) -> tuple[s.Scenario, ...]:
    return (*sessions(key), *explicit(key))


def test_there_is_a_strategy_for_every_key_that_a_requirement_names() -> None:
    named = {requirement.scenarios for requirement in all_requirements()}
    assert named - {"scripted"} == set(by_key())


@pytest.mark.parametrize("key", KEYS)
def test_a_scenario_is_the_same_when_read_back(key: str) -> None:
    for scenario in everything(key):
        assert s.Scenario.from_json(scenario.canonical()) == scenario


@pytest.mark.parametrize("key", KEYS)
def test_no_id_is_given_twice(key: str) -> None:
    for scenario in everything(key):
        given = list(ids(scenario))
        assert len(set(given)) == len(given), scenario.name


@pytest.mark.parametrize("key", KEYS)
def test_what_something_derives_from_is_there_before_it(key: str) -> None:
    for scenario in everything(key):
        opening = scenario.opening
        known = {item.id for item in (*opening.policy, *opening.instructions)}
        for item in opening.memory:
            assert set(item.derived_from) <= known
            known.add(item.id)
        for step in scenario.steps:
            # Within a reply, results may rest on its calls, and calls on its text.
            known.update(step_ids(step) if isinstance(step, s.ModelReplies) else ())
            assert set(links(step)) <= known, (scenario.name, step)
            known.update(step_ids(step))


@pytest.mark.parametrize("key", KEYS)
def test_corrections_are_of_memories_that_exist(key: str) -> None:
    for scenario in everything(key):
        known = {item.id for item in scenario.opening.memory}
        for step in scenario.steps:
            if isinstance(step, s.WriteMemory):
                known.add(step.id)
            if isinstance(step, s.CorrectMemory):
                assert step.memory_id in known


@pytest.mark.parametrize("key", KEYS)
def test_what_may_not_be_blank_is_not_even_without_a_builders_delimiters(key: str) -> None:
    bare = minimal_builder()().manifest.model_copy(update={"delimiters": ()})
    resolver = Resolver(bare, scripted.corpus)
    for scenario in everything(key):
        assert all(resolver.text(item.text).strip() for item in scenario.opening.policy)
        names = [resolver.text(tool.name) for tool in scenario.opening.tools]
        assert all(names)
        assert len(set(names)) == len(names)
        for reply in steps(scenario, s.ModelReplies):
            assert isinstance(reply, s.ModelReplies)
            assert all(resolver.text(call.name) for call in reply.calls)


@pytest.mark.parametrize("key", KEYS)
def test_nothing_is_sent_while_a_call_is_open_that_the_scenario_knows_of(key: str) -> None:
    for scenario in everything(key):
        is_open = False
        for step in scenario.steps:
            if isinstance(step, s.ModelReplies):
                is_open = any(_is_left_open(call) for call in step.calls)
            elif isinstance(step, s.UserSays | s.Resume):
                is_open = False
            assert not (is_open and isinstance(step, s.SendRequest)), scenario.name


def _is_left_open(call: s.Call) -> bool:
    return call.outcome is None and call.name != "context.update_working_state"


@pytest.mark.parametrize("key", KEYS)
def test_the_driver_plays_it_against_a_builder_that_can_only_build(key: str) -> None:
    builder = InProcess(minimal_builder()())
    for scenario in (*sessions(key)[::8], *explicit(key)):
        play(scenario, builder, corpus=scripted.corpus, beside=frozenset())


@pytest.mark.parametrize("key", KEYS)
def test_scenarios_are_small_documents(key: str) -> None:
    sizes = sorted(len(scenario.canonical()) for scenario in sessions(key))
    assert sizes[len(sizes) // 2] < 8_000, "bytes in the middle: long texts are to be recipes"
    assert sizes[-1] < 60_000


def test_schemas_of_tools_are_json_objects() -> None:
    for key in KEYS:
        for scenario in sessions(key):
            for tool in scenario.opening.tools:
                assert isinstance(json.loads(tool.parameters_json), dict)


def test_generating_is_fast() -> None:
    for key in KEYS:
        sessions(key)  # not what is measured: making strategies and counting texts for the first time
    sessions.cache_clear()
    before = time.process_time()
    drawn = sum(len(sessions(key)) for key in KEYS)
    assert (time.process_time() - before) / drawn < 0.02, "seconds of the processor for a session"


@pytest.mark.parametrize("key", KEYS)
def test_the_same_seed_draws_the_same_sessions(key: str) -> None:
    before = sessions(key)
    sessions.cache_clear()
    assert sessions(key) == before


def test_what_is_drawn_does_not_depend_on_what_else_is_loaded() -> None:
    # Hypothesis draws whole numbers of a hundred and more also from the constants of loaded modules,
    # which are others in every process; tables are chosen from by number.
    sizes = {name: len(table) for name, table in vars(tables).items() if isinstance(table, tuple)}
    assert max(sizes.values()) < 100, sizes
