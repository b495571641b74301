"""Reading a log or a request: what answers what, what is whose turn, what a checkpoint covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contextproof.conformance.contract import items
from contextproof.conformance.contract.answers import InvalidInput, InvalidKind, Validated, Violation
from contextproof.conformance.contract.items import LogItem, Message, ToolCall, ToolResult, UserMessage
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.request import Request
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import MESSAGE_TYPES, Slot

#: Type, id and call id of a message or of its block.
_Beat = tuple[str, str, str | None]


class Paired(NamedTuple):
    """Ids of calls with their results, of calls without a result, of results without a call."""

    pairs: list[tuple[str, str]]
    unanswered: list[str]
    stray: list[str]


class Turn(NamedTuple):
    """The turn a log is in.

    Attributes:
        current: the user's message that started it.
        active: ids of its latest assistant message with calls, of these calls and of their results.
        standing: the messages that no checkpoint covers, in the log's order.
        older: those of them that may give way: all but the current message and the active ones.
    """

    current: UserMessage
    active: list[str]
    standing: list[Message]
    older: list[Message]
    slots: dict[str, Slot]


def paired(log: Iterable[LogItem]) -> Paired:
    """Which result of a log answers which call."""
    return _paired((m.type, m.id, getattr(m, "call_id", None)) for m in log if isinstance(m, Message))


def _paired(beats: Iterable[_Beat]) -> Paired:
    """A result answers the first open call of its id, of the assistant message that it follows."""
    found = Paired([], [], [])
    waiting: list[tuple[str, str | None]] = []
    for kind, name, call_id in beats:
        if kind == "tool_call":
            waiting.append((name, call_id))
        elif kind == "tool_result":
            call = next((call for call in waiting if call[1] == call_id), None)
            if call is None:
                found.stray.append(name)
            else:
                waiting.remove(call)
                found.pairs.append((call[0], name))
        else:
            found.unanswered.extend(name for name, _ in waiting)
            waiting = []
    found.unanswered.extend(name for name, _ in waiting)
    return found


def complaint(log: Sequence[LogItem]) -> InvalidInput | None:
    """Why no request can be made of a log, if none can."""
    found = paired(log)
    for item in log:
        if isinstance(item, items.UndeclaredItem):
            return InvalidInput(kind=InvalidKind.UNDECLARED_TYPE, subject=item.type)
    for name in found.unanswered:
        return InvalidInput(kind=InvalidKind.UNANSWERED_CALL, subject=name)
    for name in found.stray:
        return InvalidInput(kind=InvalidKind.ORPHANED_RESULT, subject=name)
    if not any(isinstance(item, UserMessage) for item in log):
        return InvalidInput(kind=InvalidKind.MALFORMED, subject="log", detail="no user message")
    return None


def validate(context: CallContext, request: Request) -> Validated:  # noqa: ARG001
    """What is wrong with the pairs of a request."""
    beats = [(b.type, b.item_id or "", b.call_id) for b in request.blocks if b.type in MESSAGE_TYPES]
    found = _paired(beats)
    times = Counter(name for _, name, _ in beats)
    wrong = [(InvalidKind.ORPHANED_CALL, name) for name in found.unanswered]
    wrong += [(InvalidKind.ORPHANED_RESULT, name) for name in found.stray]
    wrong += [(InvalidKind.MALFORMED, name) for name in times if times[name] > 1]
    return Validated(violations=tuple(Violation(kind=kind, subject=name) for kind, name in wrong))


def turn_of(log: Sequence[LogItem], checkpoint: Checkpoint | None) -> Turn:
    """The turn that a log is in. The log has a user message."""
    place, current = max((n, item) for n, item in enumerate(log) if isinstance(item, UserMessage))
    active = _active(log[place + 1 :])
    covers, passed_over = (checkpoint.covers, checkpoint.passed_over) if checkpoint else (0, ())
    standing, slots = [], {}
    for n, item in enumerate(log):
        if isinstance(item, Message) and (n >= covers or item.id in passed_over):
            standing.append(item)
            slots[item.id] = Slot.HISTORY if n < place else Slot.ACTIVE if n > place else Slot.CURRENT
    older = [item for item in standing if item.id not in (current.id, *active)]
    return Turn(current, active, standing, older, slots)


def _active(said: Sequence[LogItem]) -> list[str]:
    """Ids of the latest assistant message with calls, of its calls and of their results."""
    latest: list[str] = []
    unit: list[str] = []
    for item in said:
        if isinstance(item, items.AssistantMessage):
            unit = [item.id]
        elif isinstance(item, ToolCall | ToolResult):
            unit.append(item.id)
            latest = unit
    return latest
