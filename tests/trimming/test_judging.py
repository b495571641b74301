"""What an outcome rests on: the same seed, real evidence, and never nothing."""

from __future__ import annotations

from typing import Any

import pytest

from contextproof.calibration.trimmers.conforming import halves
from contextproof.conformance.certification.budget import SESSIONS, Budget, units
from contextproof.conformance.certification.generation import generate
from contextproof.conformance.certification.outcome import Level
from contextproof.conformance.trimming.aligning import aligned, missing, strangers
from contextproof.conformance.trimming.dialogue import Conversation, Step, ToolUse, Turn
from contextproof.conformance.trimming.examples import written_down
from contextproof.conformance.trimming.formats import Entry
from contextproof.conformance.trimming.generating import STRATEGIES, cases
from contextproof.conformance.trimming.outcome import Tally, TrimmerOutcome, decided, level_of
from contextproof.conformance.trimming.playing import play
from contextproof.conformance.trimming.rules import all_rules
from contextproof.conformance.trimming.running import played
from contextproof.conformance.trimming.session import Case, Limit
from contextproof.conformance.verdicts import Verdict
from trimming.direct import direct_bench

SMOKE = Budget(profile="smoke", seed=1, sessions=2)
CERTIFY = Budget(profile="certify", seed=1, sessions=SESSIONS["certify"])
BENCH = direct_bench(halves)
TALK = Conversation(
    system=("Be brief.",),
    turns=(
        Turn(user="Who?", answer=("Nobody.",)),
        Turn(user="What?", steps=(Step(uses=(ToolUse(result="a b c"),)),)),
    ),
)


def _outcome(**fields: Any) -> TrimmerOutcome:
    made = {"trimmer": "m:f", "format": "openai", "tokenizer": "o200k_base", "budget": SMOKE, **fields}
    return TrimmerOutcome(**{"cases": 0, "calls": 0, "level": None, "findings": (), **made})


def test_an_empty_run_passes_nothing_and_does_not_conform() -> None:
    for budget in (SMOKE, CERTIFY):
        findings = decided(Tally(), budget, BENCH.setting)
        assert all(f.verdict in {Verdict.UNEXERCISED, Verdict.NOT_REACHABLE} for f in findings)
        assert not _outcome(budget=budget, findings=findings).conforms
        assert level_of(findings, budget, "") in {None, Level.NONE}


def test_a_thorough_run_wants_every_witness_and_many_cases() -> None:
    run = played(BENCH, SMOKE)
    assert any(finding.verdict is Verdict.PASSED for finding in run.findings)
    tally = Tally()
    for rule in all_rules():
        tally.note(rule, written_down("room")[0], list(rule.judge(play(written_down("room")[0], BENCH))))
    findings = decided(tally, CERTIFY, BENCH.setting)
    assert not any(f.verdict is Verdict.PASSED for f in findings if not f.rule.startswith("CTX-16"))


def test_a_narrowed_or_short_run_certifies_nothing() -> None:
    findings = played(BENCH, SMOKE).findings
    assert level_of(findings, SMOKE, "") is None
    assert level_of(findings, CERTIFY.model_copy(update={"only": ("CTX-09",)}), "") is None
    assert level_of(findings, CERTIFY, "it hung") is Level.NONE


def test_the_same_seed_gives_the_same_cases_and_the_same_findings() -> None:
    unit = next(unit for unit in units(SMOKE, STRATEGIES, ()) if unit.kind == "generated")
    strategy = cases(next(name for name in STRATEGIES if name == unit.source))
    assert generate(strategy, unit.seed, 3) == generate(strategy, unit.seed, 3)
    narrow = SMOKE.model_copy(update={"only": ("CTX-06", "CTX-09")})
    assert played(BENCH, narrow).findings == played(BENCH, narrow).findings


def test_limits_are_relative_to_the_conversation() -> None:
    def limit(of: Any, n: int = 0, plus: int = 0) -> int:
        session = play(Case(conversation=TALK, limit=Limit(of=of, n=n, plus=plus)), BENCH)
        return session.asked[0].limit

    asked = play(Case(conversation=TALK, limit=Limit(of="whole")), BENCH).asked[0]
    assert limit("whole") == asked.size(asked.entries)
    assert limit("whole", plus=-1) == limit("whole") - 1
    assert limit("bare") < limit("least") < limit("whole") < limit("room")
    assert limit("between", n=0) == limit("least")
    assert limit("newest", n=9) == limit("whole")
    assert limit("bare", plus=-10_000) == 1


def test_at_the_edge_of_what_must_be_kept_fitting_and_not_fitting_are_told_apart() -> None:
    below, at_edge = (
        play(Case(conversation=TALK, limit=Limit(of="bare", plus=plus)), BENCH).asked[0] for plus in (-1, 0)
    )
    assert below.cannot_fit
    assert not at_edge.cannot_fit
    assert not at_edge.can_fit  # with its results, by some count, it may be more
    roomy = play(Case(conversation=TALK, limit=Limit(of="room")), BENCH).asked[0]
    assert roomy.can_fit
    assert roomy.has_room


def test_every_strategy_has_cases_written_down() -> None:
    assert all(written_down(name) for name in STRATEGIES)


U1, A1, U2 = Entry("user", "x"), Entry("assistant", "x"), Entry("user", "y")
LONG, SHORT = Entry("result", "a long result", id="c"), Entry("result", "cut", id="c")


@pytest.mark.parametrize(
    ("given", "returned", "places"),
    [
        ([U1, A1, U1], [A1, U1], [1, 2]),
        ([U1, A1, U1], [U1, A1], [0, 1]),
        ([U1, A1], [A1, U1], None),
        ([LONG, U1, LONG], [SHORT, U1], [0, 1]),
        ([SHORT], [LONG], None),
        ([U1], [U1, U1], None),
    ],
)
def test_what_came_back_is_found_among_what_was_given(
    given: list[Entry], returned: list[Entry], places: list[int] | None
) -> None:
    assert aligned(given, returned) == places


def test_strangers_and_missing_count_how_often_something_is_there() -> None:
    assert strangers([U1], [U1, U1, U2]) == [U1, U2]
    assert strangers([LONG], [SHORT]) == []
    assert missing([U1, U1, U2], [U1]) == [U1, U2]
    assert missing([LONG], [SHORT]) == []
