"""The verdict algebra never rewards what was not seen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.verdicts import HOLDING, Verdict, holds, merge

verdicts = st.sampled_from(list(Verdict))
NOT_SEEN = [
    Verdict.HARNESS_ERROR,
    Verdict.BUILDER_ERROR,
    Verdict.UNEXERCISED,
    Verdict.FAILED,
    Verdict.NOT_CLAIMED,
]


def test_an_empty_run_is_unexercised_and_does_not_hold() -> None:
    assert merge([]) is Verdict.UNEXERCISED
    assert not holds([])


@given(st.lists(verdicts, min_size=1))
def test_merging_takes_the_worst_and_nothing_else(some: list[Verdict]) -> None:
    merged = merge(some)
    assert merged in some
    assert all(merged.badness >= verdict.badness for verdict in some)


@given(st.lists(verdicts), st.lists(verdicts))
def test_merging_in_parts_is_merging_at_once(one: list[Verdict], other: list[Verdict]) -> None:
    parts = [merge(part) for part in (one, other) if part]
    assert merge(parts) == merge(one + other)


@given(st.lists(verdicts), st.sampled_from(NOT_SEEN))
def test_adding_a_skip_an_error_or_a_gap_never_raises_a_result(some: list[Verdict], gap: Verdict) -> None:
    assert not holds([*some, gap])


@given(st.lists(verdicts, min_size=1), verdicts)
def test_adding_any_verdict_never_makes_the_merge_better(some: list[Verdict], more: Verdict) -> None:
    assert merge([*some, more]).badness >= merge(some).badness


@given(st.lists(st.sampled_from([Verdict.WARNED, Verdict.NOT_REACHABLE])))
def test_a_gate_needs_something_that_really_passed(some: list[Verdict]) -> None:
    assert not holds(some)
    assert holds([*some, Verdict.PASSED])


@given(st.lists(verdicts))
def test_a_gate_holds_only_over_verdicts_that_hold(some: list[Verdict]) -> None:
    if holds(some):
        assert set(some) <= HOLDING


def test_the_order_from_worst_to_best_is_the_documented_one() -> None:
    assert [v.value for v in sorted(Verdict, key=lambda v: -v.badness)] == [
        "harness error",
        "failed",
        "builder error",
        "unexercised",
        "warned",
        "passed",
        "held by transport",
        "not reachable",
        "not claimed",
    ]
