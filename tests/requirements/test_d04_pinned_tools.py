"""Decision 4 on hand-written traces."""

from __future__ import annotations

from collections.abc import Sequence

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract import items as i
from contextproof.conformance.contract.items import ToolDefinition, content
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import Live, PermissionsChanged
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.play.trace import AuthorizeRecord, Trace
from contextproof.conformance.requirements import d04_pinned_tools as d04
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import declared, holds, unjudged, violation

LOG = (t.user("u1"),)
CALENDAR = ToolDefinition(
    id="tool:calendar", name="calendar", description="Read it.", parameters_json="{}", source="mcp"
)
REWORDED = t.TOOL.model_copy(update={"description": "Search everything."})


def _trace(change: object = None, **live: object) -> Trace:
    return t.trace(LOG, [t.opened(), t.build(LOG, change=change, live=t.live(**live))])  # type: ignore[arg-type]


def test_pinned_tools_hold_whatever_is_live() -> None:
    gone = _trace(permissions=("calendar",), tools=(REWORDED, CALENDAR))
    assert holds("CTX-04.1", gone) == declared("CTX-04.1")


def _without(item_id: str) -> object:
    return lambda blocks: [x for x in blocks if x.item_id != item_id]


def test_a_revoked_tool_that_is_dropped_is_a_violation_that_says_so() -> None:
    found = violation("CTX-04.1", _trace(_without(t.TOOL.id), permissions=(t.STATE_TOOL.name,)))
    assert found.seen == "tool 'search' is missing (it is no longer permitted)"
    assert found.at.item_id == t.TOOL.id


def test_a_definition_as_registered_now_is_a_violation() -> None:
    def live(blocks: tuple[Block, ...]) -> list[Block]:
        return [b.block(REWORDED) if x.item_id == t.TOOL.id else x for x in blocks]

    found = violation("CTX-04.1", _trace(live, tools=(REWORDED, t.STATE_TOOL)))
    assert found.seen == "tool 'search' is not as pinned (it is registered otherwise now)"


def test_a_tool_granted_later_that_enters_the_prefix_is_a_violation() -> None:
    def more(blocks: tuple[Block, ...]) -> list[Block]:
        return [*blocks[:3], b.block(CALENDAR), *blocks[3:]]

    found = violation("CTX-04.1", _trace(more))
    assert found.seen == "tool_definition 'tool:calendar' was never pinned"


def test_a_definition_as_structural_json_holds() -> None:
    def structural(blocks: tuple[Block, ...]) -> list[Block]:
        wire = '{"type":"function","trust":"operator","function":%s}'
        return [
            x.model_copy(update={"envelope": None, "text": wire % content(t.TOOL)})
            if x.item_id == t.TOOL.id
            else x
            for x in blocks
        ]

    holds("CTX-04.1", _trace(structural))


def test_a_plan_that_should_not_have_been_made_is_told_as_that() -> None:
    first, second = t.plan(), t.plan(t.opening(tools=(t.STATE_TOOL,)), epoch=2)
    change = t.applied(PermissionsChanged(permissions=()), a.Planned(plan=second))
    records = [t.opened(), change, t.build(LOG, of=second, index=1)]
    found = violation("CTX-04.1", t.trace(LOG, records, plans=(first, second)))
    assert found.follows == ("CTX-05.2", "CTX-05.4", "CTX-05.6")


def _authorized(answer: a.Allowed | a.Denied, *, name: str = "search", live: Live | None = None) -> Trace:
    record = AuthorizeRecord(
        context=t.context(),
        step=1,
        plan=0,
        live=live or t.live(),
        call=t.call("k1", "a1", name=name),
        answer=answer,
    )
    return t.trace(LOG, [t.opened(), record])


REVOKED = t.live(permissions=())


def _denial(call_id: str = "k1", status: str = "denied") -> a.Denied:
    result = t.result("d1", call_id, status=status, trust=Trust.INTERNAL)
    return a.Denied(reason="not permitted", result=result)


def test_a_revoked_call_that_is_denied_holds() -> None:
    trace = _authorized(_denial(), live=REVOKED)
    assert holds("CTX-04.2", trace) == {d04.REVOKED_CALL}
    unjudged("CTX-04.3", trace)


def test_a_revoked_call_that_is_allowed_is_a_violation() -> None:
    found = violation("CTX-04.2", _authorized(a.Allowed(), live=REVOKED))
    assert found.seen == "the call to 'search' was allowed"


def test_a_denial_that_closes_another_call_is_a_violation() -> None:
    found = violation("CTX-04.2", _authorized(_denial("other"), live=REVOKED))
    assert "for call id 'other', not 'k1'" in found.seen


def test_a_denial_with_an_error_result_is_a_violation() -> None:
    found = violation("CTX-04.2", _authorized(_denial(status="error"), live=REVOKED))
    assert found.seen.endswith("with a result of status error")


def test_a_permitted_call_that_is_allowed_holds() -> None:
    trace = _authorized(a.Allowed())
    assert holds("CTX-04.3", trace) == {d04.PERMITTED_CALL}
    unjudged("CTX-04.2", trace)


def test_a_permitted_call_that_is_denied_is_a_violation() -> None:
    assert "was denied: 'not permitted'" in violation("CTX-04.3", _authorized(_denial())).seen


def test_a_call_to_a_tool_that_is_permitted_and_not_pinned_must_be_denied() -> None:
    granted = t.live(permissions=("calendar", "search"), tools=(CALENDAR, t.TOOL))
    holds("CTX-04.3", _authorized(_denial(), name="calendar", live=granted))
    found = violation("CTX-04.3", _authorized(a.Allowed(), name="calendar", live=granted))
    assert found.seen == "the call to 'calendar' was allowed, and the tool is not pinned"


def _pair(change: object = None) -> Trace:
    main = t.build(LOG)
    side = t.build(LOG, purpose="other_live", live=REVOKED, change=change)  # type: ignore[arg-type]
    return t.trace(LOG, [t.opened(), main, side])


def test_the_same_request_under_other_permissions_holds() -> None:
    assert holds("CTX-04.4", _pair()) == {d04.OTHER_PERMISSIONS}


def test_a_body_that_names_permissions_is_a_violation() -> None:
    def told(blocks: tuple[Block, ...]) -> list[Block]:
        return [*blocks[:-1], b.block(t.environment("e", "You may not search.")), blocks[-1]]

    found = violation("CTX-04.4", _pair(told))
    assert "You may not search." in found.seen
    assert found.follows == ()


def _played(log: Sequence[i.LogItem], change: object = None, **live: object) -> Trace:
    built, sent = t.sent(log, live=t.live(**live), change=change)
    return t.trace(log, [t.opened(), built, sent])


def _tells(blocks: tuple[Block, ...]) -> list[Block]:
    return [*blocks[:-1], b.block(t.environment("e", "You may not search.")), blocks[-1]]


def test_a_play_without_permission_changes_sends_the_same_requests() -> None:
    witnesses = holds("CTX-04.4", _played(LOG, permissions=()), _played(LOG))
    assert witnesses == {d04.OTHER_PLAY}


def test_a_play_in_which_permissions_show_is_a_violation() -> None:
    found = violation("CTX-04.4", _played(LOG, _tells, permissions=()), _played(LOG))
    assert "whose permissions stay as they were" in found.seen


def test_after_a_denial_the_two_plays_may_differ() -> None:
    denied = t.result("r1", "k1", status=i.ResultStatus.DENIED)
    log = (t.user("u1"), t.assistant("a1"), t.call("c1", "a1", call_id="k1"), denied)
    unjudged("CTX-04.4", _played(log, _tells, permissions=()), _played(LOG))


def test_a_prefix_that_names_permissions_is_told_as_the_matter_of_the_prefix() -> None:
    assert violation("CTX-04.4", _pair(_without(t.TOOL.id))).follows == ("CTX-01.4",)


def test_only_permitted_tools_pinned_holds() -> None:
    opening = t.opening(permissions=("search",))
    assert holds("CTX-04.5", t.trace(LOG, [t.opened(opening)])) == {d04.NOT_PERMITTED}


def test_a_pinned_tool_that_was_not_permitted_is_a_violation() -> None:
    opening = t.opening(permissions=("search",))
    every = t.plan(t.opening())
    trace = t.trace(LOG, [t.opened(opening, answer=a.Planned(plan=every))])
    assert "'tool:state'" in violation("CTX-04.5", trace).seen


def test_a_change_that_is_absorbed_pins_nothing_new() -> None:
    plan = t.plan()
    change = t.applied(PermissionsChanged(permissions=()), a.Planned(plan=plan), now=REVOKED)
    holds("CTX-04.1", t.trace(LOG, [t.opened(), change, t.build(LOG, of=plan, live=REVOKED)]))
