"""Decision 8, the limits, on hand-written traces. In o200k_base, " a" repeated is one token each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.request import Block, ElidedSpan, Estimate, Reference, YieldStep
from contextproof.conformance.contract.vocabulary import Slot, TokenClass, Trust
from contextproof.conformance.contract.working_state import Constraint, WorkingState
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.requirements import d08_refusals as refusals
from contextproof.conformance.requirements import d08_retention as d08
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import declared, holds, unjudged, violation

LARGE = t.plan(t.opening(of=t.model(window=16_000_000)))
LOG = (
    t.user("u1", "First question."),
    t.assistant("a1", "First answer."),
    t.call("k1", "a1"),
    t.result("r1", "k1", "An old page."),
    t.user("u2", "Second [[question]]."),
    t.assistant("a2"),
    t.call("k2", "a2"),
    t.result("r2", "k2", "A new page."),
)
SPAN = ElidedSpan(trust=Trust.EXTERNAL_UNTRUSTED, size=12, references=(Reference(item_id="r1"),))
CHECKPOINT = Checkpoint(
    id="cp", summary="They talked.", depth=1, covers=4, summarized=("u1", "a1", "k1"), pointers=(SPAN,)
)
STATE = WorkingState(constraints=(Constraint(id="c1", text="By train only."),))
GIVEN: dict[str, Any] = {
    "working_state": STATE,
    "corrections": (t.correction("m1-a", "m1", "Old."), t.correction("m1-b", "m1", "New.")),
    "environment": (t.environment("e1"),),
    "checkpoint": CHECKPOINT,
}
Change = Callable[[tuple[Block, ...]], Iterable[Block]]


def _words(tokens: int) -> str:
    return " a" * tokens


def _trace(change: Change | None = None, **given: Any) -> Trace:
    return t.trace(LOG, [t.opened(), t.build(LOG, change=change, **given)])


def _replaced(item_id: str, block: Block | None) -> Change:
    """The blocks with one replaced, or left out."""

    def change(blocks: tuple[Block, ...]) -> list[Block]:
        with_it = [block if x.item_id == item_id else x for x in blocks]
        return [x for x in with_it if x is not None]

    return change


def test_what_never_yields_holds_whole() -> None:
    gone = t.gave_way("x1", step=YieldStep.RECALL)
    trace = _trace(recall=(t.recall("x1"),), newly=(gone,), **GIVEN)
    assert holds("CTX-08.3", trace) == declared("CTX-08.3")


def test_a_message_that_is_cut_is_a_violation() -> None:
    cut = b.block(t.user("u2", "Second"), slot=Slot.CURRENT)
    found = violation("CTX-08.3", _trace(_replaced("u2", cut)))
    assert found.seen.startswith("user_message 'u2' is not verbatim: ")


@pytest.mark.parametrize("item_id", ["m1-b", "e1", "r2"])
def test_never_yield_content_that_is_missing_is_a_violation(item_id: str) -> None:
    found = violation("CTX-08.3", _trace(_replaced(item_id, None), **GIVEN))
    assert f"{item_id!r} is missing" in found.seen
    assert found.at.item_id == item_id


def test_a_constraint_left_out_is_a_violation() -> None:
    found = violation("CTX-08.3", _trace(_replaced("working_state", None), **GIVEN))
    assert found.seen == "working state 'c1' is not verbatim: 'By train only.'"


def test_a_summary_left_out_is_a_violation() -> None:
    found = violation("CTX-08.3", _trace(_replaced("cp", None), **GIVEN))
    assert found.seen == "the summary of checkpoint 'cp' is not verbatim"


def test_an_active_result_may_be_a_pointer_for_the_cap_and_not_under_pressure() -> None:
    holds("CTX-08.3", _trace(newly=(t.gave_way("r2", cause="cap"),)))
    found = violation("CTX-08.3", _trace(newly=(t.gave_way("r2"),)))
    assert "tool_result 'r2', of the active pairs, is not verbatim" in found.seen


def test_content_that_is_not_escaped_is_whole_here() -> None:
    message = b.enveloped(
        "user_message",
        "Second [[question]].",
        label=Trust.USER,
        source="user",
        keyed="x",
        item_id="u2",
        slot=Slot.CURRENT,
    )
    holds("CTX-08.3", _trace(_replaced("u2", message)))
    holds("CTX-08.8", _trace(_replaced("u2", message)))


def test_a_superseded_correction_that_is_sent_is_a_violation() -> None:
    old = b.block(t.correction("m1-a", "m1", "Old."))
    found = violation("CTX-08.3", _trace(lambda x: [*x[:-1], old, x[-1]], **GIVEN))
    assert found.seen == ("memory_correction 'm1-a' is sent, and is not the latest of its memory item")


@pytest.mark.parametrize("identifier", ["CTX-08.3", "CTX-08.8"])
def test_a_request_over_a_log_with_an_open_call_is_left_to_the_rule_on_pairs(identifier: str) -> None:
    log = LOG[:-1]
    repaired = t.build(log, change=_replaced("k2", None))
    unjudged(identifier, t.trace(log, [t.opened(), repaired]))


def _answered(answer: a.BuildAnswer, *, roomy: bool = False, **given: Any) -> Trace:
    records = [t.opened(), t.build(LOG, answer=answer, **given)]
    if roomy:
        records.append(t.build(LOG, of=LARGE, purpose="roomy", **given))
    return t.trace(LOG, records)


def _exhausted(name: TokenClass, needed: int = 20_000, available: int = 10_000) -> a.BudgetExhausted:
    return a.BudgetExhausted(token_class=name, needed=needed, available=available)


def test_an_environment_over_its_cap_that_is_named_holds() -> None:
    over: dict[str, Any] = {"environment": (t.environment("e1", _words(600)),)}
    answer = _exhausted(TokenClass.ENVIRONMENT, 600, 500)
    assert holds("CTX-08.5", _answered(answer, **over)) == {refusals.CLASS_OVER_CAP}
    found = violation("CTX-08.5", _trace(**over))
    assert found.required == "budget exhausted, naming environment: environment 600 of 500 tokens"


def test_a_message_over_the_limit_that_is_named_holds() -> None:
    log = (t.user("u1", _words(17_000)),)
    answer = _exhausted(TokenClass.CURRENT_USER_MESSAGE)
    trace = t.trace(log, [t.opened(), t.build(log, answer=answer)])
    assert holds("CTX-08.5", trace) == {refusals.NEVER_YIELD_OVER_LIMIT}


@pytest.mark.parametrize(
    "answer",
    [
        _exhausted(TokenClass.WORKING_STATE),
        _exhausted(TokenClass.CURRENT_USER_MESSAGE, 10, 20),
        None,
    ],
)
def test_a_message_over_the_limit_answered_otherwise_is_a_violation(
    answer: a.BuildAnswer | None,
) -> None:
    log = (t.user("u1", _words(17_000)),)
    found = violation("CTX-08.5", t.trace(log, [t.opened(), t.build(log, answer=answer)]))
    assert "naming current_user_message" in found.required


def test_what_fits_is_not_judged_as_excess() -> None:
    unjudged("CTX-08.5", _trace(**GIVEN))


def test_a_request_that_has_everything_once_holds() -> None:
    assert d08.EARLIER_TURNS in holds("CTX-08.8", _trace())
    assert d08.OVER_CHECKPOINT in holds("CTX-08.8", _trace(**GIVEN))
    assert d08.TRUNCATED in holds("CTX-08.8", _trace(newly=(t.gave_way("r1"),)))


def test_the_oldest_turn_dropped_is_a_violation_that_says_how_much() -> None:
    old = {"u1", "a1", "k1", "r1"}
    found = violation("CTX-08.8", _trace(lambda x: [y for y in x if y.item_id not in old]))
    assert found.seen == (
        "4 messages of turn 1 are neither in the request nor covered: 'u1', 'a1', 'k1', 'r1'"
    )
    assert found.follows == ()


def test_a_pair_torn_apart_is_told_as_the_matter_of_pairs() -> None:
    found = violation("CTX-08.8", _trace(_replaced("r1", None)))
    assert found.seen.startswith("1 calls and results of turn 1")
    assert found.follows == ("CTX-09.1",)


def test_a_covered_message_that_is_sent_is_a_violation() -> None:
    old = b.block(LOG[0], slot=Slot.HISTORY)
    trace = _trace(lambda x: [*x[:-1], old, x[-1]], **GIVEN)
    assert "is sent though the checkpoint covers it" in violation("CTX-08.8", trace).seen


def test_a_message_twice_is_a_violation() -> None:
    trace = _trace(lambda x: [*x, x[-1]])
    assert violation("CTX-08.8", trace).seen == "more than once in the request: 'u2'"


def test_a_message_reworded_in_history_is_a_violation() -> None:
    reworded = b.block(t.user("u1", "A question."), slot=Slot.HISTORY)
    found = violation("CTX-08.8", _trace(_replaced("u1", reworded)))
    assert found.seen.startswith("user_message 'u1' is not verbatim")


def test_a_pointer_of_the_checkpoint_left_out_is_a_violation() -> None:
    def without(blocks: tuple[Block, ...]) -> list[Block]:
        return [x for x in blocks if x.type != "checkpoint" or x.pointer is None]

    found = violation("CTX-08.8", _trace(without, **GIVEN))
    assert found.seen == "elision pointers of 'r1' are not there once each"


def test_a_block_that_renders_nothing_is_a_violation() -> None:
    ad = b.block(t.environment("ad", "Buy now."))
    found = violation("CTX-08.8", _trace(lambda x: [*x[:-1], ad, x[-1]]))
    assert "environment 'ad' renders no item that there is" in found.seen


def test_always_budget_exhausted_is_a_violation() -> None:
    answer = _exhausted(TokenClass.HISTORY)
    small = (t.user("u1"),)
    trace = t.trace(small, [t.opened(), t.build(small, answer=answer)])
    found = violation("CTX-08.9", trace)
    assert found.seen.startswith("budget exhausted, naming history, 20000 needed and 10000 available")
    assert "all that has to be sent takes less than" in found.seen
    assert "all that has to be sent" in violation("CTX-08.9", _answered(answer, roomy=True)).seen


def test_exhausted_over_a_cap_holds() -> None:
    over: dict[str, Any] = {"environment": (t.environment("e1", _words(600)),)}
    answer = _exhausted(TokenClass.ENVIRONMENT, 600, 500)
    assert holds("CTX-08.9", _answered(answer, roomy=True, **over)) == {refusals.EXHAUSTED}


def test_exhausted_over_the_limit_holds() -> None:
    log = (t.user("u1", _words(17_000)),)
    answer = _exhausted(TokenClass.CURRENT_USER_MESSAGE)
    records = [t.opened(), t.build(log, answer=answer), t.build(log, of=LARGE, purpose="roomy")]
    holds("CTX-08.9", t.trace(log, records))


def _asked(history: int) -> a.CompactionNeeded:
    entry = {"token_class": TokenClass.HISTORY, "tokens": history}
    estimate = Estimate.model_validate({"by_class": (entry,), "prefix_tokens": 0})
    return a.CompactionNeeded(estimate=estimate)


def test_compaction_asked_for_where_it_fits_is_a_violation() -> None:
    found = violation("CTX-08.9", _answered(_asked(17_000), roomy=True))
    assert found.seen == "compaction is asked for, and without recall the request fits"
    found = violation("CTX-08.9", _answered(_asked(900), roomy=True))
    assert found.seen == "compaction is asked for at an estimate of 900 tokens, which fits"


def test_compaction_asked_for_where_it_does_not_fit_holds() -> None:
    log = (t.user("u1", _words(17_000)), t.user("u2"))
    records = [
        t.opened(),
        t.build(log, answer=_asked(18_000)),
        t.build(log, of=LARGE, purpose="roomy"),
    ]
    assert holds("CTX-08.9", t.trace(log, records)) == {refusals.COMPACTION_ASKED}
