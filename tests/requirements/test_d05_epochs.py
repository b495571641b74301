"""Decision 5 on hand-written traces."""

from __future__ import annotations

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.events import EpochRotated
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.session import (
    Change,
    ClockAdvanced,
    ForcedRevocation,
    MemoryChanged,
    PermissionsChanged,
    RoutingChanged,
    ToolsRegistered,
)
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.play.trace import Record, Trace
from contextproof.conformance.requirements import d05_epochs as d05
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import holds, unjudged, violation

OLD = t.plan()
OTHER = t.model("model-b", tokenizer="cl100k_base")
ROUTING = RoutingChanged(model=OTHER)
REVOCATION = ForcedRevocation(tool="search")
ROUTED = t.plan(t.opening(of=OTHER), epoch=2)
REVOKED = t.plan(t.opening(tools=(t.STATE_TOOL,)), epoch=2)


def _event(new: Plan, cause: str, **changes: object) -> EpochRotated:
    fields = {
        "session": "s",
        "epoch": new.epoch,
        "turn": 1,
        "request": 1,
        "cause": cause,
        "from_epoch": OLD.epoch,
        "to_epoch": new.epoch,
        "from_sha256": OLD.prefix_sha256,
        "to_sha256": new.prefix_sha256,
        **changes,
    }
    return EpochRotated.model_validate(fields)


def _rotated(new: Plan, cause: str) -> a.Planned:
    return a.Planned(plan=new, events=(_event(new, cause),))


def _told(change: Change, answer: a.PlanAnswer, *before: Record) -> Trace:
    planned = isinstance(answer, a.Planned) and answer.plan != OLD
    plans = (OLD, answer.plan) if isinstance(answer, a.Planned) and planned else (OLD,)
    return t.trace((), [t.opened(), *before, t.applied(change, answer)], plans=plans)


ROUTED_WELL = _told(ROUTING, _rotated(ROUTED, "routing"))
REVOKED_WELL = _told(REVOCATION, _rotated(REVOKED, "forced_revocation"))
REFUSAL = a.Refused(token_class=TokenClass.AGENT_INSTRUCTIONS, measured=4_001, cap=4_000)


def test_a_change_of_routing_that_rotates_holds() -> None:
    assert holds("CTX-05.1", ROUTED_WELL) == {d05.ROUTED}


def test_a_forced_revocation_that_rotates_holds() -> None:
    assert holds("CTX-05.1", REVOKED_WELL) == {d05.REVOKED_BY_FORCE}


@pytest.mark.parametrize("change", [ROUTING, REVOCATION])
def test_staying_in_the_epoch_is_a_violation(change: Change) -> None:
    found = violation("CTX-05.1", _told(change, a.Planned(plan=OLD)))
    assert "the engine stayed with a plan of epoch 1" in found.seen


def test_a_refusal_is_a_violation_where_everything_fits() -> None:
    assert "agent_instructions 4001" in violation("CTX-05.1", _told(ROUTING, REFUSAL)).seen


def test_a_refusal_holds_where_the_new_window_is_too_small() -> None:
    small = RoutingChanged(model=t.model("model-c", window=4_500))
    refusal = a.Refused(token_class=TokenClass.OUTPUT_RESERVE, measured=500, cap=1_000)
    holds("CTX-05.1", _told(small, refusal))


@pytest.mark.parametrize("field", ["endpoint", "reasoning_mode", "provider"])
def test_each_part_of_routing_rotates_by_itself(field: str) -> None:
    change = RoutingChanged(model=t.model().model_copy(update={field: "another"}))
    violation("CTX-05.1", _told(change, a.Planned(plan=OLD)))


ABSORBED: list[Change] = [
    PermissionsChanged(permissions=()),
    ToolsRegistered(tools=()),
    MemoryChanged(memory=(t.memory("m9"),)),
    ClockAdvanced(clock="2026-03-28T00:00:00+01:00"),
]


@pytest.mark.parametrize("change", ABSORBED)
def test_anything_else_that_is_absorbed_holds(change: Change) -> None:
    trace = _told(change, a.Planned(plan=OLD))
    assert len(holds("CTX-05.2", trace)) == 1
    unjudged("CTX-05.1", trace)


@pytest.mark.parametrize("change", ABSORBED)
def test_rotating_for_anything_else_is_a_violation(change: Change) -> None:
    found = violation("CTX-05.2", _told(change, a.Planned(plan=REVOKED)))
    assert "the engine rotated to epoch 2" in found.seen


def test_what_an_unwarranted_rotation_changes_is_left_to_the_rule_that_it_breaks() -> None:
    trace = _told(ABSORBED[0], _rotated(REVOKED, "routing"))
    unjudged("CTX-05.6", trace)
    assert violation("CTX-05.3", trace).follows == ("CTX-05.2",)


def test_a_plan_that_changes_within_its_epoch_is_a_violation() -> None:
    silent = t.plan(t.opening(tools=(t.STATE_TOOL,)))
    found = violation("CTX-05.2", _told(ABSORBED[0], a.Planned(plan=silent)))
    assert "the plan changed in" in found.seen
    assert "'prefix_sha256'" in found.seen


def test_one_true_event_a_rotation_holds() -> None:
    assert holds("CTX-05.3", ROUTED_WELL) == {d05.ROUTED}
    assert holds("CTX-05.3", REVOKED_WELL) == {d05.REVOKED_BY_FORCE}


def test_a_rotation_without_an_event_is_a_violation() -> None:
    found = violation("CTX-05.3", _told(ROUTING, a.Planned(plan=ROUTED)))
    assert found.seen == "0 events for one rotation"


def test_an_event_with_a_false_cause_is_a_violation() -> None:
    found = violation("CTX-05.3", _told(ROUTING, _rotated(ROUTED, "forced_revocation")))
    assert found.seen == "the event says cause 'forced_revocation', not 'routing'"


def test_an_event_of_a_refused_rotation_is_a_violation() -> None:
    refusal = REFUSAL.model_copy(update={"events": (_event(ROUTED, "routing"),)})
    assert violation("CTX-05.3", _told(ROUTING, refusal)).seen == "1 events where nothing rotated"


def test_a_refused_rotation_without_an_event_holds() -> None:
    assert holds("CTX-05.3", _told(ROUTING, REFUSAL)) == {d05.ANSWERED_THE_SAME}


def test_a_revoked_definition_that_is_gone_holds() -> None:
    assert holds("CTX-05.4", REVOKED_WELL) == {d05.REVOKED_BY_FORCE}


def test_a_revoked_definition_that_stays_is_a_violation() -> None:
    kept = t.plan(epoch=2)
    found = violation("CTX-05.4", _told(REVOCATION, _rotated(kept, "forced_revocation")))
    assert found.seen == "epoch 2 still pins 'search'"


def test_revoking_what_is_not_pinned_rotates_nothing() -> None:
    unpinned = ForcedRevocation(tool="calendar")
    assert holds("CTX-05.4", _told(unpinned, a.Planned(plan=OLD))) == {d05.REVOKED_UNPINNED}
    found = violation("CTX-05.4", _told(unpinned, _rotated(REVOKED, "forced_revocation")))
    assert "the engine rotated to epoch 2" in found.seen


def test_a_plan_measured_by_the_new_model_holds() -> None:
    assert holds("CTX-05.5", ROUTED_WELL) == {d05.ROUTED, d05.OTHER_TOKENIZER}


def test_a_plan_that_keeps_the_old_measure_is_a_violation() -> None:
    stale = ROUTED.model_copy(update={"prefix_tokens": ROUTED.prefix_tokens + 7})
    found = violation("CTX-05.5", _told(ROUTING, _rotated(stale, "routing")))
    assert f"by cl100k_base they are {ROUTED.prefix_tokens}" in found.seen


def test_a_plan_that_keeps_the_old_model_is_a_violation() -> None:
    stale = t.plan(epoch=2)
    found = violation("CTX-05.5", _told(ROUTING, _rotated(stale, "routing")))
    assert found.seen == "the plan is for 'model-a', not 'model-b'"


def test_a_rotation_that_changes_nothing_else_holds() -> None:
    before = t.applied(ABSORBED[2], a.Planned(plan=OLD))
    trace = _told(REVOCATION, _rotated(REVOKED, "forced_revocation"), before)
    assert holds("CTX-05.6", trace) == {d05.REVOKED_BY_FORCE, d05.ABSORBED_BEFORE}
    holds("CTX-05.6", ROUTED_WELL)


def test_memory_that_enters_with_a_rotation_is_a_violation() -> None:
    more = t.plan(t.opening(of=OTHER, memory=(t.memory("m9"),)), epoch=2)
    found = violation("CTX-05.6", _told(ROUTING, _rotated(more, "routing")))
    assert found.seen == ("with a change of routing to 'model-b', memory_snapshot 'm9' entered the prefix")


def test_a_softly_revoked_tool_that_leaves_with_a_rotation_is_a_violation() -> None:
    less = t.plan(t.opening(of=OTHER, tools=(t.STATE_TOOL,)), epoch=2)
    found = violation("CTX-05.6", _told(ROUTING, _rotated(less, "routing")))
    assert "tool_definition 'tool:search' left the prefix" in found.seen


def test_an_instruction_reworded_by_a_rotation_is_a_violation() -> None:
    other = t.plan(t.opening(of=OTHER, instructions="You help with hotels."), epoch=2)
    found = violation("CTX-05.6", _told(ROUTING, _rotated(other, "routing")))
    assert "You help with hotels." in found.seen
    assert b.POLICY_TEXT not in found.seen
