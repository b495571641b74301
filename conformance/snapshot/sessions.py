"""The sessions that snapshots are taken of, and playing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

from contextproof import scenarios
from contextproof.conformance.builder import Builder
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.trace import Sent, Trace
from contextproof.conformance.progress import Progress, unheard

FIFTY_TURNS = "fifty_turns"
ENVELOPES = "snapshots/envelopes"
HOSTILE = "snapshots/hostile"
POINTERS = "snapshots/pointers"
WORKING_STATE = "snapshots/working_state"
ANSWERS = "snapshots/answers"

#: Those that are short, by name: the snapshots' own, and scripted ones that end in a refusal.
SHORT = (
    ENVELOPES,
    HOSTILE,
    POINTERS,
    WORKING_STATE,
    ANSWERS,
    "openings/policy_over_cap",
    "openings/instructions_over_cap",
    "openings/tools_over_cap",
    "openings/tools_31",
    "openings/memory_over_cap",
    "openings/memory_of_41_items",
    "openings/two_classes_over_cap",
    "openings/ceiling_passed_by_one",
    "openings/reserve_leaves_999",
    "openings/reserve_exceeds_window",
    "exhausted_by_user_message",
    "exhausted_by_active_call",
    "environment_over_cap",
    "corrections_over_cap",
    "reroutings",
    "unpinned_calls",
    "summarizer_fails",
    "summarizer_silent",
    "escalation",
)
ALL = (FIFTY_TURNS, *SHORT)


class Played(NamedTuple):
    """A session and what came of it."""

    scenario: Scenario
    trace: Trace


def trace_of(played: Mapping[str, Played], name: str) -> Trace | None:
    """The trace of a session, if it was played."""
    return played[name].trace if name in played else None


def sent_in(played: Mapping[str, Played], name: str) -> tuple[Sent, ...]:
    """The requests sent in a session; none, where it was not played."""
    trace = trace_of(played, name)
    return trace.sent if trace is not None else ()


def play_all(builder: Builder, names: tuple[str, ...], progress: Progress = unheard) -> dict[str, Played]:
    """Play sessions by name. Raises BuilderError where the builder crashes or answers a wrong shape."""
    return dict(_each(builder, names, progress))


def _each(builder: Builder, names: tuple[str, ...], progress: Progress) -> Iterator[tuple[str, Played]]:
    for name in names:
        scenario = scenarios.load(name)
        trace = play(
            scenario,
            builder,
            corpus=scenarios.corpus,
            beside=frozenset(),
            resume_in=builder,
            progress=partial(progress, scenario.name),
        )
        yield name, Played(scenario, trace)
