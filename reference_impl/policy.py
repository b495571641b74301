"""Authorization when a call is made (decision 4). A definition in a prompt grants nothing."""

from __future__ import annotations

from contextproof.conformance.contract.answers import Allowed, Denied
from contextproof.conformance.contract.items import ResultStatus, ToolCall, ToolResult
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.session import Live
from contextproof.conformance.contract.vocabulary import Trust

NOT_PINNED = "Denied: no tool of this name is among those this session was opened with."
REVOKED = "Denied: the permission for this tool has been withdrawn."


def authorize(plan: Plan, live: Live, call: ToolCall) -> Allowed | Denied:
    """Allowed where the tool is pinned and permitted right now.

    The denying result is the runtime's own words. They do not repeat the tool's name: a call may
    stem from untrusted content, and its words must not come back under a better label.
    """
    is_pinned = any(tool.name == call.name for tool in plan.opening.tools)
    if is_pinned and call.name in live.permissions:
        return Allowed()
    reason = REVOKED if is_pinned else NOT_PINNED
    result = ToolResult(
        id=live.ids[0],
        call_id=call.call_id,
        status=ResultStatus.DENIED,
        text=reason,
        source="runtime",
        trust=Trust.INTERNAL,
    )
    return Denied(reason=reason, result=result)
