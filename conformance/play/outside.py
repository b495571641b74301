"""Changes from outside: the engine is told of every one and decides itself what follows."""

from __future__ import annotations

from contextproof.conformance.contract.answers import Planned
from contextproof.conformance.contract.calls import ApplyCall, OpenSessionCall
from contextproof.conformance.contract.items import EnvironmentItem, MemoryCorrection, RecallItem
from contextproof.conformance.contract.session import (
    Change,
    ClockAdvanced,
    ForcedRevocation,
    MemoryChanged,
    ModelSpec,
    PermissionsChanged,
    RoutingChanged,
    ToolsRegistered,
)
from contextproof.conformance.play.recipes import size_model
from contextproof.conformance.play.scenario import (
    ChangeRouting,
    CorrectMemory,
    Recall,
    RegisterTools,
    RevokeByForce,
    SetClock,
    SetEnvironment,
    SetPermissions,
    SetSummarizer,
    WriteMemory,
)
from contextproof.conformance.play.session import Session
from contextproof.conformance.play.trace import ApplyRecord

#: A window, in tokens, under which nothing that a scenario holds is ever pressed.
ROOMY_WINDOW = 16_000_000


def roomy(model: ModelSpec) -> ModelSpec:
    """The same model with room for everything."""
    return model.model_copy(update={"window": ROOMY_WINDOW})


def _tell(session: Session, change: Change) -> None:
    """Tell the engine; put its plan in force where it answers one, and route where it did not refuse."""
    if not session.answers("apply"):
        return
    context, live, before = session.context(), session.live(), session.plan_index
    answer = session.call(ApplyCall(context=context, plan=session.plan, change=change, live=live))
    session.note(
        ApplyRecord(context=context, step=session.step, plan=before, change=change, live=live, answer=answer)
    )
    if isinstance(answer, Planned):
        if answer.plan != session.plan:
            session.plans.append(answer.plan)
        if isinstance(change, RoutingChanged):
            session.model = change.model
        _tell_roomy(session, change)


def _tell_roomy(session: Session, change: Change) -> None:
    """Keep the roomy plan beside the one in force, so that side builds stay comparable."""
    if session.roomy_plan is None:
        return
    if isinstance(change, RoutingChanged):
        change = RoutingChanged(model=roomy(change.model))
    context = session.context(session.roomy_plan.opening.model).model_copy(
        update={"epoch": session.roomy_plan.epoch}
    )
    answer = session.call(
        ApplyCall(context=context, plan=session.roomy_plan, change=change, live=session.live())
    )
    session.roomy_plan = answer.plan if isinstance(answer, Planned) else None


def permissions(session: Session, step: SetPermissions) -> None:
    """Permissions change softly."""
    session.permissions = tuple(session.resolver.text(name) for name in step.permissions)
    _tell(session, PermissionsChanged(permissions=session.permissions))


def tools(session: Session, step: RegisterTools) -> None:
    """Tool sources register their tools anew."""
    session.tools = tuple(session.resolver.tool(tool) for tool in step.tools)
    _tell(session, ToolsRegistered(tools=session.tools))


def remember(session: Session, step: WriteMemory) -> None:
    """A memory is written: it is live, and stays out of the snapshot."""
    session.memory = (*session.memory, session.resolver.memory(step))
    session.known_ids.add(step.id)
    _tell(session, MemoryChanged(memory=session.memory))


def correct(session: Session, step: CorrectMemory) -> None:
    """A memory is corrected: it changes live, and a correction line goes to the body."""
    text = session.resolver.text(step.text)
    session.corrections = (
        *session.corrections,
        MemoryCorrection(
            id=step.id,
            memory_id=step.memory_id,
            text=text,
            trust=step.trust,
            derived_from=session.known(step.derived_from),
        ),
    )
    session.known_ids.add(step.id)
    session.memory = tuple(
        item.model_copy(update={"text": text}) if item.id == step.memory_id else item
        for item in session.memory
    )
    _tell(session, MemoryChanged(memory=session.memory))


def clock(session: Session, step: SetClock) -> None:
    """Time goes on."""
    session.clock = step.clock
    _tell(session, ClockAdvanced(clock=step.clock))


def routing(session: Session, step: ChangeRouting) -> None:
    """The session is routed to another model, sized by this builder's prefix under it if need be."""
    model = size_model(step.model, 0)
    if step.model.body_tokens is not None:
        measured = session.call(
            OpenSessionCall(
                context=session.context(roomy(model)).model_copy(update={"epoch": 1}),
                opening=session.plan.opening.model_copy(update={"model": roomy(model)}),
            )
        )
        model = size_model(step.model, measured.plan.prefix_tokens if isinstance(measured, Planned) else 0)
    _tell(session, RoutingChanged(model=model))


def forced_revocation(session: Session, step: RevokeByForce) -> None:
    """The operator withdraws a tool; it is no longer permitted either."""
    name = session.resolver.text(step.tool)
    session.permissions = tuple(permitted for permitted in session.permissions if permitted != name)
    _tell(session, ForcedRevocation(tool=name))


def recall(session: Session, step: Recall) -> None:
    """Items are retrieved for the turn."""
    session.recall = tuple(
        RecallItem(
            id=item.id,
            text=session.resolver.text(item.text),
            source=session.resolver.text(item.source),
            trust=item.trust,
            derived_from=session.known(item.derived_from),
        )
        for item in step.items
    )
    session.known_ids.update(item.id for item in step.items)


def environment(session: Session, step: SetEnvironment) -> None:
    """The runtime tells something else from now on."""
    session.environment = tuple(
        EnvironmentItem(id=item.id, text=session.resolver.text(item.text)) for item in step.items
    )


def summarizer(session: Session, step: SetSummarizer) -> None:
    """The summarizer behaves otherwise from now on."""
    session.summarizer = step
