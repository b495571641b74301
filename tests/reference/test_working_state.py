"""Working state: bounded, written whole or not at all, and carried as the log tells it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract.answers import Rejected, Updated
from contextproof.conformance.contract.base import canonical_json
from contextproof.conformance.contract.items import (
    WORKING_STATE_TOOL,
    LogItem,
    ResultStatus,
    WorkingStateWritten,
)
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.contract.working_state import (
    Constraint,
    Fact,
    OpenQuestion,
    StateUpdate,
    Task,
    TaskStatus,
    WorkingState,
    WriteOrigin,
)
from reference.making import ENGINE, assistant, call, context, expect, result, user, words

MODEL_WRITES = WriteOrigin(by="model", item_id="call-1")
USER_WRITES = WriteOrigin(by="user")


def update(state: WorkingState, origin: WriteOrigin = USER_WRITES, **change: Any) -> Updated | Rejected:
    return ENGINE.update(context(), state, StateUpdate(**change), origin)


def updated(state: WorkingState, origin: WriteOrigin = USER_WRITES, **change: Any) -> WorkingState:
    return expect(Updated, update(state, origin, **change)).state


def rejected(state: WorkingState, origin: WriteOrigin = USER_WRITES, **change: Any) -> tuple[str, int | None]:
    answer = expect(Rejected, update(state, origin, **change))
    assert answer.reason
    return answer.field, answer.cap


def constraints(count: int, start: int = 0) -> tuple[Constraint, ...]:
    return tuple(Constraint(id=f"c{n}", text=f"C{n}") for n in range(start, start + count))


def tasks(count: int, status: TaskStatus = TaskStatus.PENDING) -> tuple[Task, ...]:
    return tuple(Task(id=f"t{n}", text=f"T{n}", status=status) for n in range(count))


def facts(count: int, start: int = 0) -> tuple[Fact, ...]:
    return tuple(Fact(id=f"f{n}", text=f"F{n}") for n in range(start, start + count))


def questions(count: int, *resolved: int) -> tuple[OpenQuestion, ...]:
    return tuple(OpenQuestion(id=f"q{n}", text="Q", resolved=n in resolved) for n in range(count))


FULL = WorkingState(
    constraints=constraints(20),
    tasks=tasks(30),
    established_facts=facts(40),
    open_questions=questions(20),
)


def test_a_state_may_be_filled_to_every_cap() -> None:
    change = {name: getattr(FULL, name) for name in WorkingState.model_fields}
    assert updated(WorkingState(), **change) == FULL


def test_a_constraint_past_the_cap_fails_visibly() -> None:
    assert rejected(FULL, constraints=constraints(1, 20)) == ("constraints", 20)
    assert rejected(FULL, MODEL_WRITES, constraints=constraints(1, 20)) == ("constraints", 20)


def test_the_oldest_fact_leaves_for_a_new_one_but_never_one_just_written() -> None:
    state = updated(FULL, established_facts=facts(2, 40))
    assert [fact.id for fact in state.established_facts] == [f"f{n}" for n in range(2, 42)]
    assert rejected(FULL, established_facts=facts(41, 100)) == ("established_facts", 40)


def test_the_oldest_task_that_is_over_leaves_and_without_one_the_write_fails() -> None:
    new = Task(id="new", text="N")
    assert rejected(FULL, tasks=(new,)) == ("tasks", 30)
    over = FULL.model_copy(
        update={
            "tasks": tuple(
                task.model_copy(update={"status": status})
                for task, status in zip(
                    FULL.tasks,
                    (TaskStatus.PENDING, TaskStatus.CANCELLED, *[TaskStatus.DONE] * 28),
                    strict=True,
                )
            )
        }
    )
    left = [task.id for task in updated(over, tasks=(new,)).tasks]
    assert left == ["t0", *[f"t{n}" for n in range(2, 30)], "new"]


def test_the_oldest_resolved_question_leaves_and_without_one_the_write_fails() -> None:
    new = OpenQuestion(id="new", text="N")
    assert rejected(FULL, open_questions=(new,)) == ("open_questions", 20)
    some = FULL.model_copy(update={"open_questions": questions(20, 3, 7)})
    left = [question.id for question in updated(some, open_questions=(new,)).open_questions]
    assert left == [f"q{n}" for n in range(20) if n != 3] + ["new"]


def test_the_token_cap_is_exact_and_always_fails_the_write() -> None:
    at_cap = updated(WorkingState(), established_facts=(Fact(id="f", text=words(1_000)),))
    assert rejected(at_cap, tasks=(Task(id="t", text="a"),)) == ("tokens", 1_000)
    over = WorkingState(established_facts=(Fact(id="f", text=words(1_200)),))
    shorter = (Fact(id="f", text=words(1_100)),)
    assert rejected(over, established_facts=shorter) == ("tokens", 1_000)


@pytest.mark.parametrize(
    "change",
    [
        {"constraints": (Constraint(id="c0", text="Reworded."),)},
        {"remove_constraints": ("c0",)},
        {"remove_constraints": ("c0",), "established_facts": facts(1, 90)},
    ],
    ids=["reword", "remove", "remove and write a fact"],
)
def test_only_user_and_runtime_take_back_a_constraint(change: dict[str, Any]) -> None:
    state = WorkingState(constraints=constraints(2))
    assert rejected(state, MODEL_WRITES, **change) == ("constraints", None)
    for writer in ("user", "runtime"):
        after = updated(state, WriteOrigin.model_validate({"by": writer}), **change)
        assert after.constraints != state.constraints


def test_a_constraint_that_the_model_says_again_stays_as_the_user_wrote_it() -> None:
    state = WorkingState(constraints=(Constraint(id="c0", text="C", derived_from=("u1",)),))
    again = (Constraint(id="c0", text="C", derived_from=("r1",)), Constraint(id="c1", text="New"))
    assert updated(state, MODEL_WRITES, constraints=again).constraints == (
        *state.constraints,
        again[1],
    )


def test_removing_what_is_not_there_removes_nothing() -> None:
    state = WorkingState(constraints=constraints(1))
    assert updated(state, MODEL_WRITES, remove_constraints=("nothing",)) == state


def test_an_entry_with_a_known_id_is_replaced_in_its_place() -> None:
    state = WorkingState(tasks=tasks(3))
    changed = Task(id="t1", text="Changed", status=TaskStatus.IN_PROGRESS)
    assert updated(state, tasks=(changed,)).tasks == (state.tasks[0], changed, state.tasks[2])


def test_a_facts_provenance_includes_the_call_that_wrote_it() -> None:
    written = (Fact(id="f1", text="F"), Fact(id="f2", text="F", derived_from=("call-1", "r1")))
    state = updated(WorkingState(), MODEL_WRITES, established_facts=written)
    provenances = [fact.derived_from for fact in state.established_facts]
    assert provenances == [("call-1",), ("call-1", "r1")]


# Carrying -------------------------------------------------------------------------------------


def control(name: str, change: StateUpdate | str, status: ResultStatus) -> tuple[LogItem, ...]:
    """A call of the control tool with its result; its call id recurs on purpose."""
    arguments = change if isinstance(change, str) else canonical_json(change).decode()
    made = call(f"{name}-c", name, call_id="x", name=WORKING_STATE_TOOL, arguments=arguments)
    answer = result(f"{name}-r", "x", "done", status=status, trust=Trust.INTERNAL, source="runtime")
    return (assistant(name, ""), made, answer)


def carried(*log: LogItem) -> WorkingState:
    return ENGINE.carry(context(), log).state


OPEN_AND_OVER = StateUpdate(
    constraints=constraints(1),
    tasks=tuple(Task(id=status.value, text="T", status=status) for status in TaskStatus),
    established_facts=facts(1),
    open_questions=questions(2, 0),
)


def test_across_a_turn_go_constraints_facts_open_tasks_and_open_questions() -> None:
    log = (user("u1"), WorkingStateWritten(id="w", origin=USER_WRITES, update=OPEN_AND_OVER))
    assert carried(*log).tasks == OPEN_AND_OVER.tasks
    state = carried(*log, user("u2"))
    assert [task.id for task in state.tasks] == ["pending", "in_progress"]
    assert [question.id for question in state.open_questions] == ["q1"]
    assert state.constraints == OPEN_AND_OVER.constraints
    assert state.established_facts == OPEN_AND_OVER.established_facts


def test_only_calls_whose_result_is_ok_took_effect() -> None:
    change = StateUpdate(established_facts=facts(1))
    for status in ResultStatus:
        state = carried(user("u1"), *control("a", change, status), user("u2"))
        assert bool(state.established_facts) is (status is ResultStatus.OK)


def test_prose_and_other_tools_write_nothing() -> None:
    text = canonical_json(StateUpdate(constraints=constraints(1))).decode()
    log = (
        user("u1", text),
        assistant("a1", f"{WORKING_STATE_TOOL}({text})"),
        call("c1", "a1", arguments=text),
        result("r1", "c1", text),
        *control("a2", "not JSON", ResultStatus.OK),
        user("u2"),
    )
    assert carried(*log) == WorkingState()


def test_results_answer_calls_of_one_id_in_order() -> None:
    first, second = (canonical_json(StateUpdate(tasks=(t,))).decode() for t in tasks(2))
    log = (
        user("u1"),
        assistant("a", ""),
        call("c1", "a", call_id="x", name=WORKING_STATE_TOOL, arguments=first),
        call("c2", "a", call_id="x", name=WORKING_STATE_TOOL, arguments=second),
        result("r1", "x", "no", status=ResultStatus.ERROR),
        result("r2", "x", "yes"),
        user("u2"),
    )
    assert [task.id for task in carried(*log).tasks] == ["t1"]


IDS = st.sampled_from([f"{n}" for n in range(30)])
TEXTS = st.sampled_from(("", "one", "two words"))
CHANGES = st.builds(
    StateUpdate,
    constraints=st.lists(st.builds(Constraint, id=IDS, text=TEXTS), max_size=6).map(tuple),
    tasks=st.lists(
        st.builds(Task, id=IDS, text=TEXTS, status=st.sampled_from(tuple(TaskStatus))), max_size=12
    ).map(tuple),
    established_facts=st.lists(st.builds(Fact, id=IDS, text=TEXTS), max_size=8).map(tuple),
    open_questions=st.lists(
        st.builds(OpenQuestion, id=IDS, text=TEXTS, resolved=st.booleans()), max_size=8
    ).map(tuple),
    remove_constraints=st.lists(IDS, max_size=2).map(tuple),
)
STEPS = st.lists(st.none() | st.tuples(st.sampled_from(("model", "user")), CHANGES), max_size=12)


@given(steps=STEPS)
def test_the_fold_of_the_log_is_the_state_as_it_was_written_step_by_step(
    steps: list[tuple[str, StateUpdate] | None],
) -> None:
    state = WorkingState()
    log: tuple[LogItem, ...] = (user("u"),)
    for n, step in enumerate(steps):
        if step is None:
            log = (*log, user(f"u{n}"))
            state = carried(*log)
            continue
        writer, change = step
        origin = MODEL_WRITES if writer == "model" else USER_WRITES
        origin = origin.model_copy(update={"item_id": f"a{n}-c" if writer == "model" else None})
        answer = ENGINE.update(context(), state, change, origin)
        if isinstance(answer, Updated):
            state = answer.state
        log = (*log, *told(n, origin, change, accepted=isinstance(answer, Updated)))
    assert carried(*log) == state


def told(n: int, origin: WriteOrigin, change: StateUpdate, *, accepted: bool) -> tuple[LogItem, ...]:
    """What the log says of a write."""
    if origin.by == "model":
        return control(f"a{n}", change, ResultStatus.OK if accepted else ResultStatus.ERROR)
    return (WorkingStateWritten(id=f"w{n}", origin=origin, update=change),) if accepted else ()
