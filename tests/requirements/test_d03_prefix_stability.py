"""Decision 3 on hand-written traces."""

from __future__ import annotations

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import AgentInstructions, CompactionRecorded, LogItem
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.request import Block, prefix_sha256
from contextproof.conformance.play.trace import AuthorizeRecord, CompactRecord, Record, Trace
from contextproof.conformance.requirements import d03_prefix_stability as d03
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import declared, holds, unjudged, violation

LOG = (t.user("u1"), t.assistant("a1"), t.user("u2"))
TOMORROW = t.live(
    clock="2026-03-28T09:00:00+01:00", permissions=(), tools=(t.TOOL,), memory=(t.memory("m9"),)
)


def _stamped(date: str) -> object:
    def change(blocks: tuple[Block, ...]) -> list[Block]:
        framing = b.framing(f"{b.FRAMING_TEXT} Today is {date}.")
        return [framing if x.type == "framing" else x for x in blocks]

    return change


def test_the_hash_of_what_is_sent_holds() -> None:
    assert holds("CTX-03.1", t.trace(LOG, [t.opened(), *t.sent(LOG)])) == {d03.A_REQUEST}


def test_a_hash_over_sorted_tools_is_a_violation() -> None:
    plan = t.plan()
    tools = [x for x in plan.blocks if x.type == "tool_definition"]
    unsorted = (*plan.blocks[:3], *reversed(tools))
    assert sorted(x.text for x in unsorted) == sorted(x.text for x in plan.blocks)
    built = t.build(
        LOG, of=t.plan(blocks=unsorted), request_changes={"prefix_sha256": prefix_sha256(plan.blocks)}
    )
    found = violation("CTX-03.1", t.trace(LOG, [t.opened(), built]))
    assert plan.prefix_sha256[:12] in found.seen


def test_one_hash_through_a_session_holds() -> None:
    checkpoint = Checkpoint(id="cp", summary="They talked.", depth=1, covers=2)
    records = [t.opened(), *t.sent(LOG[:1]), *t.sent(LOG, live=TOMORROW, checkpoint=checkpoint)]
    assert holds("CTX-03.2", t.trace(LOG, records)) == declared("CTX-03.2")


def test_a_date_in_the_prefix_is_a_violation_that_shows_both_dates() -> None:
    records = [
        t.opened(),
        *t.sent(LOG[:1], request=1, change=_stamped("2026-03-27")),
        *t.sent(LOG, request=2, turn=2, change=_stamped("2026-03-28")),
    ]
    found = violation("CTX-03.2", t.trace(LOG, records))
    assert found.seen.startswith("since request 1 of epoch 1, framing changes in the prefix from")
    assert "2026-03-27" in found.seen
    assert "2026-03-28" in found.seen
    assert (found.at.turn, found.at.request) == (2, 2)
    assert found.follows == ()


def test_a_tool_that_left_the_prefix_is_told_as_the_matter_of_pinning() -> None:
    def dropped(blocks: tuple[Block, ...]) -> list[Block]:
        return [x for x in blocks if x.item_id != t.TOOL.id]

    records = [t.opened(), *t.sent(LOG[:1]), *t.sent(LOG, change=dropped)]
    found = violation("CTX-03.2", t.trace(LOG, records))
    assert found.follows == ("CTX-04.1",)


def test_instructions_cut_in_mid_session_are_told_as_the_matter_of_the_whole_prefix() -> None:
    def cut(blocks: tuple[Block, ...]) -> list[Block]:
        shorter = b.block(AgentInstructions(id="instructions", text="You help"))
        return [shorter if x.item_id == "instructions" else x for x in blocks]

    records = [t.opened(), *t.sent(LOG[:1]), *t.sent(LOG, change=cut)]
    assert violation("CTX-03.2", t.trace(LOG, records)).follows == ("CTX-07.5",)


def test_a_legitimate_rotation_is_no_second_hash() -> None:
    first = t.plan()
    second = t.plan(t.opening(tools=(t.STATE_TOOL,)), epoch=2)
    records = [t.opened(), *t.sent(LOG[:1], of=first), *t.sent(LOG, of=second, index=1)]
    holds("CTX-03.2", t.trace(LOG, records, plans=(first, second)))


def _script(*, turns: int = 50, second: object = None, scenario: str = "fifty_turns") -> Trace:
    checkpoint = Checkpoint(id="cp", summary="They talked.", depth=1, covers=1)
    denied = t.result("r1", "k1", status="denied")
    log: tuple[LogItem, ...] = (
        t.user("u1"),
        t.assistant("a1"),
        t.call("k1", "a1"),
        denied,
        CompactionRecorded(id="z", outcome="completed", checkpoint_id="cp"),
        t.user("u2"),
    )
    revoked = t.live(permissions=())
    records: list[Record] = [
        t.opened(),
        *t.sent(log[:1], turn=1),
        AuthorizeRecord(
            context=t.context(),
            step=1,
            plan=0,
            live=revoked,
            call=t.call("k1", "a1"),
            answer=a.Denied(reason="revoked", result=denied),
        ),
        CompactRecord(
            context=t.context(),
            step=2,
            forced=True,
            plan=0,
            inputs=t.inputs(log[:4]),
            calls=(),
            answer=a.Compacted(checkpoint=checkpoint),
        ),
        *t.sent(
            log,
            turn=turns,
            live=TOMORROW,
            checkpoint=checkpoint,
            corrections=(t.correction("c1", "m1"),),
            change=second,
        ),
    ]
    return t.trace(log, records, scenario=scenario)


def test_fifty_turns_with_one_hash_hold_with_all_that_the_record_scripts() -> None:
    assert holds("CTX-03.3", _script()) == declared("CTX-03.3")


def test_fifty_turns_with_two_hashes_are_a_violation() -> None:
    found = violation("CTX-03.3", _script(second=_stamped("2026-03-28")))
    assert found.seen == "2 requests had 2 prefix hashes in 1 epochs"


def test_a_session_that_ended_early_does_not_witness_fifty_turns() -> None:
    assert d03.PLAYED_TO_THE_END not in holds("CTX-03.3", _script(turns=12))


@pytest.mark.parametrize("scenario", ["hand-written", "rotation"])
def test_other_sessions_are_not_judged_by_it(scenario: str) -> None:
    unjudged("CTX-03.3", _script(scenario=scenario))
