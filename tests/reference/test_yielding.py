"""What gives way, when, in which order, and that it stays so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract.answers import Built, CompactionNeeded
from contextproof.conformance.contract.caps import POINTER_TOKENS
from contextproof.conformance.contract.events import YieldApplied
from contextproof.conformance.contract.items import LogItem, RecallItem, ResultStatus
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import PointerKind, Yielded, YieldStep
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Trust
from reference.hostile import texts
from reference.making import (
    ENGINE,
    MODEL,
    assistant,
    build,
    built,
    call,
    context,
    exchange,
    expect,
    inputs,
    plan_with_body,
    planned,
    pointers,
    result,
    user,
    words,
)

BODY = 4_000


def recall(*sizes: int) -> tuple[RecallItem, ...]:
    return tuple(RecallItem(id=f"q{n}", text=words(size), source="memory") for n, size in enumerate(sizes))


def recalled(answer: Built) -> list[str | None]:
    return [block.item_id for block in answer.request.blocks if block.type == "recall"]


def gone(answer: Built | CompactionNeeded) -> list[tuple[str, str, str]]:
    return [(entry.step.value, entry.item_id, entry.cause) for entry in answer.yielded]


def talk(name: str, tokens: int) -> tuple[LogItem, ...]:
    """A turn of no calls, of about so many tokens."""
    return (user(f"{name}-u", words(tokens // 2)), assistant(f"{name}-a", words(tokens // 2)))


def read(name: str, *sizes: int) -> tuple[LogItem, ...]:
    """A turn in which pages of so many tokens are read."""
    return (user(f"{name}-u"), *exchange(name, *(words(size) for size in sizes)))


def test_recall_keeps_a_leading_part_within_its_cap_and_drops_what_alone_exceeds_it() -> None:
    answer = built(planned(), (user("u"),), recall=recall(900, 2_001, 1_000, 200, 50))
    assert recalled(answer) == ["q0", "q2"]
    assert gone(answer) == []


def test_under_pressure_recall_goes_first_from_its_end_one_by_one() -> None:
    plan = plan_with_body(BODY)
    log = (*read("x", 600), *talk("y", 2_000), user("u"))
    answer = built(plan, log, recall=recall(300, 300, 300, 300))
    assert recalled(answer) == ["q0", "q1"]
    assert gone(answer) == [("recall", "q3", "pressure"), ("recall", "q2", "pressure")]
    assert pointers(answer.request.blocks) == []


def test_nothing_gives_way_in_a_request_that_just_fits() -> None:
    log = (*read("x", 300), *talk("y", 1_500), user("u"))
    roomy = built(planned(), log, recall=recall(300))
    body = roomy.request.estimate.body_tokens
    assert gone(built(plan_with_body(body), log, recall=recall(300))) == []
    assert gone(built(plan_with_body(body - 1), log, recall=recall(300))) == [("recall", "q0", "pressure")]


def test_older_results_go_oldest_first_and_only_when_no_recall_is_left() -> None:
    plan = plan_with_body(BODY)
    log = (*read("x", 300, 300), *read("y", 300), *talk("z", 2_600), user("u"))
    answer = built(plan, log, recall=recall(200, 200))
    assert recalled(answer) == []
    assert [entry[0] for entry in gone(answer)][:2] == ["recall", "recall"]
    results = [entry for entry in gone(answer) if entry[0] == "tool_result"]
    assert [entry[1] for entry in results] == ["x-r0", "x-r1", "y-r0"][: len(results)]
    assert results
    assert {entry[2] for entry in results} == {"pressure"}


def test_results_no_larger_than_a_pointer_stand_until_history_is_compacted() -> None:
    plan = plan_with_body(BODY)
    log = (*read("x", 20, 20), *read("y", 300), *talk("z", 3_000), user("u"))
    assert gone(built(plan, log)) == [("tool_result", "y-r0", "pressure")]


def test_an_older_pair_of_the_turn_goes_after_those_of_earlier_turns() -> None:
    plan = plan_with_body(BODY)
    log = (*read("x", 300), *talk("z", 2_500), *read("now", 300), *exchange("then", words(300)))
    results = [entry[1] for entry in gone(built(plan, log))]
    assert results == ["x-r0", "now-r0"]


def test_active_pairs_stand_under_any_pressure() -> None:
    plan = plan_with_body(BODY)
    log = (*talk("z", 4_000), user("u"), *exchange("now", words(400), words(400)))
    answer = expect(CompactionNeeded, build(plan, inputs(log)))
    assert gone(answer) == []


def test_truncation_goes_on_until_a_tenth_of_the_body_is_free() -> None:
    plan = plan_with_body(BODY)
    log = (*(item for n in range(4) for item in read(f"x{n}", 200)), *talk("z", 2_200), user("u"))
    answer = built(plan, log)
    assert gone(answer)
    assert answer.request.estimate.total <= plan.opening.model.limit - BODY // 10
    more = (*log, *talk("more", BODY // 10 - 250), user("u2"))
    assert gone(built(plan, more, yielded=answer.yielded)) == []


def test_denied_and_interrupted_results_are_never_truncated() -> None:
    plan = plan_with_body(BODY)
    closed: list[LogItem] = [
        result(f"r{n}", f"c{n}", words(900), status=status, trust=Trust.INTERNAL)
        for n, status in enumerate((ResultStatus.DENIED, ResultStatus.INTERRUPTED))
    ]
    log = (user("u0"), assistant("a"), call("c0", "a"), call("c1", "a"), *closed)
    answer = built(plan, (*log, *read("x", 700), *talk("z", 500), user("u")))
    assert set(pointers(answer.request.blocks)) <= {"x-r0"}


# The cap on results ---------------------------------------------------------------------------


def test_the_cap_makes_older_results_pointers_without_any_pressure() -> None:
    plan = plan_with_body(BODY)
    log = (*read("x", 400), *read("y", 400), *read("z", 400))
    answer = built(plan, log, recall=recall(100))
    assert gone(answer) == [("tool_result", "x-r0", "cap"), ("tool_result", "y-r0", "cap")]
    assert recalled(answer) == ["q0"]


def test_the_cap_is_exact_to_the_token() -> None:
    plan = plan_with_body(BODY)
    cap = plan.budget.tool_results_tokens
    assert cap == BODY // 4
    at_cap = (*read("x", cap - 300), *read("y", 300))
    assert gone(built(plan, at_cap)) == []
    over = (*read("x", cap - 300), *read("y", 301))
    assert gone(built(plan, over)) == [("tool_result", "x-r0", "cap")]


def test_active_results_follow_largest_first_and_no_more_than_needed() -> None:
    plan = plan_with_body(BODY)
    log = (*read("x", 50), *read("now", 200, 900, 300, 700))
    answer = built(plan, log)
    assert gone(answer) == [
        ("tool_result", "x-r0", "cap"),
        ("tool_result", "now-r1", "cap"),
        ("tool_result", "now-r3", "cap"),
    ]
    assert [b.item_id for b in answer.request.blocks if b.type == "tool_call"][-4:] == [
        f"now-c{n}" for n in range(4)
    ]


def test_one_page_larger_than_the_body_does_not_end_the_run() -> None:
    plan = plan_with_body(BODY)
    answer = built(plan, read("x", 3 * BODY))
    assert pointers(answer.request.blocks) == ["x-r0"]


# Pointers -------------------------------------------------------------------------------------


@given(text=texts(), source=texts(4))
def test_a_pointer_stands_in_the_same_envelope_and_costs_little(text: str, source: str) -> None:
    plan = plan_with_body(BODY)
    log = (user("u"), assistant("a"), call("c", "a"), result("r", "c", words(2_000) + text, source=source))
    whole = built(planned(), log).request.blocks[-2]
    pointer = built(plan, log).request.blocks[-2]
    assert pointer.pointer is not None
    assert whole.envelope is not None
    assert pointer.envelope is not None
    assert pointer.pointer.kind is PointerKind.TRUNCATION
    assert whole.envelope.opening.of(whole.text) == pointer.envelope.opening.of(pointer.text)
    assert pointer.pointer.size == len((words(2_000) + text).encode())
    assert pointer.pointer.reference.of(pointer.text) == b'"r"'
    assert (pointer.call_id, pointer.status) == (whole.call_id, whole.status)
    data = pointer.text.encode()
    cut = [pointer.envelope.source, pointer.pointer.reference]
    rest = data[: cut[0].start] + data[cut[0].end : cut[1].start] + data[cut[1].end :]
    assert count(MODEL.tokenizer, rest.decode()) <= POINTER_TOKENS


def test_what_gave_way_stays_a_pointer_within_the_epoch_and_may_come_back_in_the_next() -> None:
    log = (*read("x", 400), user("u"))
    listed = (
        Yielded(step=YieldStep.TOOL_RESULT, item_id="x-r0", epoch=1, cause="pressure"),
        Yielded(step=YieldStep.TOOL_RESULT, item_id="unknown", epoch=1, cause="cap"),
    )
    answer = built(planned(), log, yielded=listed)
    assert pointers(answer.request.blocks) == ["x-r0"]
    assert gone(answer) == []
    next_epoch = planned().model_copy(update={"epoch": 2})
    assert pointers(built(next_epoch, log, yielded=listed).request.blocks) == []


def test_recall_that_gave_way_in_this_turn_stays_out_and_another_ranking_is_judged_anew() -> None:
    dropped = (Yielded(step=YieldStep.RECALL, item_id="q1", epoch=1, cause="pressure"),)
    assert recalled(built(planned(), (user("u"),), recall=recall(9, 9), yielded=dropped)) == ["q0"]
    assert recalled(built(planned(), (user("u"),), recall=recall(9, 9, 9), yielded=dropped)) == [
        "q0",
        "q1",
        "q2",
    ]


def test_each_step_and_cause_is_told_in_one_event() -> None:
    plan = plan_with_body(BODY)
    log = (*read("x", 600), *read("y", 300), *read("z", 300), *talk("t", 2_800), user("u"))
    answer = built(plan, log, recall=recall(100, 100))
    told = [(e.step.value, e.cause, e.item_ids) for e in answer.events if isinstance(e, YieldApplied)]
    assert told == [
        ("tool_result", "cap", ("x-r0",)),
        ("recall", "pressure", ("q1", "q0")),
        ("tool_result", "pressure", ("y-r0", "z-r0")),
    ]
    assert [item for _, _, items in told for item in items] == [e.item_id for e in answer.yielded]


SESSIONS = st.lists(
    st.sampled_from((("talk", 60), ("talk", 400), ("read", 40), ("read", 300), ("read", 900))),
    min_size=1,
    max_size=14,
)


def session(steps: Sequence[tuple[str, int]]) -> tuple[LogItem, ...]:
    turns = [
        talk(f"t{n}", size) if kind == "talk" else read(f"t{n}", size) for n, (kind, size) in enumerate(steps)
    ]
    return (*(item for turn in turns for item in turn), user("last"))


def given_up(plan: Plan, log: Sequence[LogItem], ranking: Sequence[RecallItem]) -> set[str]:
    answer = build(plan, inputs(log, recall=tuple(ranking)))
    if isinstance(answer, Built | CompactionNeeded):
        return {entry.item_id for entry in answer.yielded}
    return set()


@given(steps=SESSIONS, small=st.integers(1_200, 6_000), more=st.integers(1, 4_000))
def test_a_larger_window_never_gives_up_more(steps: list[tuple[str, int]], small: int, more: int) -> None:
    log, ranking = session(steps), recall(200, 200, 200)
    answer = build(plan_with_body(small), inputs(log, recall=ranking))
    if isinstance(answer, Built | CompactionNeeded):
        larger = given_up(plan_with_body(small + more), log, ranking)
        assert larger <= {entry.item_id for entry in answer.yielded}


@given(steps=SESSIONS, size=st.integers(1_200, 6_000))
def test_whatever_is_built_fits_and_keeps_every_pair(steps: list[tuple[str, int]], size: int) -> None:
    plan = plan_with_body(size)
    answer = build(plan, inputs(session(steps), recall=recall(200, 200)))
    if isinstance(answer, Built):
        assert answer.request.estimate.total <= plan.opening.model.limit
        assert ENGINE.validate(context(), answer.request).violations == ()


@pytest.mark.parametrize("tokens", [1, 127])
def test_small_results_give_way_for_the_cap_before_active_ones_do(tokens: int) -> None:
    plan = plan_with_body(BODY)
    answer = built(plan, (*read("x", tokens), *read("now", 1_001)))
    assert [entry[1] for entry in gone(answer)] == ["x-r0", "now-r0"]
