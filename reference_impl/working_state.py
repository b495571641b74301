"""Working state: typed, bounded, written whole or not at all, and carried by rule (decision 14)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from contextproof.conformance.contract.answers import Rejected, Updated
from contextproof.conformance.contract.caps import (
    CAPS,
    MAX_CONSTRAINTS,
    MAX_FACTS,
    MAX_QUESTIONS,
    MAX_TASKS,
)
from contextproof.conformance.contract.items import (
    WORKING_STATE_TOOL,
    AssistantMessage,
    LogItem,
    ResultStatus,
    ToolCall,
    ToolResult,
    UserMessage,
    WorkingStateWritten,
)
from contextproof.conformance.contract.session import ModelSpec
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.contract.working_state import (
    Constraint,
    Entry,
    Fact,
    OpenQuestion,
    StateUpdate,
    Task,
    WorkingState,
    WriteOrigin,
)
from contextproof.reference_impl.memo import FoldMemo

AnyEntry = TypeVar("AnyEntry", bound=Entry)
FieldName = Literal["constraints", "tasks", "established_facts", "open_questions", "tokens"]

STATE_CAP: Final = CAPS[TokenClass.WORKING_STATE]


def update(
    model: ModelSpec, state: WorkingState, change: StateUpdate, origin: WriteOrigin
) -> Updated | Rejected:
    """The state after a change, or why there is none and the state stands as it was.

    Whatever it removes, a change that leaves the state over its cap of tokens is rejected.
    """
    changed = applied(state, change, origin)
    if isinstance(changed, Rejected):
        return changed
    tokens = content_tokens(model, changed)
    if tokens > STATE_CAP:
        reason = f"working state would hold {tokens} tokens of {STATE_CAP}"
        return Rejected(field="tokens", cap=STATE_CAP, reason=reason)
    return Updated(state=changed)


def content_tokens(model: ModelSpec, state: WorkingState) -> int:
    """Tokens of a state's content, entry by entry, summed."""
    return sum(count(model.tokenizer, entry.text) for entry in state.entries())


def applied(state: WorkingState, change: StateUpdate, origin: WriteOrigin) -> WorkingState | Rejected:
    """The state after a change, bounded in numbers; tokens are not looked at.

    At their caps facts evict the oldest, tasks the oldest that is over, and questions the oldest that
    is resolved, but never what this very change wrote. Constraints are never evicted.
    """
    if origin.by == "model" and _touches_constraints(state, change):
        reason = "a constraint is removed or reworded only by the user or the runtime"
        return Rejected(field="constraints", cap=None, reason=reason)
    constraints = tuple(c for c in state.constraints if c.id not in change.remove_constraints)
    facts = tuple(_with_writer(fact, origin) for fact in change.established_facts)
    fields = (
        _bounded("constraints", MAX_CONSTRAINTS, constraints, _new_constraints(state, change, origin)),
        _bounded("tasks", MAX_TASKS, state.tasks, change.tasks, _is_over),
        _bounded("established_facts", MAX_FACTS, state.established_facts, facts, _always),
        _bounded("open_questions", MAX_QUESTIONS, state.open_questions, change.open_questions, _is_resolved),
    )
    merged: dict[str, Sequence[Entry]] = {}
    for outcome in fields:
        if isinstance(outcome, Rejected):
            return outcome
        merged[outcome[0]] = outcome[1]
    return WorkingState.model_validate(merged)


def _touches_constraints(state: WorkingState, change: StateUpdate) -> bool:
    """Whether a change removes or rewords a constraint that stands."""
    texts = {constraint.id: constraint.text for constraint in state.constraints}
    removed = any(name in texts for name in change.remove_constraints)
    return removed or any(texts.get(c.id, c.text) != c.text for c in change.constraints)


def _new_constraints(state: WorkingState, change: StateUpdate, origin: WriteOrigin) -> tuple[Constraint, ...]:
    """Constraints that a change writes; what the model says again stays as the user wrote it."""
    if origin.by != "model":
        return change.constraints
    standing = {constraint.id for constraint in state.constraints}
    return tuple(c for c in change.constraints if c.id not in standing)


def _with_writer(fact: Fact, origin: WriteOrigin) -> Fact:
    """A fact that the model writes, with its call among what it derives from."""
    if origin.by != "model" or origin.item_id is None or origin.item_id in fact.derived_from:
        return fact
    return fact.model_copy(update={"derived_from": (*fact.derived_from, origin.item_id)})


def _never(_: Entry) -> bool:
    return False


def _always(_: Entry) -> bool:
    return True


def _is_over(task: Task) -> bool:
    return task.is_over


def _is_resolved(question: OpenQuestion) -> bool:
    return question.resolved


def _bounded(
    field: FieldName,
    cap: int,
    before: Sequence[AnyEntry],
    written: Sequence[AnyEntry],
    may_leave: Callable[[AnyEntry], bool] = _never,
) -> tuple[FieldName, tuple[AnyEntry, ...]] | Rejected:
    """A field with entries written: known ids replaced in place, new ones behind, the oldest out."""
    by_id = {entry.id: entry for entry in before}
    by_id |= {entry.id: entry for entry in written}
    fresh = {entry.id for entry in written}
    entries = list(by_id.values())
    leaving = [entry for entry in entries if entry.id not in fresh and may_leave(entry)]
    excess = max(0, len(entries) - cap)
    if excess > len(leaving):
        reason = f"there would be {len(entries)} of at most {cap}, and too few of them may leave"
        return Rejected(field=field, cap=cap, reason=reason)
    gone = {entry.id for entry in leaving[:excess]}
    return field, tuple(entry for entry in entries if entry.id not in gone)


@dataclass(frozen=True)
class _Carried:
    """The fold of a log so far: the state, and the unit's calls that have no result yet."""

    state: WorkingState
    open_calls: tuple[ToolCall, ...] = ()


_MEMO: FoldMemo[None, _Carried] = FoldMemo()


def carry(log: tuple[LogItem, ...]) -> Updated:
    """The state as a log tells it: every accepted change in turn, and at each user message the rule.

    Across a turn boundary go all constraints and facts, tasks that are not over, and questions that
    are not resolved. Accepted is what the user or the runtime wrote, and every call of the control
    tool whose result is ok.
    """
    return Updated(state=_MEMO.fold(None, log, _nothing, _extended).state)


def _nothing() -> _Carried:
    return _Carried(WorkingState())


def _extended(carried: _Carried, log: tuple[LogItem, ...]) -> _Carried:
    for item in log:
        carried = _after(carried, item)
    return carried


def _after(carried: _Carried, item: LogItem) -> _Carried:
    match item:
        case UserMessage():
            return _Carried(_across_turns(carried.state))
        case AssistantMessage():
            return _Carried(carried.state)
        case ToolCall():
            return _Carried(carried.state, (*carried.open_calls, item))
        case ToolResult():
            return _answered(carried, item)
        case WorkingStateWritten():
            return _Carried(_accepted(carried.state, item.update, item.origin), carried.open_calls)
        case _:
            return carried


def _across_turns(state: WorkingState) -> WorkingState:
    tasks = tuple(task for task in state.tasks if not task.is_over)
    questions = tuple(question for question in state.open_questions if not question.resolved)
    return state.model_copy(update={"tasks": tasks, "open_questions": questions})


def _answered(carried: _Carried, result: ToolResult) -> _Carried:
    """A result closes the first open call of its unit with its id; ok, the control tool's took effect."""
    call = next((c for c in carried.open_calls if c.call_id == result.call_id), None)
    if call is None:
        return carried
    left = tuple(c for c in carried.open_calls if c is not call)
    if call.name != WORKING_STATE_TOOL or result.status is not ResultStatus.OK:
        return _Carried(carried.state, left)
    try:
        change = StateUpdate.from_json(call.arguments)
    except ValueError:
        return _Carried(carried.state, left)
    origin = WriteOrigin(by="model", item_id=call.id)
    return _Carried(_accepted(carried.state, change, origin), left)


def _accepted(state: WorkingState, change: StateUpdate, origin: WriteOrigin) -> WorkingState:
    """The state after a change that a log says was accepted; one that cannot have been changes nothing."""
    changed = applied(state, change, origin)
    return state if isinstance(changed, Rejected) else changed
