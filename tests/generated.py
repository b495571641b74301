"""Sessions of each strategy, drawn once for all tests, and what can be asked of one as data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import get_args

from hypothesis import HealthCheck, Phase, given, seed, settings

from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.play import scenario as s
from contextproof.strategies import by_key

KEYS = tuple(by_key())
#: As many as are fresh in one run: beyond, Hypothesis varies what it has.
BATCH = 10
BATCHES = 20


@cache
def sessions(key: str) -> tuple[s.Scenario, ...]:
    """Two hundred sessions of a strategy, always the same."""
    found: list[s.Scenario] = []
    for number in range(BATCHES):
        _collect(key, number, found)
    return tuple(found)


def _collect(key: str, number: int, found: list[s.Scenario]) -> None:
    # Health checks judge the machine's speed; that generating is fast is a test of its own.
    @seed(number)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(by_key()[key])
    def collect(scenario: s.Scenario) -> None:
        found.append(scenario)

    collect()


def ids(scenario: s.Scenario) -> Iterator[str]:
    """Every id that a scenario gives to an item, in order. Entries of working state may recur."""
    opening = scenario.opening
    yield from (item.id for item in (*opening.policy, *opening.instructions))
    yield from (tool.id for tool in opening.tools)
    yield from (item.id for item in opening.memory)
    for step in scenario.steps:
        yield from step_ids(step)


def step_ids(step: s.Step) -> Iterator[str]:
    """The ids that a step gives."""
    match step:
        case s.UserSays() | s.WriteMemory() | s.CorrectMemory() | s.WriteState():
            yield step.id
        case s.ModelReplies():
            yield step.id
            for call in step.calls:
                yield call.id
                if call.outcome is not None:
                    yield call.outcome.id
        case s.Recall() | s.SetEnvironment() | s.ProbeBuild():
            yield from (item.id for item in step.items)


def links(step: s.Step) -> Iterator[str]:
    """The ids that a step's items say they derive from."""
    match step:
        case s.UserSays() | s.WriteMemory() | s.CorrectMemory():
            yield from step.derived_from
        case s.Recall():
            yield from (name for item in step.items for name in item.derived_from)
        case s.WriteState():
            yield from change_links(step.change)
        case s.ModelReplies():
            yield from step.derived_from
            for call in step.calls:
                yield from call.derived_from
                yield from change_links(call.update) if call.update else ()
                yield from call.outcome.derived_from if call.outcome else ()


def change_links(change: s.StateChange) -> Iterator[str]:
    """The same of a change of working state."""
    fields = (change.constraints, change.tasks, change.established_facts, change.open_questions)
    yield from (name for field in fields for entry in field for name in entry.derived_from)


def steps(scenario: s.Scenario, *kinds: type[Frozen]) -> list[s.Step]:
    """A scenario's steps of some kinds."""
    return [step for step in scenario.steps if isinstance(step, kinds)]


SUMMARIZERS = tuple(get_args(s.SetSummarizer.model_fields["mode"].annotation))
"""Every way in which a summarizer can behave."""


def calls(scenario: s.Scenario) -> list[s.Call]:
    """Every call that a scenario's model makes."""
    return [call for step in scenario.steps if isinstance(step, s.ModelReplies) for call in step.calls]


def texts(value: object) -> Iterator[s.Text]:
    """Every text or recipe anywhere in a scenario."""
    match value:
        case str():
            yield value
        case s.Literally() | s.Repeat() | s.FromCorpus() | s.OwnDelimiter() | s.SentPart():
            yield (value,)
        case Frozen():
            for name in type(value).model_fields:
                yield from texts(getattr(value, name))
        case tuple():
            for inner in value:
                yield from texts(inner)
