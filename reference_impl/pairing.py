"""Which result answers which call (decision 9, and the ruling on the pairing unit).

A unit is an assistant message with what follows it up to the next assistant or user message. Within
a unit equal call ids are answered in order, and results may come in any order. Ids may recur in
later units, so nothing is ever looked up across the session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contextproof.conformance.contract.answers import InvalidKind, Violation
from contextproof.conformance.contract.vocabulary import (
    ASSISTANT_MESSAGE,
    TOOL_CALL,
    TOOL_RESULT,
    USER_MESSAGE,
)


class Step(NamedTuple):
    """One message as far as pairing goes. ``call_id`` is empty for what has none."""

    type: str
    item_id: str
    call_id: str


def violations(steps: Iterable[Step]) -> Iterator[Violation]:
    """All that is wrong with the pairs of some messages, in the order in which it stands there."""
    unit: list[Step] = []
    has_message = False
    seen: set[tuple[str, str]] = set()
    for step in steps:
        if step.type in (USER_MESSAGE, ASSISTANT_MESSAGE):
            yield from _in_unit(unit, has_message=has_message, seen=seen)
            unit, has_message = [], step.type == ASSISTANT_MESSAGE
        elif step.type in (TOOL_CALL, TOOL_RESULT):
            unit.append(step)
    yield from _in_unit(unit, has_message=has_message, seen=seen)


def _in_unit(unit: list[Step], *, has_message: bool, seen: set[tuple[str, str]]) -> Iterator[Violation]:
    """What is wrong within one unit. ``seen`` gathers the items that stood in earlier ones."""
    open_calls: list[Step] = []
    answered: set[str] = set()
    for place, step in enumerate(unit):
        key = (step.type, step.item_id)
        if key in seen:
            yield _violation(_TWICE[step.type], step, "stands in the request a second time")
        seen.add(key)
        if step.type == TOOL_CALL:
            open_calls.append(step)
            if not has_message:
                yield _violation(InvalidKind.ORPHANED_CALL, step, "belongs to no assistant message")
            continue
        call = next((call for call in open_calls if call.call_id == step.call_id), None)
        if call is not None:
            open_calls.remove(call)
            answered.add(step.call_id)
        else:
            later = {other.call_id for other in unit[place:] if other.type == TOOL_CALL}
            yield _stray(step, has_message=has_message, answered=answered, later=later)
    for call in open_calls:
        yield _violation(InvalidKind.UNANSWERED_CALL, call, "has no result before the next message")


_TWICE = {TOOL_CALL: InvalidKind.MALFORMED, TOOL_RESULT: InvalidKind.DUPLICATE_RESULT}


def _stray(result: Step, *, has_message: bool, answered: set[str], later: set[str]) -> Violation:
    """A result that answers no open call of its unit, by what seems to have happened to it."""
    if result.call_id in later:
        return _violation(InvalidKind.MISORDERED, result, "stands before the call it answers")
    if result.call_id in answered:
        return _violation(InvalidKind.DUPLICATE_RESULT, result, "answers a call that has its result")
    if not has_message:
        return _violation(InvalidKind.LATE_RESULT, result, "comes after the user's next message")
    return _violation(InvalidKind.ORPHANED_RESULT, result, "answers no call of its message")


def _violation(kind: InvalidKind, step: Step, what: str) -> Violation:
    return Violation(kind=kind, subject=step.item_id, detail=what)
