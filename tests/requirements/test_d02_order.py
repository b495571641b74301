"""Decision 2 on hand-written traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import Place, Slot
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.requirements import d02_order as d02
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import holds, unjudged, violation

LOG = (
    t.user("u1"),
    t.assistant("a1"),
    t.user("u2"),
    t.assistant("a2"),
    t.call("k1", "a2"),
    t.call("k2", "a2"),
    t.result("r2", "k2"),
    t.result("r1", "k1"),
)


def _trace(change: Callable[[tuple[Block, ...]], Iterable[Block]] | None = None) -> Trace:
    return t.trace(LOG, [t.opened(), t.build(LOG, change=change)])


def _moved(item_id: str, to: int) -> Callable[[tuple[Block, ...]], list[Block]]:
    """The blocks with one of them put elsewhere."""

    def change(blocks: tuple[Block, ...]) -> list[Block]:
        rest = [x for x in blocks if x.item_id != item_id]
        mine = [x for x in blocks if x.item_id == item_id]
        place = to if to >= 0 else len(rest) + 1 + to
        return [*rest[:place], *mine, *rest[place:]]

    return change


def test_policy_first_and_the_message_last_hold() -> None:
    assert holds("CTX-02.1", _trace()) == {d02.IN_MID_TURN, d02.EARLIER_TURNS}


def test_something_after_the_current_message_is_a_violation() -> None:
    found = violation("CTX-02.1", _trace(_moved("r1", -1)))
    assert found.seen == "tool_result 'r1' stands after or instead of the current user message"


def test_a_current_message_that_is_left_out_is_a_violation() -> None:
    violation("CTX-02.1", _trace(lambda blocks: [x for x in blocks if x.item_id != "u2"]))


def test_something_before_policy_is_a_violation() -> None:
    assert (
        "the first block is agent_instructions"
        in violation("CTX-02.1", _trace(_moved("instructions", 0))).seen
    )


def _active_last(blocks: tuple[Block, ...]) -> list[Block]:
    active = [x for x in blocks if x.slot is Slot.ACTIVE]
    return [*(x for x in blocks if x.slot is not Slot.ACTIVE), *active]


def test_the_active_slot_may_follow_the_message_only_where_that_is_declared() -> None:
    order = tuple(p for p in Place if p is not Place.ACTIVE)
    manifest = b.MANIFEST.model_copy(update={"order": (*order, Place.ACTIVE)})
    records = [t.opened(), t.build(LOG, change=_active_last)]
    declared = t.trace(LOG, records, manifest=manifest)
    holds("CTX-02.1", declared)
    holds("CTX-02.3", declared)
    violation("CTX-02.1", t.trace(LOG, records))


def test_region_a_before_region_b_holds() -> None:
    assert d02.EARLIER_TURNS in holds("CTX-02.2", _trace())


def test_instructions_amid_the_body_are_a_violation() -> None:
    found = violation("CTX-02.2", _trace(_moved("instructions", -2)))
    assert "'instructions' of region A stands after" in found.seen


def test_the_declared_order_holds() -> None:
    assert d02.EARLIER_TURNS in holds("CTX-02.3", _trace())


def test_recall_before_history_is_a_violation_of_the_declared_order() -> None:
    built = t.build(LOG, recall=(t.recall("x1"),), change=_moved("x1", 5))
    found = violation("CTX-02.3", t.trace(LOG, [t.opened(), built]))
    assert found.seen == "user_message 'u1' (history) stands after recall 'x1' (recall)"


def test_a_message_under_a_false_slot_is_a_violation() -> None:
    def aged(blocks: tuple[Block, ...]) -> list[Block]:
        old = {"slot": Slot.HISTORY}
        return [x.model_copy(update=old) if x.slot is Slot.ACTIVE else x for x in blocks]

    found = violation("CTX-02.3", _trace(aged))
    assert found.seen == "assistant_message 'a2' is sent in slot history, and is active"


def test_a_manifest_that_declares_policy_late_is_a_violation() -> None:
    late = (Place.FRAMING, Place.PLATFORM_POLICY, *tuple(Place)[2:])
    manifest = b.MANIFEST.model_copy(update={"order": late})
    found = violation("CTX-02.3", t.trace(LOG, [t.opened()], manifest=manifest))
    assert found.seen == "the manifest declares framing first"


def test_log_order_holds_with_results_in_order_of_completion() -> None:
    assert d02.OUT_OF_ORDER_RESULTS in holds("CTX-02.4", _trace())


def test_results_put_back_into_the_order_of_their_calls_are_a_violation() -> None:
    def swapped(blocks: tuple[Block, ...]) -> list[Block]:
        return _moved("r2", [x.item_id for x in blocks].index("r1"))(blocks)

    found = violation("CTX-02.4", _trace(swapped))
    assert found.seen == "tool_result 'r2' stands after tool_result 'r1', and came before it"


def _reordered(*, sorts: bool) -> Trace:
    first = t.opening()
    second = t.opening(tools=tuple(reversed(first.tools)))
    plan = t.plan(first) if sorts else t.plan(second)
    return t.trace(LOG, [t.opened(first), t.opened(second, purpose="reordered", answer=a.Planned(plan=plan))])


def test_an_engine_that_sorts_its_tools_holds() -> None:
    assert holds("CTX-02.5", _reordered(sorts=True)) == {d02.TWO_TOOLS}


def test_an_engine_that_keeps_the_order_of_registration_is_a_violation() -> None:
    found = violation("CTX-02.5", _reordered(sorts=False))
    assert "tool:search" in found.seen


def test_a_session_without_anything_to_reorder_is_not_judged() -> None:
    bare = t.opening(tools=())
    unjudged("CTX-02.5", t.trace(LOG, [t.opened(bare), t.opened(bare, purpose="reordered")]))
