"""Working state: its updates, what of it crosses a turn, and the facts it offers to memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, TypeVar

from pydantic import ValidationError

from contextproof.calibration.odd.plain.blocks import entry_trust
from contextproof.calibration.odd.plain.reading import paired
from contextproof.conformance.contract import caps, items
from contextproof.conformance.contract.answers import Candidate, Candidates, Rejected, Updated
from contextproof.conformance.contract.items import LogItem, ToolCall, ToolResult, UserMessage
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.trust import log_trust, opening_trust
from contextproof.conformance.contract.vocabulary import TokenClass, Trust
from contextproof.conformance.contract.working_state import (
    Entry,
    Fact,
    StateUpdate,
    WorkingState,
    WriteOrigin,
)

_E = TypeVar("_E", bound=Entry)
_Field = Literal["constraints", "tasks", "established_facts", "open_questions"]

_MOST: Final[dict[_Field, int]] = {
    "constraints": caps.MAX_CONSTRAINTS,
    "tasks": caps.MAX_TASKS,
    "established_facts": caps.MAX_FACTS,
    "open_questions": caps.MAX_QUESTIONS,
}
_MOST_TOKENS: Final = caps.CAPS[TokenClass.WORKING_STATE]
_BARRED: Final = "a constraint that stands is not the model's to change"
_BAN: Final = "it rests on untrusted content, which memory may not be written from"


def update(
    context: CallContext, state: WorkingState, update: StateUpdate, origin: WriteOrigin
) -> Updated | Rejected:
    """The state after an update, or what forbids it."""
    if origin.by == "model" and _touches_constraints(state, update):
        return Rejected(field="constraints", cap=None, reason=_BARRED)
    new = _written(state, update, origin)
    for field, most in _MOST.items():
        if len(getattr(new, field)) > most:
            return Rejected(field=field, cap=most, reason="it would hold too many, and none may go")
    if sum(count(context.model.tokenizer, entry.text) for entry in new.entries()) > _MOST_TOKENS:
        return Rejected(field="tokens", cap=_MOST_TOKENS, reason="its texts would be too long together")
    return Updated(state=new)


def carry(context: CallContext, log: tuple[LogItem, ...]) -> Updated:  # noqa: ARG001
    """The state as the log tells it, up to the boundary that its last user message is."""
    last = max((n for n, item in enumerate(log) if isinstance(item, UserMessage)), default=-1)
    state = WorkingState()
    for step in _steps(log[: last + 1]):
        state = _crossed(state) if step is None else _written(state, *step)
    return Updated(state=state)


def candidates(
    context: CallContext,  # noqa: ARG001
    plan: Plan,
    log: tuple[LogItem, ...],
    state: WorkingState,
) -> Candidates:
    """Every fact, once the session is closed; those of untrusted origin with the reason of their ban."""
    if not any(isinstance(item, items.SessionClosed) for item in log):
        return Candidates()
    trust = log_trust(log, opening_trust(plan.opening))
    facts = state.established_facts
    return Candidates(
        candidates=tuple(_candidate(f, entry_trust(f, trust) is Trust.EXTERNAL_UNTRUSTED) for f in facts)
    )


def _candidate(fact: Fact, is_banned: bool) -> Candidate:
    reason = _BAN if is_banned else None
    return Candidate(fact=fact, provenance=fact.derived_from, eligible=not is_banned, reason=reason)


def _touches_constraints(state: WorkingState, update: StateUpdate) -> bool:
    standing = {entry.id: entry.text for entry in state.constraints}
    rewords = any(standing.get(entry.id, entry.text) != entry.text for entry in update.constraints)
    return rewords or any(name in standing for name in update.remove_constraints)


def _written(state: WorkingState, update: StateUpdate, origin: WriteOrigin) -> WorkingState:
    """The state with an update in it, and without the oldest of what may give way."""
    left = tuple(entry for entry in state.constraints if entry.id not in update.remove_constraints)
    tasks = _merged(state.tasks, update.tasks)
    facts = _merged(state.established_facts, [_with_origin(f, origin) for f in update.established_facts])
    questions = _merged(state.open_questions, update.open_questions)
    return WorkingState(
        constraints=_merged(left, update.constraints),
        tasks=_at_most(caps.MAX_TASKS, tasks, lambda task: task.is_over),
        established_facts=_at_most(caps.MAX_FACTS, facts, lambda _: True),
        open_questions=_at_most(caps.MAX_QUESTIONS, questions, lambda question: question.resolved),
    )


def _with_origin(fact: Fact, origin: WriteOrigin) -> Fact:
    """A fact that the model writes rests on the call by which it does."""
    if origin.by != "model" or origin.item_id is None or origin.item_id in fact.derived_from:
        return fact
    return fact.model_copy(update={"derived_from": (*fact.derived_from, origin.item_id)})


def _merged(old: Sequence[_E], new: Sequence[_E]) -> tuple[_E, ...]:
    """Entries of known ids replaced where they stand, the others added."""
    return tuple({entry.id: entry for entry in (*old, *new)}.values())


def _at_most(most: int, entries: tuple[_E, ...], may_go: Callable[[_E], bool]) -> tuple[_E, ...]:
    surplus = max(0, len(entries) - most)
    going = [entry.id for entry in entries if may_go(entry)][:surplus]
    return tuple(entry for entry in entries if entry.id not in going)


def _crossed(state: WorkingState) -> WorkingState:
    """The state without tasks that are over, and without questions that are resolved."""
    tasks = tuple(task for task in state.tasks if not task.is_over)
    questions = tuple(question for question in state.open_questions if not question.resolved)
    return state.model_copy(update={"tasks": tasks, "open_questions": questions})


def _steps(log: Sequence[LogItem]) -> Iterator[tuple[StateUpdate, WriteOrigin] | None]:
    """What a log did to working state: updates that were accepted, and None for a turn boundary.

    A model's update was accepted, and took effect, where its call was answered with ok.
    """
    calls = {item.id: item for item in log if isinstance(item, ToolCall)}
    call_of = {result: calls[call] for call, result in paired(log).pairs}
    for item in log:
        if isinstance(item, UserMessage):
            yield None
        elif isinstance(item, items.WorkingStateWritten):
            yield item.update, item.origin
        elif isinstance(item, ToolResult) and item.status is items.ResultStatus.OK and item.id in call_of:
            yield from _write(call_of[item.id])


def _write(call: ToolCall) -> Iterator[tuple[StateUpdate, WriteOrigin]]:
    """The update that a call makes; none, where it is another tool's or no update."""
    if call.name == items.WORKING_STATE_TOOL:
        try:
            yield StateUpdate.from_json(call.arguments), WriteOrigin(by="model", item_id=call.id)
        except ValidationError:
            return
