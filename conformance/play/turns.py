"""What users, models and tools say, as it enters the log."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from contextproof.conformance.contract.answers import Denied, Updated
from contextproof.conformance.contract.calls import AuthorizeCall, CarryCall, UpdateCall
from contextproof.conformance.contract.items import (
    WORKING_STATE_TOOL,
    AssistantMessage,
    ResultStatus,
    ToolCall,
    ToolResult,
    UserMessage,
    WorkingStateWritten,
)
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.contract.working_state import StateUpdate, WriteOrigin
from contextproof.conformance.play.formation import offer
from contextproof.conformance.play.recipes import arguments_of
from contextproof.conformance.play.scenario import Call, ModelReplies, UserSays, WriteState
from contextproof.conformance.play.session import Session
from contextproof.conformance.play.trace import AuthorizeRecord, CarryRecord, UpdateRecord

#: The source of what the runtime itself writes.
RUNTIME = "runtime"


def user(session: Session, step: UserSays) -> None:
    """A turn ends (what is open is closed, facts are asked for) and the next begins."""
    interrupt_open_calls(session)
    if session.turn:
        offer(session, closed=False)
    session.turn += 1
    session.recall = ()
    session.unsent = None
    session.awaits_reply = False
    session.append(
        UserMessage(
            id=step.id,
            text=session.resolver.text(step.text),
            derived_from=session.known(step.derived_from),
        )
    )
    _carry(session)


def _carry(session: Session) -> None:
    if not session.answers("carry"):
        return
    context, before = session.context(), session.working_state
    answer = session.call(CarryCall(context=context, log=session.log))
    session.note(
        CarryRecord(
            context=context,
            step=session.step,
            log_length=len(session.log),
            state=before,
            answer=answer,
        )
    )
    session.working_state = answer.state


def interrupt_open_calls(session: Session) -> None:
    """Close every call that was never answered."""
    for call in session.open_calls.values():
        session.append(
            ToolResult(
                id=f"{call.id}:interrupted",
                call_id=call.call_id,
                status=ResultStatus.INTERRUPTED,
                text="interrupted before a result came",
                source=RUNTIME,
                trust=Trust.INTERNAL,
            )
        )
    session.open_calls.clear()


def reply(session: Session, step: ModelReplies) -> None:
    """The model's response enters the log; its calls are authorized, made and answered."""
    if not session.awaits_reply:
        reason = "no request was sent that this could answer"
        session.skip(reason)
        return
    session.awaits_reply = False
    session.append(
        AssistantMessage(
            id=step.id,
            text=session.resolver.text(step.text),
            derived_from=session.known(step.derived_from),
        )
    )
    calls = {call.id: (call, _call_item(session, step, call)) for call in step.calls}
    for _, item in calls.values():
        session.append(item)
    denials = {item.id: _authorize(session, item) for _, item in calls.values()}
    mute: set[str] = set()
    for call, item in _in_order_of_results(step, calls):
        # Results of one id pair in order: behind a call without one, the rest of its id has none.
        result = None if item.call_id in mute else denials[item.id] or _answer(session, call, item)
        if result is None:
            mute.add(item.call_id)
            session.open_calls[item.id] = item
        else:
            session.append(result)


def _in_order_of_results(
    step: ModelReplies, calls: dict[str, tuple[Call, ToolCall]]
) -> Iterator[tuple[Call, ToolCall]]:
    """Calls as their results come in; those of one call id in the order in which they were made."""
    waiting: dict[str, list[str]] = {}
    for identifier, (_, item) in calls.items():
        waiting.setdefault(item.call_id, []).append(identifier)
    for identifier in step.order or tuple(calls):
        _, item = calls[identifier]
        yield calls[waiting[item.call_id].pop(0)]


def _call_item(session: Session, step: ModelReplies, call: Call) -> ToolCall:
    if call.update is None:
        arguments = session.resolver.text(call.arguments)
    else:
        arguments = arguments_of(session.resolver.update(call.update))
    return ToolCall(
        id=call.id,
        message_id=step.id,
        call_id=call.call_id,
        name=session.resolver.text(call.name),
        arguments=arguments,
        derived_from=session.known(call.derived_from),
    )


def _authorize(session: Session, item: ToolCall) -> ToolResult | None:
    """The result that denies the call, or None where it is allowed."""
    if not session.answers("authorize"):
        return None
    context, live = session.context(), session.live()
    answer = session.call(AuthorizeCall(context=context, plan=session.plan, live=live, call=item))
    session.note(
        AuthorizeRecord(
            context=context,
            step=session.step,
            plan=session.plan_index,
            live=live,
            call=item,
            answer=answer,
        )
    )
    if not isinstance(answer, Denied):
        return None
    session.use_ids([answer.result.id])
    return answer.result


def _answer(session: Session, call: Call, item: ToolCall) -> ToolResult | None:
    """What an allowed call brings back: the engine's word on working state, or the tool's."""
    if item.name == WORKING_STATE_TOOL:
        return _write_by_model(session, item)
    if call.outcome is None:
        return None
    return ToolResult(
        id=call.outcome.id,
        call_id=item.call_id,
        status=ResultStatus(call.outcome.status),
        text=session.resolver.text(call.outcome.text),
        source=session.resolver.text(call.outcome.source),
        trust=call.outcome.trust,
        derived_from=session.known(call.outcome.derived_from),
    )


def _write_by_model(session: Session, item: ToolCall) -> ToolResult:
    try:
        update = StateUpdate.from_json(item.arguments)
    except ValidationError:
        return _control_result(item, ResultStatus.ERROR, "these arguments are not an update of working state")
    problem = _update(session, update, WriteOrigin(by="model", item_id=item.id))
    if problem:
        return _control_result(item, ResultStatus.ERROR, problem)
    return _control_result(item, ResultStatus.OK, "working state is updated")


def _control_result(item: ToolCall, status: ResultStatus, text: str) -> ToolResult:
    return ToolResult(
        id=f"{item.id}:result",
        call_id=item.call_id,
        status=status,
        text=text,
        source=RUNTIME,
        trust=Trust.INTERNAL,
    )


def _update(session: Session, update: StateUpdate, origin: WriteOrigin) -> str:
    """Put an update to the engine; returns why it was rejected, or nothing."""
    if not session.answers("update"):
        return "this builder has no working state"
    context, before = session.context(), session.working_state
    answer = session.call(UpdateCall(context=context, state=before, update=update, origin=origin))
    session.note(
        UpdateRecord(
            context=context,
            step=session.step,
            state=before,
            update=update,
            origin=origin,
            answer=answer,
        )
    )
    if isinstance(answer, Updated):
        session.working_state = answer.state
        return ""
    return str(answer.reason)


def write_state(session: Session, step: WriteState) -> None:
    """The user or the runtime changes working state; an accepted change enters the log."""
    update = session.resolver.update(step.change)
    origin = WriteOrigin(by=step.by)
    if not _update(session, update, origin):
        session.append(WorkingStateWritten(id=step.id, origin=origin, update=update))
