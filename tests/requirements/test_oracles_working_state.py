"""The oracle of working state, against updates and logs worked out by hand."""

from __future__ import annotations

import pytest

from contextproof.conformance.contract.items import WorkingStateWritten
from contextproof.conformance.contract.working_state import StateUpdate, WorkingState, WriteOrigin
from contextproof.conformance.requirements import oracles_working_state as oracle
from requirements import records as r
from requirements import traces as t

EMPTY = WorkingState()
FACTS = WorkingState(established_facts=tuple(r.fact(f"f{n}") for n in range(40)))
CONSTRAINED = WorkingState(constraints=(r.constraint("c1", "No flights."),))


def _due(state: WorkingState, update: StateUpdate, origin: WriteOrigin = r.USER) -> oracle.Due:
    return oracle.due(state, update, origin, "o200k_base")


def test_a_known_id_is_replaced_in_place_and_a_new_one_goes_last() -> None:
    state = WorkingState(tasks=(r.task("t1"), r.task("t2")))
    update = StateUpdate(tasks=(r.task("t3"), r.task("t1", "Pay it.")))
    found = _due(state, update).state
    assert found is not None
    assert [(task.id, task.text) for task in found.tasks] == [
        ("t1", "Pay it."),
        ("t2", "Book it."),
        ("t3", "Book it."),
    ]


def test_a_fact_past_the_cap_evicts_the_oldest() -> None:
    found = _due(FACTS, StateUpdate(established_facts=(r.fact("new"),))).state
    assert found is not None
    assert [fact.id for fact in found.established_facts] == [*(f"f{n}" for n in range(1, 40)), "new"]


def test_only_tasks_that_are_over_and_questions_that_are_resolved_are_evicted() -> None:
    tasks = tuple(r.task(f"t{n}", status="cancelled" if n == 7 else "pending") for n in range(30))
    found = _due(WorkingState(tasks=tasks), StateUpdate(tasks=(r.task("new"),))).state
    assert found is not None
    assert "t7" not in {task.id for task in found.tasks}
    questions = tuple(r.question(f"q{n}") for n in range(20))
    full = WorkingState(open_questions=questions)
    assert _due(full, StateUpdate(open_questions=(r.question("new"),))).refused == {"open_questions"}


def test_words_past_the_token_cap_are_refused() -> None:
    wordy = StateUpdate(established_facts=(r.fact("f", "word " * 1_001),))
    assert _due(EMPTY, wordy).refused == {"tokens"}


@pytest.mark.parametrize(
    "update",
    [
        StateUpdate(constraints=(r.constraint("c1", "Flights are fine."),)),
        StateUpdate(remove_constraints=("c1",)),
    ],
)
def test_the_model_may_not_touch_a_constraint_and_the_user_may(update: StateUpdate) -> None:
    assert _due(CONSTRAINED, update, r.MODEL).refused == {"constraints"}
    assert _due(CONSTRAINED, update, r.USER).state is not None


def test_the_model_may_say_a_constraint_again_or_remove_what_is_not_there() -> None:
    again = StateUpdate(constraints=CONSTRAINED.constraints, remove_constraints=("c9",))
    assert _due(CONSTRAINED, again, r.MODEL).state == CONSTRAINED


@pytest.mark.parametrize(
    ("state", "update"),
    [
        (EMPTY, StateUpdate(tasks=(r.task("t"), r.task("t", "Other.")))),
        (EMPTY, StateUpdate(established_facts=tuple(r.fact(f"g{n}") for n in range(41)))),
        (FACTS, StateUpdate(established_facts=(r.fact("f0", "Else."), r.fact("new")))),
        (CONSTRAINED, StateUpdate(constraints=CONSTRAINED.constraints, remove_constraints=("c1",))),
    ],
)
def test_an_update_with_several_readings_is_called_unclear(state: WorkingState, update: StateUpdate) -> None:
    assert _due(state, update).unclear


def test_a_log_folds_to_accepted_updates_less_what_ends_with_a_turn() -> None:
    accepted = StateUpdate(
        tasks=(r.task("t1", status="done"), r.task("t2")), constraints=(r.constraint("c1"),)
    )
    rejected = StateUpdate(constraints=(r.constraint("c2"),))
    by_user = WorkingStateWritten(id="w1", origin=r.USER, update=StateUpdate(tasks=(r.task("t3"),)))
    log = (
        *(t.user("u1"), t.assistant("a1"), *r.state_call("k1", "a1", accepted)),
        *(t.assistant("a2"), *r.state_call("k2", "a2", rejected, status="error"), by_user),
    )
    assert [task.id for task in oracle.folded(log).tasks] == ["t1", "t2", "t3"]
    next_turn = oracle.folded((*log, t.user("u2")))
    assert [task.id for task in next_turn.tasks] == ["t2", "t3"]
    assert [entry.id for entry in next_turn.constraints] == ["c1"]


def test_a_fact_that_a_call_wrote_names_the_call() -> None:
    update = StateUpdate(established_facts=(r.fact("f1", derived_from=("u1",)),))
    log = (t.user("u1"), t.assistant("a1"), *r.state_call("k1", "a1", update))
    (fact,) = oracle.folded(log).established_facts
    assert fact.derived_from == ("u1", "k1")


def test_states_that_differ_in_the_order_of_a_provenance_alone_are_alike() -> None:
    one = WorkingState(established_facts=(r.fact("f", derived_from=("a", "b")),))
    other = WorkingState(established_facts=(r.fact("f", derived_from=("b", "a")),))
    assert not oracle.first_unlike(one, other)
    less = WorkingState(established_facts=(r.fact("f", derived_from=("a",)),))
    assert oracle.first_unlike(less, one)


def test_a_call_that_shares_its_id_in_its_message_makes_a_log_ambiguous() -> None:
    call, result = r.state_call("k1", "a1", StateUpdate())
    log = (t.assistant("a1"), call, result)
    assert not oracle.is_ambiguous(log)
    assert oracle.is_ambiguous((*log, t.call("k2", "a1", call_id="k1")))
    assert not oracle.is_ambiguous((*log, t.call("k2", "a2", call_id="k1")))
