"""Decision 1 on hand-written traces."""

from __future__ import annotations

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import UndeclaredItem
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import Region, TokenClass
from contextproof.conformance.contract.working_state import Constraint, WorkingState
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.requirements import d01_regions as d01
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import holds, unjudged, violation

LOG = (t.user("u1"), t.assistant("a1"), t.user("u2"))
MEMORY = t.opening(memory=(t.memory("m1"),))
FULL = {
    "recall": (t.recall("r1"),),
    "environment": (t.environment("e1"),),
    "corrections": (t.correction("c1", "m1"),),
    "working_state": WorkingState(constraints=(Constraint(id="k1", text="By train."),)),
}


def test_every_type_in_its_region_holds() -> None:
    plan = t.plan(MEMORY)
    trace = t.trace(LOG, [t.opened(MEMORY), *t.sent(LOG, of=plan, **FULL)], plans=(plan,))
    assert holds("CTX-01.1", trace) == {d01.CORRECTED_MEMORY, d01.BODY_CLASSES}


def test_environment_in_the_prefix_is_a_violation() -> None:
    def moved(blocks: tuple[Block, ...]) -> list[Block]:
        return [x.model_copy(update={"region": Region.A}) if x.type == "environment" else x for x in blocks]

    built = t.build(LOG, environment=(t.environment("e1"),), change=moved)
    found = violation("CTX-01.1", t.trace(LOG, [t.opened(), built]))
    assert found.seen == "environment 'e1' is in region A; its type declares B"
    assert found.at.item_id == "e1"


def test_a_correction_dressed_up_as_memory_is_a_violation() -> None:
    def dressed(blocks: tuple[Block, ...]) -> list[Block]:
        memory = b.block(t.memory("c1", "Now by bus."))
        return [memory if x.type == "memory_correction" else x for x in blocks]

    built = t.build(LOG, corrections=(t.correction("c1", "m1"),), change=dressed)
    found = violation("CTX-01.1", t.trace(LOG, [t.opened(), built]))
    assert "memory_snapshot 'c1' renders an item of type 'memory_correction'" in found.seen


def test_an_item_named_like_the_working_state_is_no_violation() -> None:
    log = (t.user("working_state"), t.user("u2"))
    built = t.build(log, working_state=FULL["working_state"])
    holds("CTX-01.1", t.trace(log, [t.opened(), built]))


def test_a_prefix_of_the_five_types_holds() -> None:
    plan = t.plan(MEMORY)
    trace = t.trace(LOG, [t.opened(MEMORY), *t.sent(LOG, of=plan)], plans=(plan,))
    assert holds("CTX-01.2", trace) == {d01.ALL_FIVE}


def test_a_prefix_without_framing_is_a_violation() -> None:
    built = t.build(LOG, change=lambda blocks: [x for x in blocks if x.type != "framing"])
    assert "framing" in violation("CTX-01.2", t.trace(LOG, [t.opened(), built])).seen


def test_a_session_without_tools_needs_none_in_its_prefix() -> None:
    bare = t.opening(tools=())
    plan = t.plan(bare)
    trace = t.trace(LOG, [t.opened(bare), *t.sent(LOG, of=plan)], plans=(plan,))
    assert holds("CTX-01.2", trace) == {d01.NO_TOOLS_OR_MEMORY}


def _probe(answer: a.BuildAnswer | None) -> Trace:
    strange = UndeclaredItem(id="x1", type="mood", text="cheerful")
    probed = t.build(LOG, purpose="probe", probed=(strange,), answer=answer)
    return t.trace(LOG, [t.opened(), probed])


def test_an_undeclared_type_that_is_refused_by_name_holds() -> None:
    refusal = a.InvalidInput(kind=a.InvalidKind.UNDECLARED_TYPE, subject="mood")
    assert holds("CTX-01.3", _probe(refusal)) == {d01.UNDECLARED}


def test_an_undeclared_type_that_is_built_is_a_violation() -> None:
    assert violation("CTX-01.3", _probe(None)).seen == "the build answered built"


def test_an_undeclared_type_refused_under_another_name_is_a_violation() -> None:
    refusal = a.InvalidInput(kind=a.InvalidKind.UNDECLARED_TYPE, subject="x1")
    assert "names 'x1'" in violation("CTX-01.3", _probe(refusal)).seen


def test_an_undeclared_type_that_is_answered_as_exhausted_is_told_as_that() -> None:
    answer = a.BudgetExhausted(token_class=TokenClass.HISTORY, needed=2, available=1)
    assert violation("CTX-01.3", _probe(answer)).follows == ("CTX-08.9",)


def _with_clock(blocks: tuple[Block, ...], clock: str) -> list[Block]:
    stamped = b.framing(f"{b.FRAMING_TEXT} It is {clock}.")
    return [stamped if x.type == "framing" else x for x in blocks]


def _two_lives(first: object, second: object, plan: Plan | None = None) -> Trace:
    other = t.live(clock="2031-12-31T23:59:59+14:00", permissions=(), tools=(), memory=(t.memory("m9"),))
    main = t.build(LOG, of=plan, change=first)  # type: ignore[arg-type]
    side = t.build(LOG, of=plan, purpose="other_live", live=other, change=second)  # type: ignore[arg-type]
    return t.trace(LOG, [t.opened(), main, side])


def test_the_same_prefix_under_other_live_values_holds() -> None:
    assert holds("CTX-01.4", _two_lives(None, None)) == {
        d01.OTHER_CLOCK,
        d01.OTHER_PERMISSIONS,
        d01.OTHER_TOOLS,
        d01.OTHER_MEMORY,
    }


def test_a_timestamp_in_the_prefix_is_a_violation_that_shows_both_times() -> None:
    trace = _two_lives(
        lambda blocks: _with_clock(blocks, "2026-03-27"),
        lambda blocks: _with_clock(blocks, "2031-12-31"),
    )
    found = violation("CTX-01.4", trace)
    assert "2026-03-27" in found.seen
    assert "2031-12-31" in found.seen
    assert found.follows == ()


def test_live_tools_in_the_prefix_are_told_as_the_matter_of_pinning() -> None:
    def without_tools(blocks: tuple[Block, ...]) -> list[Block]:
        return [x for x in blocks if x.type != "tool_definition"]

    found = violation("CTX-01.4", _two_lives(None, without_tools))
    assert "tool_definition 'tool:search'" in found.seen
    assert found.follows == ("CTX-04.1",)


def test_without_a_build_beside_it_nothing_is_judged() -> None:
    unjudged("CTX-01.4", t.trace(LOG, [t.opened(), *t.sent(LOG)]))
