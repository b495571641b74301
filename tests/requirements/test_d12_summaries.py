"""Decision 12 on hand-written traces: depth, size, coverage, and what is spared."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.events import CompactionEscalated
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.contract.working_state import WorkingState
from contextproof.conformance.play.trace import SummarizerCall, Trace
from requirements import records as r
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import declared, holds, unjudged, violation

LONG = "We spoke at length about trains and when they leave. " * 6
LOG = (
    *(t.user("u1", LONG), t.assistant("a1", LONG)),
    *(t.user("u2", LONG), t.assistant("a2", LONG), t.user("u3", "And now?")),
)
FIRST = r.part(*LOG[:2])
SECOND = r.part(*LOG[2:4])
OLD = r.checkpoint(2, "The first summary, of trains and of when they leave.", id="cp-0")
AGAIN = r.summarizer_call(r.part(OLD), SECOND)
BESIDE = r.summarizer_call(SECOND)


def _over_old(new: Checkpoint, *calls: SummarizerCall, **old: object) -> Trace:
    before = OLD.model_copy(update=old)
    records = [
        t.build(LOG, checkpoint=before),
        r.compacted(LOG, new, *calls, checkpoint=before),
        t.build(LOG, checkpoint=new),
    ]
    return t.trace(LOG, records)


def _new(depth: int = 1, summary: str = "They spoke.", **more: object) -> Checkpoint:
    return r.checkpoint(4, summary, depth=depth, **more)


def _escalated(*, depth: int = 2, events: int = 1, summary: str = "So far.") -> Trace:
    event = CompactionEscalated(session="s", epoch=1, turn=1, request=1, depth=3)
    answer = a.Escalated(reason="too deep", events=(event,) * events)
    old = OLD.model_copy(update={"depth": depth, "summary": summary})
    return t.trace(LOG, [r.compacted(LOG, answer, checkpoint=old)])


def test_depths_that_are_true_hold() -> None:
    first = t.trace(LOG, [r.compacted(LOG, r.checkpoint(2), r.summarizer_call(FIRST))])
    again = _over_old(_new(2), AGAIN)
    seen = holds("CTX-12.5", first) | holds("CTX-12.5", again) | holds("CTX-12.5", _escalated())
    assert seen == declared("CTX-12.5")


def test_a_summary_kept_beside_a_new_one_is_no_deeper() -> None:
    kept = f"{OLD.summary}\nThey spoke."
    holds("CTX-12.5", _over_old(_new(1, kept), BESIDE))
    holds("CTX-12.5", _over_old(_new(2, kept), BESIDE, depth=2))
    violation("CTX-12.5", _over_old(_new(2, kept), BESIDE))


def test_a_checkpoint_without_a_summarizer_call_has_the_depth_of_what_it_keeps() -> None:
    elided = t.trace(LOG, [r.compacted(LOG, r.checkpoint(2, "", depth=0))])
    holds("CTX-12.5", elided)
    violation("CTX-12.5", t.trace(LOG, [r.compacted(LOG, r.checkpoint(2, "", depth=1))]))


@pytest.mark.parametrize(("depth", "before"), [(1, 1), (2, 2)])
def test_a_summary_of_a_summary_told_as_shallower_is_a_violation(depth: int, before: int) -> None:
    violation("CTX-12.5", _over_old(_new(depth), AGAIN, depth=before))


def test_a_summary_handed_over_without_its_name_counts_as_given() -> None:
    hidden = r.summarizer_call(r.part(*LOG[2:4], text=f"{OLD.summary} {LONG}"))
    violation("CTX-12.5", _over_old(_new(1), hidden))


def test_a_summary_chained_within_one_compaction_counts_too() -> None:
    first = r.summarizer_call(FIRST, wrote="What came of it was a train at nine.")
    chained = r.summarizer_call(r.part(*LOG[2:4], text=f"What came of it was a train at nine. {LONG}"))
    holds("CTX-12.5", t.trace(LOG, [r.compacted(LOG, _new(2), first, chained)]))
    violation("CTX-12.5", t.trace(LOG, [r.compacted(LOG, _new(1), first, chained)]))


@pytest.mark.parametrize("trace", [_escalated(depth=1), _escalated(events=0), _escalated(events=2)])
def test_escalating_early_or_untold_is_a_violation(trace: Trace) -> None:
    violation("CTX-12.5", trace)


def _on_demand(new: Checkpoint, *, forced: bool = False) -> Trace:
    records = [
        t.build(LOG, purpose="roomy"),
        r.compacted(LOG, new, r.summarizer_call(FIRST), forced=forced),
        t.build(LOG, checkpoint=new),
    ]
    return t.trace(LOG, records)


def test_compactions_that_gain_hold() -> None:
    gained = r.checkpoint(2)
    nothing = t.trace(LOG, [r.compacted(LOG, a.NothingToGain())])
    seen = holds("CTX-12.6", _on_demand(gained)) | holds("CTX-12.6", _on_demand(gained, forced=True))
    assert seen | holds("CTX-12.6", nothing) == declared("CTX-12.6")


def test_a_summary_longer_than_what_it_replaces_is_a_violation() -> None:
    found = violation("CTX-12.6", _on_demand(r.checkpoint(2, LONG * 3)))
    assert found.seen.startswith("the checkpoint costs")


def test_a_checkpoint_rewritten_longer_over_nothing_new_is_a_violation() -> None:
    violation("CTX-12.6", _over_old(r.checkpoint(2, f"{OLD.summary} And so on.")))


def test_a_build_that_asks_where_nothing_is_left_is_a_violation() -> None:
    log = (t.user("u1", LONG), t.assistant("a1"), t.call("k1", "a1"), t.result("r1", "k1", LONG))
    assert "compaction was asked for" in violation("CTX-12.6", _asked(log[:1])).seen
    blank = r.checkpoint(4, "", depth=0)
    violation("CTX-12.6", t.trace(LOG, [r.asked(LOG, checkpoint=blank)]))
    holds("CTX-12.6", _asked(LOG))


def _asked(log: tuple[object, ...]) -> Trace:
    return t.trace(log, [r.asked(log)])  # type: ignore[arg-type]


def test_coverage_that_grows_holds_and_coverage_that_shrinks_is_a_violation() -> None:
    assert holds("CTX-12.7", _over_old(_new())) == declared("CTX-12.7")
    found = violation("CTX-12.7", _over_old(r.checkpoint(4, passed_over=("a1",))))
    assert found.seen == "covers 4 of 5 entries, and no longer 'a1'"
    violation("CTX-12.7", _over_old(r.checkpoint(1)))


def test_coverage_beyond_the_log_is_a_violation() -> None:
    violation("CTX-12.7", t.trace(LOG, [r.compacted(LOG, r.checkpoint(6))]))


WORKING = WorkingState(constraints=(r.constraint("c1"),), tasks=(r.task("t1"),))
TURN = (*LOG, t.assistant("a3"), t.call("k1", "a3"), t.result("r1", "k1", "Nine."))
BESIDE_IT: dict[str, Any] = {
    "working_state": WORKING,
    "corrections": (t.correction("m1", "mem", "By bus."), t.correction("m2", "mem", "By boat.")),
    "environment": (t.environment("e1"),),
}


def _in_turn(new: Checkpoint, change: object = None) -> Trace:
    compaction = r.compacted(TURN, new, r.summarizer_call(FIRST, SECOND), **BESIDE_IT)
    return t.trace(TURN, [compaction, t.build(TURN, checkpoint=new, change=change, **BESIDE_IT)])  # type: ignore[arg-type]


def test_content_that_never_yields_comes_through() -> None:
    assert holds("CTX-12.8", _in_turn(_new())) == declared("CTX-12.8")


def test_a_checkpoint_over_the_current_message_or_active_pairs_is_a_violation() -> None:
    found = violation("CTX-12.8", _in_turn(r.checkpoint(5)))
    assert found.seen == "the checkpoint covers 'u3'"
    violation("CTX-12.8", _in_turn(r.checkpoint(8, passed_over=("u3",))))


@pytest.mark.parametrize("item_id", ["u3", "k1", "m2", "e1", "working_state"])
def test_never_yield_content_that_is_gone_is_a_violation(item_id: str) -> None:
    def without(blocks: tuple[Block, ...]) -> list[Block]:
        return [block for block in blocks if block.item_id != item_id]

    assert "not there verbatim" in violation("CTX-12.8", _in_turn(_new(), without)).seen


def _wrote(text: str, checkpoint: Checkpoint | None = None, change: object = None) -> Trace:
    new = checkpoint or r.checkpoint(2, text)
    compaction = r.compacted(LOG, new, r.summarizer_call(FIRST, wrote=text))
    return t.trace(LOG, [compaction, t.build(LOG, checkpoint=new, change=change)])  # type: ignore[arg-type]


def test_summaries_within_their_bound_hold() -> None:
    cut = _wrote("long " * 200, r.checkpoint(2, "long " * 100))
    empty = _wrote(" \n", r.checkpoint(2, ""))
    seen = holds("CTX-12.9", cut) | holds("CTX-12.9", empty) | holds("CTX-12.9", _wrote("He said [[x]]."))
    assert seen == declared("CTX-12.9")


def test_a_failure_answers_a_useless_summary_as_well() -> None:
    failed = r.compacted(LOG, a.CompactionFailed(reason="empty"), r.summarizer_call(FIRST, wrote=""))
    holds("CTX-12.9", t.trace(LOG, [failed]))


def test_a_summary_past_the_bound_is_a_violation() -> None:
    assert "a summary of 401 tokens" in violation("CTX-12.9", _wrote("long " * 400)).seen


def test_a_summary_past_a_quarter_of_a_small_body_is_a_violation() -> None:
    of = t.model(window=5_300)
    plan = t.plan(t.opening(of=of))
    new = r.checkpoint(2, "long " * 300)
    compaction = r.compacted(LOG, new, r.summarizer_call(FIRST, wrote=new.summary))
    compaction = compaction.model_copy(update={"context": t.context(of=of)})
    trace = t.trace(LOG, [compaction, t.build(LOG, of=plan, checkpoint=new)], plans=[plan])
    body = of.limit - plan.prefix_tokens
    assert f"at most {body // 4} tokens" in violation("CTX-12.9", trace).required


def test_a_summary_made_up_is_a_violation() -> None:
    found = violation("CTX-12.9", _wrote("", r.checkpoint(2, "All went well.")))
    assert found.seen == "the summarizer wrote nothing, and the summary says 'All went well.'"


def test_a_summary_whose_delimiter_is_not_escaped_is_a_violation() -> None:
    def raw(blocks: tuple[Block, ...]) -> list[Block]:
        bare = b.enveloped(
            "checkpoint", "He said [[x]].", label=Trust.INTERNAL, source="engine", keyed="", item_id="cp-1"
        )
        return [bare if block.type == "checkpoint" else block for block in blocks]

    violation("CTX-12.9", _wrote("He said [[x]].", change=raw))


def test_items_given_whole_or_pointed_to_or_covered_before_hold() -> None:
    log = tuple(
        item.model_copy(update={"derived_from": ("a page",)} if item.id == "u2" else {}) for item in LOG
    )
    new = _new(2, pointers=(r.elision("u2", size=len(LONG)),))
    given = r.summarizer_call(r.part(OLD), r.part(LOG[3]))
    record = r.compacted(log, new, given, checkpoint=OLD)
    assert holds("CTX-12.10", t.trace(log, [record])) == declared("CTX-12.10")


def test_a_trusted_item_that_one_call_could_hold_is_not_to_be_elided() -> None:
    new = _new(2, pointers=(r.elision("u2", size=len(LONG), trust=Trust.USER),))
    given = r.summarizer_call(r.part(OLD), r.part(LOG[3]))
    found = violation("CTX-12.10", _over_old(new, given))
    assert found.seen == "a trusted item of 67 tokens was elided"


QUOTING = 'He said "nine",\nand [[ten]] & <more>.'


@pytest.mark.parametrize(
    "text",
    [f"1. {QUOTING}", b.escaped(QUOTING), json.dumps(QUOTING), html.escape(QUOTING)],
)
def test_items_given_whole_in_another_writing_hold(text: str) -> None:
    log = (t.user("u1", QUOTING), t.user("u2"))
    given = r.summarizer_call(r.part(log[0], text=text))
    holds("CTX-12.10", t.trace(log, [r.compacted(log, r.checkpoint(1), given)]))


def test_an_item_given_in_part_is_a_violation() -> None:
    given = r.summarizer_call(r.part(*LOG[:2], text=LONG[:200]))
    found = violation("CTX-12.10", t.trace(LOG, [r.compacted(LOG, r.checkpoint(2), given)]))
    assert found.seen == "0 pointers name it, and the summarizer was not given all of it"


def test_an_item_never_given_or_named_twice_is_a_violation() -> None:
    violation("CTX-12.10", t.trace(LOG, [r.compacted(LOG, r.checkpoint(2))]))
    twice = (r.elision("u1", size=len(LONG)), r.elision("u1", "a1", size=2 * len(LONG)))
    violation("CTX-12.10", t.trace(LOG, [r.compacted(LOG, r.checkpoint(2, pointers=twice))]))


def test_an_older_summary_that_is_dropped_is_a_violation() -> None:
    found = violation("CTX-12.10", _over_old(_new(), BESIDE))
    assert found.seen.endswith("the summarizer was not given its summary again")
    holds("CTX-12.10", _over_old(_new(summary=f"{OLD.summary} They spoke."), BESIDE))


def test_handing_the_summarizer_more_than_fits_is_a_violation() -> None:
    huge = r.summarizer_call(r.part(*LOG[:2], text=LONG * 2 + "long " * 17_000))
    assert "tokens" in violation("CTX-12.10", t.trace(LOG, [r.compacted(LOG, _new(), huge)])).seen


def test_without_a_compaction_there_is_nothing_to_judge() -> None:
    unjudged("CTX-12.9", t.trace(LOG, [t.build(LOG)]))
