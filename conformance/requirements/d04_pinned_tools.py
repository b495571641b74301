"""Decision 4: tools are pinned at session open, and authorized when they are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import ResultStatus, ToolDefinition, ToolResult
from contextproof.conformance.contract.measures import permitted
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import Live
from contextproof.conformance.contract.vocabulary import TOOL_DEFINITION
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import AuthorizeRecord, Sent, Trace
from contextproof.conformance.requirements.oracles_prefix import change_between
from contextproof.conformance.requirements.oracles_text import is_whole
from contextproof.conformance.requirements.oracles_tools import (
    pinned_by_plan,
)
from contextproof.conformance.requirements.oracles_views import (
    Made,
    beside,
    made,
    name,
    of_type,
    openings,
)
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

REVOKED_SINCE = "a pinned tool that is no longer permitted"
REWORDED_SINCE = "a pinned tool that is registered otherwise now"
GONE_SINCE = "a pinned tool that is registered no longer"
GRANTED_SINCE = "a tool that was permitted only after the opening"

REVOKED_CALL = "a call to a pinned tool that is no longer permitted"
PERMITTED_CALL = "a call to a pinned tool that is permitted"
UNPINNED_CALL = "a call to a tool that is not pinned"

OTHER_PERMISSIONS = "the same build under other permissions"
OTHER_PLAY = "the same session, in which permissions did not change"
NOT_PERMITTED = "a tool registered and not permitted at the opening"


@requirement(
    "CTX-04.1",
    MUST,
    gate=Gate.ONE_PREFIX,
    scenarios="revocations",
    witnesses=(REVOKED_SINCE, REWORDED_SINCE, GONE_SINCE, GRANTED_SINCE),
    cost="Each permission change re-caches the prefix and shows in cache timing.",
)
def pinned_tools_stay(trace: Trace) -> Iterator[Judgement]:
    """Every request of an epoch carries the tool definitions pinned for it, whatever is live.

    Those are the tools permitted when the session opened, as registered then, less what an operator
    revoked by force since.
    """
    pinned = pinned_by_plan(trace)
    for built in made(trace):
        tools = pinned[built.build.plan]
        live = built.build.inputs.live
        problem, item_id = _unlike_pinned(trace, built, tools, live)
        yield judge(
            not problem,
            at=built.at(item_id),
            seen=problem,
            required=f"the {len(tools)} definitions pinned for epoch {built.plan.epoch}",
            witnesses=_since(tools, live),
            # An engine true to a plan that it should not have made is wrong about the change.
            follows=("CTX-05.2", "CTX-05.4", "CTX-05.6") if _is_as_planned(built) else (),
        )


def _is_as_planned(built: Made) -> bool:
    """Whether a request carries the definitions of its plan, where that is not the session's first."""
    sent, planned = (of_type(blocks, TOOL_DEFINITION) for blocks in (built.blocks, built.plan.blocks))
    return built.build.plan > 0 and sent == planned


def _unlike_pinned(
    trace: Trace, built: Made, tools: Sequence[ToolDefinition], live: Live
) -> tuple[str, str | None]:
    """What is wrong with a request's definitions, and the item it is about."""
    carried = of_type(built.blocks, TOOL_DEFINITION)
    for tool in tools:
        mine = [block for block in carried if block.item_id == tool.id]
        if len(mine) != 1:
            often = "is missing" if not mine else f"stands {len(mine)} times"
            return f"tool {quoted(tool.name)} {often}{_why(tool, live)}", tool.id
        if not is_whole(trace.manifest, mine[0], tool):
            return f"tool {quoted(tool.name)} is not as pinned{_why(tool, live)}", tool.id
    ids = {tool.id for tool in tools}
    added = [block for block in carried if block.item_id not in ids]
    if added:
        return f"{name(added[0])} was never pinned", added[0].item_id
    return "", None


def _why(tool: ToolDefinition, live: Live) -> str:
    """What is live about a tool, where it is not as it was."""
    now = [registered for registered in live.tools if registered.id == tool.id]
    if tool.name not in live.permissions:
        return " (it is no longer permitted)"
    if not now:
        return " (it is no longer registered)"
    return " (it is registered otherwise now)" if now[0] != tool else ""


def _since(tools: Sequence[ToolDefinition], live: Live) -> Iterator[str]:
    registered = {tool.id: tool for tool in live.tools}
    names = {tool.name for tool in tools}
    if any(tool.name not in live.permissions for tool in tools):
        yield REVOKED_SINCE
    if any(registered.get(tool.id, tool) != tool for tool in tools):
        yield REWORDED_SINCE
    if any(tool.id not in registered for tool in tools):
        yield GONE_SINCE
    if any(tool.name in live.permissions and tool.name not in names for tool in live.tools):
        yield GRANTED_SINCE


@requirement(
    "CTX-04.2",
    MUST,
    scenarios="revocations",
    witnesses=(REVOKED_CALL,),
    ports=("authorize",),
    cost="A revoked capability is still exercised.",
)
def revoked_call_is_denied(trace: Trace) -> Iterator[Judgement]:
    """A call to a pinned tool that is no longer permitted is denied when it is made.

    The answer gives a reason, and the result item that closes the call as denied.
    """
    for index, record, is_pinned, is_permitted in _authorized(trace):
        if is_pinned and not is_permitted:
            yield judge(
                not _not_denied(record),
                at=at(index, record.context, record.call.id),
                seen=_not_denied(record),
                required="denied, with a result of status denied that answers the call's own id",
                witnesses=(REVOKED_CALL,),
            )


def _authorized(trace: Trace) -> Iterator[tuple[int, AuthorizeRecord, bool, bool]]:
    """Calls put to the gate, with whether their tool is pinned and permitted."""
    pinned = pinned_by_plan(trace)
    for index, record in enumerate(trace.records):
        if isinstance(record, AuthorizeRecord):
            names = {tool.name for tool in pinned[record.plan]}
            called = record.call.name
            yield index, record, called in names, called in record.live.permissions


def _not_denied(record: AuthorizeRecord) -> str:
    """How a denial falls short; nothing where it is as required."""
    answer, call = record.answer, record.call
    tool = f"the call to {quoted(call.name)}"
    if not isinstance(answer, a.Denied):
        return f"{tool} was allowed"
    if answer.result.status is not ResultStatus.DENIED:
        return f"{tool} was denied with a result of status {answer.result.status}"
    if answer.result.call_id != call.call_id:
        return (
            f"{tool} was denied with a result for call id {quoted(answer.result.call_id)}, "
            f"not {quoted(call.call_id)}"
        )
    return ""


@requirement(
    "CTX-04.3",
    MUST,
    scenarios="revocations",
    witnesses=(PERMITTED_CALL, UNPINNED_CALL),
    ports=("authorize",),
    cost="The agent cannot use what it was given, or uses what it was never shown.",
)
def permitted_call_is_allowed(trace: Trace) -> Iterator[Judgement]:
    """A call to a pinned tool that is permitted now is allowed; a call to any other tool is denied."""
    for index, record, is_pinned, is_permitted in _authorized(trace):
        where = at(index, record.context, record.call.id)
        if not is_pinned:
            yield judge(
                not _not_denied(record),
                at=where,
                seen=f"{_not_denied(record)}, and the tool is not pinned",
                required="denied, with the result that closes the call",
                witnesses=(UNPINNED_CALL,),
            )
        elif is_permitted:
            answer = record.answer
            reason = answer.reason if isinstance(answer, a.Denied) else ""
            yield judge(
                isinstance(answer, a.Allowed),
                at=where,
                seen=f"the call to {quoted(record.call.name)} was denied: {quoted(reason)}",
                required="allowed: the tool is pinned and permitted",
                witnesses=(PERMITTED_CALL,),
            )


@requirement(
    "CTX-04.4",
    MUST,
    scenarios="revocations",
    witnesses=(OTHER_PERMISSIONS, OTHER_PLAY),
    variation="without_permission_changes",
    needs_variation=False,
    cost="Who watches timing or size of requests learns who may do what.",
)
def permissions_do_not_show(trace: Trace, unchanged: Trace | None = None) -> Iterator[Judgement]:
    """Permissions show in a request only through the result of a call that was denied.

    The same inputs under other permissions, with all else that is live changed too, give the same
    bytes; and so does the same session in which permissions stay as they were at its opening, until
    a call is denied in one of the two.
    """
    if unchanged is not None:
        yield from _same_until_denied(trace, unchanged)
    for pair in beside(trace, "other_live"):
        first, second = pair.main.answer, pair.side.answer
        if not isinstance(first, a.Built):
            continue
        if not isinstance(second, a.Built):
            problem = f"the build answered {second.answer.replace('_', ' ')} instead of a request"
        else:
            problem = _unlike(first.request.blocks, second.request.blocks)
        change = change_between(first.request, second.request) if isinstance(second, a.Built) else None
        permissions = pair.main.inputs.live.permissions != pair.side.inputs.live.permissions
        yield judge(
            not problem,
            at=pair.at(),
            seen=f"under other live values alone, {problem}",
            required="the same request, byte for byte",
            witnesses=(OTHER_PERMISSIONS,) if permissions else (),
            follows=("CTX-01.4",) if change is not None else (),
        )


def _same_until_denied(trace: Trace, unchanged: Trace) -> Iterator[Judgement]:
    """Requests of both plays, one by one, up to the first that can show a denial."""
    for ours, theirs in zip(trace.sent, unchanged.sent, strict=False):
        if _shows_denial(trace, ours) or _shows_denial(unchanged, theirs):
            return
        problem = _unlike(ours.request.blocks, theirs.request.blocks)
        differ = ours.build.inputs.live.permissions != theirs.build.inputs.live.permissions
        yield judge(
            not problem,
            at=at(ours.record, ours.build.context),
            seen=f"in the session whose permissions stay as they were, {problem}",
            required="the same request, byte for byte, until a call is denied",
            witnesses=(OTHER_PLAY,) if differ else (),
        )


def _shows_denial(trace: Trace, sent: Sent) -> bool:
    log = trace.log[: sent.build.inputs.log_length]
    return any(isinstance(i, ToolResult) and i.status is ResultStatus.DENIED for i in log)


def _unlike(first: Sequence[Block], second: Sequence[Block]) -> str:
    for before, after in zip(first, second, strict=False):
        if before != after:
            return f"{name(before)} became {name(after)}: {quoted(after.text)}"
    if len(first) != len(second):
        return f"the request has {len(second)} blocks instead of {len(first)}"
    return ""


@requirement(
    "CTX-04.5",
    MUST,
    scenarios="openings",
    witnesses=(NOT_PERMITTED,),
    ports=("open_session",),
    cost="The model is shown tools that it may never use, in every request.",
)
def only_permitted_tools_are_pinned(trace: Trace) -> Iterator[Judgement]:
    """A tool that is not permitted when the session opens is not pinned."""
    for index, record in openings(trace):
        if not isinstance(record.answer, a.Planned):
            continue
        allowed = {tool.id for tool in permitted(record.opening)}
        barred = {tool.id for tool in record.opening.tools} - allowed
        plan = record.answer.plan
        shown = {block.item_id for block in of_type(plan.blocks, TOOL_DEFINITION)}
        shown |= {tool.id for tool in plan.opening.tools}
        wrong = sorted(shown & barred)  # type: ignore[type-var]
        yield judge(
            not wrong,
            at=at(index, record.context, wrong[0] if wrong else None),
            seen=f"pinned without being permitted: {listed(str(item) for item in wrong)}",
            required="only tools permitted at the opening",
            witnesses=(NOT_PERMITTED,) if barred else (),
        )
