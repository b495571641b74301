"""Played against the reference engine, the fifty turns show what they are there to show."""

from __future__ import annotations

import re

import pytest

from contextproof import scenarios
from contextproof.conformance.adapters.in_process import InProcess
from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.request import YieldStep
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.trace import (
    AuthorizeRecord,
    BuildRecord,
    CandidatesRecord,
    CompactRecord,
    ReconcileRecord,
    ResumeRecord,
    SkipRecord,
    Trace,
    UpdateRecord,
)
from contextproof.reference_impl.engine import factory


def played(name: str) -> Trace:
    """A scripted session, played in this process with nothing beside the main line."""
    return play(scenarios.load(name), InProcess(factory()), corpus=scenarios.corpus, beside=frozenset())


@pytest.fixture(scope="module")
def trace() -> Trace:
    return played("fifty_turns")


def _compactions(trace: Trace) -> list[tuple[int, bool, a.CompactAnswer]]:
    return [(r.context.turn, r.forced, r.answer) for r in trace.records if isinstance(r, CompactRecord)]


def test_all_fifty_turns_are_played_with_one_prefix_hash_and_nothing_is_skipped(trace: Trace) -> None:
    assert trace.ended == "closed"
    assert [record for record in trace.records if isinstance(record, SkipRecord)] == []
    assert len({sent.request.prefix_sha256 for sent in trace.sent}) == 1
    assert {sent.build.context.turn for sent in trace.sent} == set(range(1, 51))


def test_all_three_yield_steps_are_taken_in_the_first_half_and_again_in_the_second(trace: Trace) -> None:
    pressed: dict[YieldStep, list[int]] = {step: [] for step in YieldStep}
    for sent in trace.sent:
        assert isinstance(sent.build.answer, a.Built)
        for gone in sent.build.answer.yielded:
            if gone.cause == "pressure":
                pressed[gone.step].append(sent.build.context.turn)
    second_forced = 27
    for step in (YieldStep.RECALL, YieldStep.TOOL_RESULT):
        assert min(pressed[step]) < second_forced
        assert 40 < max(pressed[step]) < 45
    assert [turn for turn, forced, _ in _compactions(trace) if not forced] == [45]


def test_the_cap_on_results_makes_older_and_active_ones_pointers(trace: Trace) -> None:
    capped = {
        gone.item_id: sent.build.context.turn
        for sent in trace.sent
        if isinstance(sent.build.answer, a.Built)
        for gone in sent.build.answer.yielded
        if gone.cause == "cap"
    }
    assert capped["r01a"] == 12
    assert capped["r13a"] == 13


def test_two_forced_compactions_reach_depth_two_and_those_that_fail_write_nothing(trace: Trace) -> None:
    forced = [(turn, answer) for turn, is_forced, answer in _compactions(trace) if is_forced]
    depths = [(turn, x.checkpoint.depth) for turn, x in forced if isinstance(x, a.Compacted)]
    assert depths == [(14, 1), (27, 2)]
    assert [turn for turn, x in forced if isinstance(x, a.CompactionFailed)] == [18, 47]


def test_denied_are_calls_to_what_is_revoked_or_not_pinned(trace: Trace) -> None:
    denied = [
        (record.context.turn, record.call.name)
        for record in trace.records
        if isinstance(record, AuthorizeRecord) and isinstance(record.answer, a.Denied)
    ]
    assert [(turn, name.partition('"')[0]) for turn, name in denied] == [
        (6, "pager.page_human"),
        (11, "deploy.apply"),
        (29, "pager.page_human"),
        (29, "web.fetch"),
        (35, "ledger.compare_digests"),
        (49, "deploy.rollback_all"),
    ]


def test_writes_past_each_cap_and_to_constraints_of_the_user_are_refused(trace: Trace) -> None:
    updates = [record for record in trace.records if isinstance(record, UpdateRecord)]
    refused = [
        (u.context.turn, u.answer.field, u.answer.cap) for u in updates if isinstance(u.answer, a.Rejected)
    ]
    assert refused == [
        (9, "constraints", 20),
        (9, "constraints", None),
        (9, "constraints", None),
        (9, "constraints", 20),
        (10, "tasks", 30),
        (31, "open_questions", 20),
        (32, "tokens", 1_000),
    ]
    states = [u.answer.state for u in updates if isinstance(u.answer, a.Updated)]
    assert max(len(state.established_facts) for state in states) == 40
    evicted = {"f-guide", "f-quoted", "f-reply"}
    assert not evicted & {fact.id for fact in states[-1].established_facts}


def test_probes_are_answered_by_what_is_wrong_with_each(trace: Trace) -> None:
    answers = [r.answer for r in trace.records if isinstance(r, BuildRecord) and r.purpose == "probe"]
    kinds = [answer.kind if isinstance(answer, a.InvalidInput) else None for answer in answers]
    invalid = a.InvalidKind
    assert kinds[:3] == [invalid.UNDECLARED_TYPE, invalid.UNANSWERED_CALL, invalid.ORPHANED_RESULT]
    assert kinds[3] in (invalid.UNANSWERED_CALL, invalid.LATE_RESULT)
    assert isinstance(answers[4], a.Built)


def test_usage_passes_its_estimate_a_send_is_retried_and_the_session_resumes(trace: Trace) -> None:
    reconciled = [r for r in trace.records if isinstance(r, ReconcileRecord)]
    assert {r.context.turn for r in reconciled if r.usage > r.estimate.total} >= {21}
    assert len([r for _, r in trace.builds("retry")]) == 3
    assert len([r for r in trace.records if isinstance(r, ResumeRecord)]) == 2


def test_facts_are_offered_at_the_end_and_those_from_outside_are_barred(trace: Trace) -> None:
    (offered,) = [r.answer for r in trace.records if isinstance(r, CandidatesRecord) and r.closed]
    barred = {candidate.fact.id for candidate in offered.candidates if not candidate.eligible}
    assert len(offered.candidates) == 40
    assert barred == {"f19", "f20"}


def test_the_rotations_open_two_more_epochs_and_no_others() -> None:
    trace = played("rotations")
    assert trace.ended == "closed"
    assert [plan.epoch for plan in trace.plans] == [1, 2, 3]
    assert [plan.opening.model.tokenizer for plan in trace.plans] == ["o200k_base"] * 2 + ["cl100k_base"]
    names = [{tool.name for tool in plan.opening.tools} for plan in trace.plans]
    assert names[0] - names[1] == {"notes.write"}
    assert names[1] == names[2]


def test_the_escalation_ends_in_a_child_run_and_sends_nothing_after() -> None:
    trace = played("escalation")
    assert trace.ended == "escalated"
    *written, last = [answer for _, _, answer in _compactions(trace)]
    assert [x.checkpoint.depth for x in written if isinstance(x, a.Compacted)] == [1, 2]
    assert isinstance(last, a.Escalated)


@pytest.mark.parametrize(
    ("name", "turns_sent"),
    [
        ("environment_over_cap", [1, 3]),
        ("corrections_over_cap", [1, 3]),
        ("exhausted_by_user_message", [2]),
        ("exhausted_by_active_call", [1, 2]),
    ],
)
def test_a_turn_whose_budget_is_exhausted_is_unsent_and_the_next_goes_on(
    name: str, turns_sent: list[int]
) -> None:
    trace = played(name)
    assert [sent.build.context.turn for sent in trace.sent] == turns_sent
    assert any(isinstance(build.answer, a.BudgetExhausted) for _, build in trace.builds("main"))


def test_openings_are_refused_exactly_where_their_names_say_so() -> None:
    refused = {name for name in scenarios.names() if name.startswith("openings/") and _is_refused(name)}
    said = re.compile(r"over_cap(_cl100k)?$|_31$|_41_|_passed_|reserve_")
    assert refused == {
        name for name in scenarios.names() if name.startswith("openings/") and said.search(name)
    }


def _is_refused(name: str) -> bool:
    return played(name).ended == "refused"
