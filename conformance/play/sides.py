"""What is asked beside the main line, so that requirements can compare single builds.

Sessions opened beside the one played, builds under other circumstances, and requests shown to the
validator with a defect. Nothing here changes the session.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextproof.conformance.contract.answers import BuildAnswer, Planned
from contextproof.conformance.contract.calls import BuildCall, OpenSessionCall, ValidateCall
from contextproof.conformance.contract.items import LogItem
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block, Request
from contextproof.conformance.contract.session import CallContext, Live, Opening
from contextproof.conformance.play.outside import roomy
from contextproof.conformance.play.recipes import reordered
from contextproof.conformance.play.session import Session
from contextproof.conformance.play.trace import (
    BuildPurpose,
    BuildRecord,
    OpenPurpose,
    OpenRecord,
    ValidateRecord,
)

#: All there is beside the main line.
ALL_SIDES = frozenset(
    {"reordered", "other_secret", "roomy", "repeat", "other_live", "watch", "estimates", "defects"}
)
#: Requests shown to the validator with defects, in one play: enough for every shape of a session.
_MAX_DEFECT_ROUNDS = 12


def openings(session: Session, opening: Opening) -> None:
    """Open the sessions beside the one played."""
    if "reordered" in session.sides:
        _open(session, "reordered", reordered(opening))
    if "other_secret" in session.sides:
        secret = f"not {opening.platform_secret}"
        _open(session, "other_secret", opening.model_copy(update={"platform_secret": secret}))
    if "roomy" in session.sides:
        model = roomy(opening.model)
        session.roomy_plan = _open(session, "roomy", opening.model_copy(update={"model": model}))


def _open(session: Session, purpose: OpenPurpose, opening: Opening) -> Plan | None:
    # Those whose plans are not built on are other sessions, so that what is keyed to one shows.
    name = session.scenario.name if purpose == "roomy" else f"{session.scenario.name}, {purpose}"
    context = session.context(opening.model).model_copy(update={"epoch": 1, "session": name})
    answer = session.call(OpenSessionCall(context=context, opening=opening))
    session.note(OpenRecord(context=context, step=-1, purpose=purpose, opening=opening, answer=answer))
    return answer.plan if isinstance(answer, Planned) else None


def beside(session: Session, context: CallContext, inputs: BuildInputs) -> None:
    """The builds beside a main build of these inputs."""
    if "repeat" in session.sides:
        _build(session, "repeat", context, session.plan, inputs)
    if "other_live" in session.sides:
        changed = inputs.model_copy(update={"live": other_live(session, inputs.live)})
        _build(session, "other_live", context, session.plan, changed)
    if session.roomy_plan is not None and session.roomy_plan.epoch == session.plan.epoch:
        plan = session.roomy_plan
        wide = context.model_copy(update={"model": plan.opening.model})
        _build(session, "roomy", wide, plan, inputs)


def _build(
    session: Session, purpose: BuildPurpose, context: CallContext, plan: Plan, inputs: BuildInputs
) -> None:
    handed = inputs.model_copy(deep=True) if session.hands_copies else inputs
    answer = session.call(BuildCall(context=context, plan=plan, inputs=handed))
    note_build(session, purpose, context, inputs, answer)


def note_build(
    session: Session,
    purpose: BuildPurpose,
    context: CallContext,
    inputs: BuildInputs,
    answer: BuildAnswer,
    *,
    probed: tuple[LogItem, ...] = (),
    unchanged: bool = True,
) -> None:
    """Write a build down. Of its inputs' log, ``probed`` entries are no part of the session."""
    session.note(
        BuildRecord(
            context=context,
            step=session.step,
            purpose=purpose,
            plan=session.plan_index,
            inputs=session.recorded(inputs, probed),
            answer=answer,
            inputs_unchanged=unchanged,
        )
    )


def other_live(session: Session, live: Live) -> Live:
    """Everything live, otherwise: later, others permitted, tools reversed and reworded, other memory."""
    names = tuple(tool.name for tool in session.tools if tool.name not in live.permissions)
    tools = tuple(
        tool.model_copy(update={"description": f"{tool.description} (reworded)"} if n == 0 else {})
        for n, tool in enumerate(reversed(live.tools))
    )
    memory = tuple(item.model_copy(update={"text": f"{item.text} (since)"}) for item in live.memory)
    return Live(
        clock="2031-12-31T23:59:59+14:00",
        permissions=names,
        tools=tools,
        memory=memory,
        ids=tuple(f"other-{name}" for name in live.ids),
        attempt=live.attempt + 1,
    )


def validations(session: Session, request: Request) -> None:
    """Show the validator a request as built, and now and then with each defect that applies."""
    if not session.answers("validate"):
        return
    _validate(session, None, request)
    has_calls = any(block.type == "tool_call" for block in request.blocks)
    if "defects" in session.sides and has_calls and session.defects_shown < _MAX_DEFECT_ROUNDS:
        session.defects_shown += 1
        for name, blocks in defects(request.blocks):
            _validate(session, name, request.model_copy(update={"blocks": blocks}))


def _validate(session: Session, defect: str | None, request: Request) -> None:
    context = session.context()
    answer = session.call(ValidateCall(context=context, request=request))
    session.note(
        ValidateRecord(context=context, step=session.step, defect=defect, request=request, answer=answer)
    )


def defects(blocks: tuple[Block, ...]) -> Iterator[tuple[str, tuple[Block, ...]]]:
    """Malformed variations of well-formed blocks, each with what was done to them."""
    calls = [n for n, block in enumerate(blocks) if block.type == "tool_call"]
    results = [n for n, block in enumerate(blocks) if block.type == "tool_result"]
    for n in _ends(results):
        yield "result dropped", _without(blocks, n)
        yield "result duplicated", (*blocks[: n + 1], blocks[n], *blocks[n + 1 :])
    for n in _ends(calls):
        yield "call dropped", _without(blocks, n)
        yield "call duplicated", (*blocks[: n + 1], blocks[n], *blocks[n + 1 :])
    if calls and results:
        first_call, first_result = calls[0], results[0]
        rest = _without(blocks, first_result)
        yield (
            "result before its call",
            (*rest[:first_call], blocks[first_result], *rest[first_call:]),
        )
        stray = blocks[first_result].model_copy(update={"call_id": "a call nobody made"})
        yield (
            "result of a call nobody made",
            (*blocks[:first_result], stray, *blocks[first_result + 1 :]),
        )
    later = [n for n, block in enumerate(blocks) if results and n > results[-1]]
    messages = [n for n in later if blocks[n].type in ("user_message", "assistant_message")]
    if messages:
        moved = blocks[results[-1]]
        at = messages[0]
        yield (
            "result after the next message",
            (
                *_without(blocks[: at + 1], results[-1]),
                moved,
                *blocks[at + 1 :],
            ),
        )


def _ends(places: list[int]) -> list[int]:
    return sorted({*places[:1], *places[-1:]})


def _without(blocks: tuple[Block, ...], n: int) -> tuple[Block, ...]:
    return (*blocks[:n], *blocks[n + 1 :])
