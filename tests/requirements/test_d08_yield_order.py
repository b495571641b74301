"""Decision 8, the order, on hand-written traces. In o200k_base, " a" repeated is one token each."""

from __future__ import annotations

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.events import YieldApplied
from contextproof.conformance.contract.items import LogItem
from contextproof.conformance.contract.request import Block, Estimate, Yielded, YieldStep
from contextproof.conformance.contract.vocabulary import Slot, TokenClass
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.requirements import d08_yield_order as d08
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import holds, unjudged, violation

LARGE = t.plan(t.opening(of=t.model(window=16_000_000)))


def _words(tokens: int) -> str:
    return " a" * tokens


def _log(*results: int) -> tuple[LogItem, ...]:
    """A turn for each result of so many tokens, and a current message."""
    log: list[LogItem] = []
    for n, tokens in enumerate(results, 1):
        log += [t.user(f"u{n}"), t.assistant(f"a{n}"), t.call(f"k{n}", f"a{n}")]
        log += [t.result(f"r{n}", f"k{n}", _words(tokens))]
    return (*log, t.user("u"))


LOG = _log(300, 400)
RECALL = (t.recall("x1"), t.recall("x2"))
X2 = t.gave_way("x2", step=YieldStep.RECALL)
R1 = t.gave_way("r1")


def _pair(log: tuple[LogItem, ...], *newly: Yielded, recall: bool = True) -> Trace:
    given = {"recall": RECALL if recall else ()}
    main = t.build(log, newly=newly, **given)  # type: ignore[arg-type]
    side = t.build(log, of=LARGE, purpose="roomy", **given)  # type: ignore[arg-type]
    return t.trace(log, [t.opened(), main, side])


def test_nothing_given_up_where_it_fits_holds() -> None:
    assert holds("CTX-08.1", _pair(LOG)) == {d08.NEARLY_PRESSED}


def test_recall_given_up_where_it_fits_is_a_violation() -> None:
    found = violation("CTX-08.1", _pair(LOG, X2))
    assert found.seen.startswith("'x2' gave way, and whole the request is estimated at ")
    assert found.follows == ("CTX-10.1", "CTX-13.5")


def test_a_pointer_that_no_list_names_is_a_violation_too() -> None:
    def silent(blocks: tuple[Block, ...]) -> list[Block]:
        pointer = b.truncated(LOG[3], slot=Slot.HISTORY)  # type: ignore[arg-type]
        return [pointer if x.item_id == "r1" else x for x in blocks]

    main, side = t.build(LOG, change=silent), t.build(LOG, of=LARGE, purpose="roomy")
    assert "'r1' gave way" in violation("CTX-08.1", t.trace(LOG, [t.opened(), main, side])).seen


def test_what_would_not_fit_whole_may_yield() -> None:
    assert holds("CTX-08.1", _pair(_log(9_000, 9_000), R1)) == set()


def test_recall_that_no_window_is_large_enough_for_is_a_violation() -> None:
    def without(blocks: tuple[Block, ...]) -> list[Block]:
        return [x for x in blocks if x.type != "recall"]

    main = t.build(LOG, recall=RECALL, change=without)
    side = t.build(LOG, of=LARGE, purpose="roomy", recall=RECALL, change=without)
    found = violation("CTX-08.1", t.trace(LOG, [t.opened(), main, side]))
    assert found.seen == "'x1', 'x2' gave way in a window of 16000000 tokens"


def test_recall_over_its_cap_is_no_loss_in_any_window() -> None:
    ranking = (t.recall("x0", _words(2_001)), t.recall("x1", _words(1_999)), *RECALL[1:])
    gone = tuple(t.gave_way(name, step=YieldStep.RECALL, cause="cap") for name in ("x0", "x2"))
    main = t.build(LOG, recall=ranking, newly=gone)
    side = t.build(LOG, of=LARGE, purpose="roomy", recall=ranking, newly=gone)
    holds("CTX-08.1", t.trace(LOG, [t.opened(), main, side]))


def test_results_after_recall_hold() -> None:
    gone = (t.gave_way("x1", step=YieldStep.RECALL), X2, R1)
    trace = t.trace(LOG, [t.opened(), t.build(LOG, recall=RECALL, newly=gone)])
    assert holds("CTX-08.2", trace) == {d08.RESULT_GAVE_WAY}


def test_a_result_before_recall_is_a_violation() -> None:
    trace = t.trace(LOG, [t.opened(), t.build(LOG, recall=RECALL, newly=(R1,))])
    found = violation("CTX-08.2", trace)
    assert found.seen == "result 'r1' became a pointer while recall 'x1', 'x2' stands"


def test_a_result_for_the_cap_leaves_recall_alone() -> None:
    gone = (t.gave_way("r1", cause="cap"),)
    unjudged("CTX-08.2", t.trace(LOG, [t.opened(), t.build(LOG, recall=RECALL, newly=gone)]))


def _asked(*yielded: Yielded, recall: int = 0) -> Trace:
    by_class = {TokenClass.HISTORY: 90_000, TokenClass.RECALL: recall}
    estimate = Estimate.model_validate(
        {
            "by_class": tuple({"token_class": k, "tokens": v} for k, v in by_class.items()),
            "prefix_tokens": 0,
        }
    )
    answer = a.CompactionNeeded(yielded=yielded, estimate=estimate)
    return t.trace(LOG, [t.opened(), t.build(LOG, recall=RECALL, answer=answer)])


def test_compaction_after_every_milder_step_holds() -> None:
    assert holds("CTX-08.2", _asked(R1, t.gave_way("r2"))) == {d08.COMPACTION_ASKED}


def test_compaction_while_recall_stands_is_a_violation() -> None:
    found = violation("CTX-08.2", _asked(R1, t.gave_way("r2"), recall=90))
    assert found.seen == "compaction is asked for while recall of 90 tokens stands"


def test_compaction_while_an_older_result_stands_is_a_violation() -> None:
    found = violation("CTX-08.2", _asked(R1))
    assert "results 'r2' (400 tokens) are verbatim" in found.seen


def _pointing(pointer: Block, log: tuple[LogItem, ...] = LOG) -> Trace:
    def change(blocks: tuple[Block, ...]) -> list[Block]:
        return [pointer if x.item_id == "r1" else x for x in blocks]

    return t.trace(log, [t.opened(), t.build(log, newly=(R1,), change=change)])


RESULT = t.result("r1", "k1", _words(300))


def test_a_typed_pointer_holds_with_and_without_an_excerpt() -> None:
    assert holds("CTX-08.4", _pointing(b.truncated(RESULT, slot=Slot.HISTORY))) == {d08.A_POINTER}
    excerpt = b.truncated(RESULT, slot=Slot.HISTORY, excerpt=_words(200))
    holds("CTX-08.4", _pointing(excerpt))


def test_an_excerpt_that_is_paraphrased_is_a_violation() -> None:
    excerpt = b.truncated(RESULT, slot=Slot.HISTORY, excerpt="many letters")
    found = violation("CTX-08.4", _pointing(excerpt))
    assert found.seen == "its excerpt is no beginning of the result: 'many letters'"


def test_a_pointer_with_a_false_size_is_a_violation() -> None:
    pointer = b.truncated(RESULT, slot=Slot.HISTORY)
    assert pointer.pointer is not None
    wrong = pointer.model_copy(update={"pointer": pointer.pointer.model_copy(update={"size": 7})})
    assert "a size of 7 bytes; the result has 600" in violation("CTX-08.4", _pointing(wrong)).seen


def test_a_pointer_that_answers_another_call_is_a_violation() -> None:
    pointer = b.truncated(RESULT, slot=Slot.HISTORY).model_copy(update={"call_id": "k2"})
    assert "answers call 'k2'" in violation("CTX-08.4", _pointing(pointer)).seen


def test_a_wordy_pointer_is_a_violation() -> None:
    # An "excerpt" that the extents do not own up to counts as the pointer's own words.
    pointer = b.truncated(RESULT, slot=Slot.HISTORY, excerpt=_words(150))
    assert pointer.pointer is not None
    bare = pointer.pointer.model_copy(update={"excerpt": None})
    found = violation("CTX-08.4", _pointing(pointer.model_copy(update={"pointer": bare})))
    assert found.seen.endswith("tokens beside excerpt, source and reference")


def test_a_truncated_denial_is_a_violation() -> None:
    denied = t.result("r1", "k1", _words(300), status="denied")
    log = (*LOG[:3], denied, *LOG[4:])
    found = violation("CTX-08.4", _pointing(b.truncated(denied, slot=Slot.HISTORY), log))
    assert found.seen == "a result of status denied is truncated"


def test_a_larger_window_that_yields_less_holds() -> None:
    assert holds("CTX-08.6", _pair(LOG, X2)) == {d08.SMALLER_YIELDED}


def test_a_larger_window_that_yields_more_is_a_violation() -> None:
    main = t.build(LOG, recall=RECALL)
    side = t.build(LOG, of=LARGE, purpose="roomy", recall=RECALL, newly=(X2,))
    found = violation("CTX-08.6", t.trace(LOG, [t.opened(), main, side]))
    assert found.seen == "'x2' gave way only in the window of 16000000"


def test_a_larger_window_in_which_nothing_is_built_is_a_violation() -> None:
    exhausted = a.BudgetExhausted(token_class=TokenClass.HISTORY, needed=2, available=1)
    side = t.build(LOG, of=LARGE, purpose="roomy", answer=exhausted)
    found = violation("CTX-08.6", t.trace(LOG, [t.opened(), t.build(LOG), side]))
    assert found.seen == "a window of 16000000 is answered budget exhausted"


def test_the_oldest_result_first_holds() -> None:
    trace = t.trace(LOG, [t.opened(), t.build(LOG, newly=(R1,))])
    assert holds("CTX-08.7", trace) == {d08.SOME_STAND}


def test_a_later_result_before_the_oldest_is_a_violation() -> None:
    trace = t.trace(LOG, [t.opened(), t.build(LOG, newly=(t.gave_way("r2"),))])
    assert violation("CTX-08.7", trace).seen == ("'r1' stands, and 'r2', which is later, became a pointer")


def _capped(log: tuple[LogItem, ...], *gone: str, events: tuple[str, ...] | None = None) -> Trace:
    told = gone if events is None else events
    event = {
        "session": "s",
        "epoch": 1,
        "turn": 1,
        "request": 1,
        "step": YieldStep.TOOL_RESULT,
        "cause": "cap",
        "item_ids": told,
    }
    built = t.build(
        log,
        newly=tuple(t.gave_way(name, cause="cap") for name in gone),
        events=(YieldApplied.model_validate(event),) if told else (),
    )
    return t.trace(log, [t.opened(), built])


OVER = _log(3_000, 3_000)


def test_an_older_result_for_the_cap_holds() -> None:
    assert holds("CTX-08.10", _capped(OVER, "r1")) == {d08.OLDER_BY_CAP}


def test_a_result_for_a_cap_that_was_not_reached_is_a_violation() -> None:
    assert "'r1' gave way for the cap; results held 700 of" in violation("CTX-08.10", _capped(LOG, "r1")).seen


def test_a_yield_for_the_cap_without_its_event_is_a_violation() -> None:
    found = violation("CTX-08.10", _capped(OVER, "r1", events=()))
    assert found.seen == "no event tells that 'r1' gave way for it"


def _active(*results: int) -> tuple[LogItem, ...]:
    """A turn in progress whose latest message made one call for each result."""
    calls = [t.call(f"c{n}", "m") for n in range(len(results))]
    answers = [t.result(f"s{n}", f"c{n}", _words(tokens)) for n, tokens in enumerate(results)]
    return (*_log(500), t.assistant("m"), *calls, *answers)


def test_an_active_result_for_the_cap_holds_once_older_ones_are_pointers() -> None:
    log = _active(4_500)
    assert holds("CTX-08.10", _capped(log, "r1", "s0")) == {d08.OLDER_BY_CAP, d08.ACTIVE_BY_CAP}
    found = violation("CTX-08.10", _capped(log, "s0"))
    assert found.seen == "active 's0' gave way while older 'r1' stand"


def test_the_smaller_of_two_active_results_first_is_a_violation() -> None:
    log = _active(3_500, 1_500)
    holds("CTX-08.10", _capped(log, "r1", "s0"))
    found = violation("CTX-08.10", _capped(log, "r1", "s1"))
    assert found.seen == "an active result of 1500 tokens gave way before one of 3500"


def test_a_needless_yield_within_the_cap_is_not_told_as_one_for_the_cap() -> None:
    holds("CTX-08.10", _pair(LOG, R1, recall=False))


def test_a_yield_for_the_cap_told_as_pressure_is_a_violation() -> None:
    found = violation("CTX-08.10", _pair(OVER, R1, recall=False))
    assert found.seen == ("'r1' gave way under pressure in a request that fits whole, for its cap")
