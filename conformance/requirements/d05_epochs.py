"""Decision 5: what cannot be absorbed rotates the prefix, in the open and exactly once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.caps import MIN_BODY
from contextproof.conformance.contract.events import EpochRotated
from contextproof.conformance.contract.items import ToolDefinition
from contextproof.conformance.contract.measures import ceiling, over_cap
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import (
    ClockAdvanced,
    ForcedRevocation,
    MemoryChanged,
    PermissionsChanged,
    RoutingChanged,
    ToolsRegistered,
)
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import TOOL_DEFINITION
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import ApplyRecord, Trace
from contextproof.conformance.requirements.oracles_text import interior
from contextproof.conformance.requirements.oracles_tools import (
    applied,
    must_rotate,
    pinned_by_plan,
)
from contextproof.conformance.requirements.oracles_views import name
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

ROUTED = "a change of model or provider"
OTHER_TOKENIZER = "a change to a model with another tokenizer"
REVOKED_BY_FORCE = "an operator's forced revocation of a pinned tool"
REVOKED_UNPINNED = "an operator's forced revocation of a tool that is not pinned"
ABSORBED_BEFORE = "permissions, tools or memory changed before the rotation"

TOLD_OF_PERMISSIONS = "told of a change of permissions"
TOLD_OF_TOOLS = "told of tools registered anew"
TOLD_OF_MEMORY = "told of memory written or corrected"
TOLD_OF_CLOCK = "told that time went on"

ANSWERED_THE_SAME = "a change that rotates nothing"

#: What a refusal may count more than we do, as one part in so many.
_SLACK = 10


@requirement(
    "CTX-05.1",
    MUST,
    scenarios="revocations",
    witnesses=(ROUTED, REVOKED_BY_FORCE),
    ports=("apply",),
    cost="Requests go to a model that the plan was not measured for, or show a tool withdrawn at once.",
)
def unabsorbable_change_rotates(trace: Trace) -> Iterator[Judgement]:
    """A change of routing, or a forced revocation of a pinned tool, is answered by the next epoch.

    Provider, endpoint, model and reasoning mode are routing. The other answer is a refusal, where
    the prefix is over a cap or the ceiling by the new model's measure.
    """
    for index, record, old, pinned in _told(trace):
        if not must_rotate(record, old, pinned):
            continue
        problem = _not_rotated(record, old, pinned)
        yield judge(
            not problem,
            at=at(index, record.context),
            seen=f"told of {_change(record)}, {problem}",
            required=f"the plan of epoch {old.epoch + 1}, or a refusal that is true",
            witnesses=(_rotating(record),),
        )


def _told(
    trace: Trace,
) -> Iterator[tuple[int, ApplyRecord, Plan, tuple[ToolDefinition, ...]]]:
    """Changes, with the plan then in force and the tools pinned in it."""
    pinned = pinned_by_plan(trace)
    for index, record in applied(trace):
        yield index, record, trace.plans[record.plan], pinned[record.plan]


def _rotating(record: ApplyRecord) -> str:
    return ROUTED if isinstance(record.change, RoutingChanged) else REVOKED_BY_FORCE


def _change(record: ApplyRecord) -> str:
    match record.change:
        case RoutingChanged(model=model):
            return f"a change of routing to {quoted(model.name)}"
        case ForcedRevocation(tool=tool):
            return f"the forced revocation of {quoted(tool)}"
        case change:
            return f"a change of {change.kind}"


def _not_rotated(record: ApplyRecord, old: Plan, pinned: Sequence[ToolDefinition]) -> str:
    """How an answer is neither the next epoch's plan nor a refusal that may be true."""
    answer = record.answer
    if isinstance(answer, a.Planned):
        epoch = answer.plan.epoch
        return "" if epoch == old.epoch + 1 else f"the engine stayed with a plan of epoch {epoch}"
    change = record.change
    model = change.model if isinstance(change, RoutingChanged) else old.opening.model
    opening = old.opening.model_copy(
        update={
            "model": model,
            "tools": tuple(pinned),
            "permissions": tuple(tool.name for tool in pinned),
        }
    )
    room = ceiling(model)
    # A rotation alters no byte of what stays, so the new prefix is the old one, counted anew.
    anew = sum(count(model.tokenizer, b.text) + model.overhead_per_block for b in old.blocks)
    fits = anew * (_SLACK + 1) <= room * _SLACK
    if model.limit >= MIN_BODY and not over_cap(opening) and fits:
        return f"the engine refused, naming {answer.token_class} {answer.measured} of {answer.cap}"
    return ""


@requirement(
    "CTX-05.2",
    MUST,
    gate=Gate.ONE_PREFIX,
    scenarios="revocations",
    witnesses=(TOLD_OF_PERMISSIONS, TOLD_OF_TOOLS, TOLD_OF_MEMORY, TOLD_OF_CLOCK),
    ports=("apply",),
    cost="Ordinary life, a permission or a memory, costs a whole prefix each time.",
)
def anything_else_is_absorbed(trace: Trace) -> Iterator[Judgement]:
    """Told of any other change, the engine answers the very plan in force."""
    for index, record, old, pinned in _told(trace):
        change = record.change
        if must_rotate(record, old, pinned) is not False or isinstance(change, ForcedRevocation):
            continue
        answer = record.answer
        yield judge(
            isinstance(answer, a.Planned) and answer.plan == old,
            at=at(index, record.context),
            seen=f"told of {_change(record)}, {_other_plan(answer, old)}",
            required=f"the plan of epoch {old.epoch}, unchanged",
            witnesses=_TOLD_OF.get(type(change), ()),
        )


_TOLD_OF: dict[type, tuple[str, ...]] = {
    PermissionsChanged: (TOLD_OF_PERMISSIONS,),
    ToolsRegistered: (TOLD_OF_TOOLS,),
    MemoryChanged: (TOLD_OF_MEMORY,),
    ClockAdvanced: (TOLD_OF_CLOCK,),
}


_HARD = (RoutingChanged, ForcedRevocation)
_SOFT = (PermissionsChanged, ToolsRegistered, MemoryChanged)


def _other_plan(answer: a.PlanAnswer, old: Plan) -> str:
    if isinstance(answer, a.Refused):
        return f"the engine refused, naming {answer.token_class}"
    if answer.plan.epoch != old.epoch:
        return f"the engine rotated to epoch {answer.plan.epoch}"
    changed = [field for field in Plan.model_fields if getattr(answer.plan, field) != getattr(old, field)]
    return f"the plan changed in {listed(changed)}"


@requirement(
    "CTX-05.3",
    MUST,
    scenarios="revocations",
    witnesses=(ROUTED, REVOKED_BY_FORCE, ANSWERED_THE_SAME),
    ports=("apply",),
    cost="Nobody can tell from the records why and when a session started to cost more.",
)
def rotation_is_told_once(trace: Trace) -> Iterator[Judgement]:
    """Each rotation emits one `context.epoch.rotated`, with cause, both epochs and both hashes.

    A change that rotates nothing emits none, and so does every other answer.
    """
    for index, record in enumerate(trace.records):
        answer = getattr(record, "answer", None)
        if answer is None:
            continue
        events = [event for event in answer.events if isinstance(event, EpochRotated)]
        if isinstance(record, ApplyRecord):
            old = trace.plans[record.plan]
            problem = _badly_told(record, old, events)
            unwarranted = _is_rotation(record, old) and not isinstance(record.change, _HARD)
            witness = _rotating(record) if _is_rotation(record, old) else ANSWERED_THE_SAME
        elif events:
            problem, witness = f"{record.record} emitted it too", ANSWERED_THE_SAME
            unwarranted = False
        else:
            continue
        yield judge(
            not problem,
            at=at(index, record.context),
            seen=problem,
            required="one context.epoch.rotated for each rotation, true in every field",
            witnesses=(witness,),
            follows=("CTX-05.2",) if unwarranted else (),
        )


def _is_rotation(record: ApplyRecord, old: Plan) -> bool:
    return isinstance(record.answer, a.Planned) and record.answer.plan.epoch != old.epoch


def _badly_told(record: ApplyRecord, old: Plan, events: Sequence[EpochRotated]) -> str:
    if not isinstance(record.answer, a.Planned) or not _is_rotation(record, old):
        return f"{len(events)} events where nothing rotated" if events else ""
    if len(events) != 1:
        return f"{len(events)} events for one rotation"
    new, event = record.answer.plan, events[0]
    told = {
        "cause": (event.cause, record.change.kind),
        "epoch": (event.epoch, new.epoch),
        "from_epoch": (event.from_epoch, old.epoch),
        "to_epoch": (event.to_epoch, new.epoch),
        "from_sha256": (event.from_sha256, old.prefix_sha256),
        "to_sha256": (event.to_sha256, new.prefix_sha256),
    }
    wrong = [f"{field} {said!r}, not {true!r}" for field, (said, true) in told.items() if said != true]
    return f"the event says {'; '.join(wrong)}" if wrong else ""


@requirement(
    "CTX-05.4",
    MUST,
    scenarios="revocations",
    witnesses=(REVOKED_BY_FORCE, REVOKED_UNPINNED),
    ports=("apply",),
    cost="The operator withdraws a tool, and the model goes on being offered it.",
)
def forced_revocation_removes_the_tool(trace: Trace) -> Iterator[Judgement]:
    """After a forced revocation the tool's definition is gone from the prefix.

    Revoking a tool that is not in the prefix rotates nothing.
    """
    for index, record, old, pinned in _told(trace):
        if not isinstance(record.change, ForcedRevocation):
            continue
        answer, revoked = record.answer, record.change.tool
        where = at(index, record.context)
        if not must_rotate(record, old, pinned):
            yield judge(
                isinstance(answer, a.Planned) and answer.plan == old,
                at=where,
                seen=f"revoking {quoted(revoked)}, which is not pinned: {_other_plan(answer, old)}",
                required="the plan in force, unchanged",
                witnesses=(REVOKED_UNPINNED,),
            )
        elif isinstance(answer, a.Planned) and answer.plan.epoch != old.epoch:
            ids = {tool.id for tool in pinned if tool.name == revoked}
            left = [b for b in answer.plan.blocks if b.type == TOOL_DEFINITION and b.item_id in ids]
            names = [tool.name for tool in answer.plan.opening.tools]
            yield judge(
                not left and revoked not in names,
                at=where,
                seen=f"epoch {answer.plan.epoch} still pins {quoted(revoked)}",
                required="its definition gone from the next epoch",
                witnesses=(REVOKED_BY_FORCE,),
            )


@requirement(
    "CTX-05.5",
    MUST,
    scenarios="revocations",
    witnesses=(ROUTED, OTHER_TOKENIZER),
    ports=("apply",),
    cost="A budget measured for one model overruns the other's window.",
)
def routing_is_measured_anew(trace: Trace) -> Iterator[Judgement]:
    """After a change of routing the plan is the new model's, measured with its tokenizer."""
    for index, record, old, _ in _told(trace):
        answer, change = record.answer, record.change
        if not isinstance(change, RoutingChanged) or not isinstance(answer, a.Planned):
            continue
        if not _is_rotation(record, old):
            continue
        model, new = change.model, answer.plan
        true_tokens = sum(
            count(model.tokenizer, block.text) + model.overhead_per_block for block in new.blocks
        )
        problem = ""
        if new.opening.model != model:
            problem = f"the plan is for {quoted(new.opening.model.name)}, not {quoted(model.name)}"
        elif new.prefix_tokens != true_tokens:
            problem = (
                f"the plan says {new.prefix_tokens} prefix tokens; "
                f"by {model.tokenizer} they are {true_tokens}"
            )
        other = model.tokenizer != old.opening.model.tokenizer
        yield judge(
            not problem,
            at=at(index, record.context),
            seen=problem,
            required=f"a plan for {quoted(model.name)}, measured by {model.tokenizer}",
            witnesses=(ROUTED, *((OTHER_TOKENIZER,) if other else ())),
        )


@requirement(
    "CTX-05.6",
    MUST,
    scenarios="revocations",
    witnesses=(ROUTED, REVOKED_BY_FORCE, ABSORBED_BEFORE),
    ports=("apply",),
    cost="A rotation smuggles in what was never decided, and no two epochs can be compared.",
)
def rotation_changes_nothing_else(trace: Trace) -> Iterator[Judgement]:
    """A rotation leaves the rest of the prefix as it was.

    Soft revocations, grants, tools registered anew and memory written meanwhile stay out of it.
    """
    absorbed = False
    for index, record, old, pinned in _told(trace):
        answer, change = record.answer, record.change
        if not isinstance(answer, a.Planned) or not _is_rotation(record, old):
            absorbed = absorbed or isinstance(change, _SOFT)
            continue
        if must_rotate(record, old, pinned) is False:
            continue
        revoked = change.tool if isinstance(change, ForcedRevocation) else None
        gone = {tool.id for tool in pinned if tool.name == revoked}
        problem = _changed_besides(old, answer.plan, gone)
        yield judge(
            not problem,
            at=at(index, record.context),
            seen=f"with {_change(record)}, {problem}",
            required="the prefix as it was, less a tool revoked by force",
            witnesses=(_rotating(record), *((ABSORBED_BEFORE,) if absorbed else ())),
        )


def _changed_besides(old: Plan, new: Plan, gone: set[str]) -> str:
    """What else changed in the prefix; nothing where it is only what is gone."""
    before = [block for block in old.blocks if block.item_id not in gone]
    after = {_key(block): block for block in new.blocks if block.item_id not in gone}
    for block in before:
        other = after.pop(_key(block), None)
        if other is None:
            return f"{name(block)} left the prefix"
        if interior(other) != interior(block):
            return f"{name(block)} became {quoted(interior(other))}"
    if after:
        return f"{name(next(iter(after.values())))} entered the prefix"
    order = [_key(block) for block in new.blocks if block.item_id not in gone]
    return "" if order == [_key(block) for block in before] else "blocks changed places"


def _key(block: Block) -> tuple[str, str]:
    return block.type, block.item_id or ""
