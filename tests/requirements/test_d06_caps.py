"""Decision 6 on hand-written traces. In o200k_base, " a" repeated is one token each."""

from __future__ import annotations

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import RecallItem
from contextproof.conformance.contract.request import Block, YieldStep
from contextproof.conformance.contract.session import ModelSpec, RoutingChanged
from contextproof.conformance.contract.vocabulary import Slot
from contextproof.conformance.contract.working_state import Constraint, WorkingState
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.requirements import d06_caps as d06
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import holds, unjudged, violation

LOG = (t.user("u1"), t.assistant("a1"), t.call("k1", "a1"), t.result("r1", "k1"), t.user("u2"))
SMALL, LARGE = t.model(window=20_000), t.model(window=16_000_000)


def _words(tokens: int) -> str:
    return " a" * tokens


def _trace(**given: object) -> Trace:
    return t.trace(LOG, [t.opened(), t.build(LOG, **given)])  # type: ignore[arg-type]


def test_classes_within_their_caps_hold() -> None:
    state = WorkingState(constraints=(Constraint(id="c", text=_words(950)),))
    assert holds("CTX-06.1", _trace(working_state=state)) == {d06.STATE_FULL}


def test_recall_exactly_at_its_cap_holds_and_one_token_more_is_a_violation() -> None:
    holds("CTX-06.1", _trace(recall=(t.recall("x", _words(2_000)),)))
    found = violation("CTX-06.1", _trace(recall=(t.recall("x", _words(2_001)),)))
    assert found.seen == "over its cap: recall 2001 of 2000 tokens"
    assert found.witnesses == (d06.RECALL_OVER,)


def test_environment_over_its_cap_is_a_violation() -> None:
    found = violation("CTX-06.1", _trace(environment=(t.environment("e", _words(501)),)))
    assert "environment 501 of 500" in found.seen


def _with_result(tokens: int, **given: object) -> Trace:
    log = (*LOG[:3], t.result("r1", "k1", _words(tokens)), LOG[4])
    return t.trace(log, [t.opened(), t.build(log, **given)])  # type: ignore[arg-type]


def test_results_over_a_quarter_of_the_body_are_a_violation() -> None:
    body = t.model().limit - t.plan().prefix_tokens
    holds("CTX-06.1", _with_result(body // 4))
    found = violation("CTX-06.1", _with_result(body // 4 + 1))
    assert f"tool_results {body // 4 + 1} of {body // 4}" in found.seen


def test_results_over_for_a_forgotten_reserve_are_told_as_that() -> None:
    body = t.model().limit - t.plan().prefix_tokens
    assert violation("CTX-06.1", _with_result(body // 4 + 900)).follows == ("CTX-06.2",)
    assert violation("CTX-06.1", _with_result(body // 4 + 1_100)).follows == ()


def test_results_over_the_cap_that_became_pointers_hold() -> None:
    trace = _with_result(5_000, newly=(t.gave_way("r1", cause="cap"),))
    assert holds("CTX-06.1", trace) == {d06.RESULTS_OVER}


def test_a_denied_result_does_not_count() -> None:
    log = (*LOG[:3], t.result("r1", "k1", _words(5_000), status="denied"), LOG[4])
    holds("CTX-06.1", t.trace(log, [t.opened(), t.build(log)]))


def test_an_excerpt_counts_with_what_it_holds() -> None:
    log = (*LOG[:3], t.result("r1", "k1", _words(9_000)), LOG[4])

    def cut(blocks: tuple[Block, ...]) -> list[Block]:
        pointer = b.truncated(log[3], slot=Slot.HISTORY, excerpt=_words(4_500))
        return [pointer if x.item_id == "r1" else x for x in blocks]

    built = t.build(log, newly=(t.gave_way("r1", cause="cap"),), change=cut)
    assert "tool_results 4500 of" in violation("CTX-06.1", t.trace(log, [t.opened(), built])).seen


def test_what_was_written_under_another_tokenizer_may_stand() -> None:
    # 380 tokens by o200k_base, 950 by cl100k_base.
    text = " ভাষা" * 190
    environment = (t.environment("e", text),)
    old, new = t.model(), t.model("model-b", tokenizer="cl100k_base")
    before, after = t.plan(), t.plan(t.opening(of=new), epoch=2)
    change = t.applied(RoutingChanged(model=new), a.Planned(plan=after))
    first = t.build(LOG[:1], of=before, environment=environment)
    second = t.build(LOG, of=after, index=1, environment=environment)
    records = [t.opened(), first, change, second]
    assert old.tokenizer != new.tokenizer
    holds("CTX-06.1", t.trace(LOG, records, plans=(before, after)))
    never_before = t.build(LOG, of=before, environment=(t.environment("e", text * 3),))
    violation("CTX-06.1", t.trace(LOG, [t.opened(), never_before], plans=(before,)))


def test_a_request_within_the_limit_holds() -> None:
    holds("CTX-06.2", _trace())


def test_a_request_that_eats_into_the_output_reserve_is_a_violation() -> None:
    log = (t.user("u1", _words(15_900)), t.user("u2"))
    found = violation("CTX-06.2", t.trace(log, [t.opened(), t.build(log)]))
    assert found.witnesses == (d06.NEARLY_FULL,)
    assert "into the output reserve of 4000" in found.seen
    assert found.required == "at most 16000 tokens (window 20000 − output reserve 4000)"


def _windows(small: dict[str, object], large: dict[str, object], of: ModelSpec = LARGE) -> Trace:
    wide = t.plan(t.opening(of=of))
    main = t.build(LOG, of=t.plan(t.opening(of=SMALL)), **small)  # type: ignore[arg-type]
    side = t.build(LOG, of=wide, purpose="roomy", **large)  # type: ignore[arg-type]
    return t.trace(LOG, [t.opened(), main, side])


RECALL = (t.recall("x1"), t.recall("x2"))


def test_two_windows_that_differ_in_yielded_recall_alone_hold() -> None:
    gone = (t.gave_way("x2", step=YieldStep.RECALL),)
    trace = _windows({"recall": RECALL, "newly": gone}, {"recall": RECALL})
    assert holds("CTX-06.3", trace) == {d06.RECALL_YIELDED}


def test_a_larger_window_with_another_environment_block_is_a_violation() -> None:
    def longer(blocks: tuple[Block, ...]) -> list[Block]:
        more = b.block(t.environment("e", "It is Friday, a lovely day."))
        return [more if x.type == "environment" else x for x in blocks]

    environment = (t.environment("e"),)
    trace = _windows({"environment": environment}, {"environment": environment, "change": longer})
    assert violation("CTX-06.3", trace).seen == "environment differs with the window"


def test_blocks_that_differ_in_their_nonces_alone_are_told_as_the_matter_of_nonces() -> None:
    main = t.build(LOG, of=t.plan(t.opening(of=SMALL)))
    other = t.plan(t.opening(of=LARGE, secret="a secret of another platform"))
    side = t.build(LOG, of=other, purpose="roomy")
    found = violation("CTX-06.3", t.trace(LOG, [t.opened(), main, side]))
    assert found.follows == ("CTX-10.1", "CTX-13.5")


def test_recall_left_out_in_silence_is_a_violation() -> None:
    def without(blocks: tuple[Block, ...]) -> list[Block]:
        return [x for x in blocks if x.item_id != "x2"]

    trace = _windows({"recall": RECALL, "change": without}, {"recall": RECALL})
    assert violation("CTX-06.3", trace).seen == "'x2' was left out and not listed as yielded"


def _recalled(kept: tuple[str, ...], *items: RecallItem) -> Trace:
    def change(blocks: tuple[Block, ...]) -> list[Block]:
        return [x for x in blocks if x.type != "recall" or x.item_id in kept]

    return _trace(recall=items, change=change)


def test_a_leading_part_of_the_ranking_holds() -> None:
    assert holds("CTX-06.4", _recalled(("x1",), *RECALL)) == {d06.RECALL_DROPPED}
    holds("CTX-06.4", _recalled((), *RECALL))


def test_a_gap_in_the_ranking_is_a_violation() -> None:
    found = violation("CTX-06.4", _recalled(("x2",), *RECALL))
    assert found.seen == "of the ranking 'x1', 'x2' it keeps 'x2'"


def test_an_item_that_alone_exceeds_the_cap_is_passed_over() -> None:
    items = (t.recall("x0", _words(2_001)), *RECALL)
    assert d06.ITEM_OVER_CAP in holds("CTX-06.4", _recalled(("x1",), *items))


def test_half_an_item_is_a_violation() -> None:
    def halved(blocks: tuple[Block, ...]) -> list[Block]:
        return [b.block(t.recall("x1", "An old")) if x.item_id == "x1" else x for x in blocks]

    found = violation("CTX-06.4", _trace(recall=RECALL, change=halved))
    assert found.seen.startswith("recall 'x1' is cut: ")


def test_a_request_without_recall_is_not_judged_by_it() -> None:
    unjudged("CTX-06.4", _trace())
