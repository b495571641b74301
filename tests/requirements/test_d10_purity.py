"""Decision 10 on hand-written traces."""

from __future__ import annotations

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.events import CompactionCompleted
from contextproof.conformance.contract.items import CompactionRecorded
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.play.trace import BuildRecord, CompactRecord, Record, ResumeRecord, Trace
from requirements import records as r
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import declared, holds, unjudged, violation

LOG = (
    *(t.user("u1"), t.assistant("a1", "Here it is. " * 40)),
    *(t.user("u2"), t.assistant("a2", "And there. " * 40)),
    t.user("u3"),
)
COVERING = r.checkpoint(2, passed_over=())


def _altered(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return (*blocks[:-1], b.block(t.user("u3", "Where to, then?"), slot=blocks[-1].slot))


def test_repeats_and_retries_of_the_same_bytes_hold() -> None:
    asking = r.asked(LOG)
    records = [
        *(t.build(LOG), t.build(LOG, purpose="repeat")),
        t.build(LOG, purpose="retry", live=t.live(attempt=2)),
        *(asking, asking.model_copy(update={"purpose": "repeat"})),
    ]
    assert holds("CTX-10.1", t.trace(LOG, records)) == declared("CTX-10.1")


@pytest.mark.parametrize("purpose", ["repeat", "retry"])
def test_other_bytes_the_second_time_are_a_violation_that_names_the_place(purpose: str) -> None:
    again = t.build(LOG, purpose=purpose, change=_altered)
    found = violation("CTX-10.1", t.trace(LOG, [t.build(LOG), again]))
    assert found.seen.startswith(f"the {purpose} differs at .request.blocks[9].text from character 2 on")


def test_a_retry_of_other_inputs_is_not_compared() -> None:
    again = t.build(LOG, purpose="retry", recall=(t.recall("m1"),))
    unjudged("CTX-10.1", t.trace(LOG, [t.build(LOG), again]))


def test_altered_inputs_are_a_violation() -> None:
    assert holds("CTX-10.2", t.trace(LOG, [t.build(LOG, turn=3)])) == declared("CTX-10.2")
    violation("CTX-10.2", t.trace(LOG, [t.build(LOG, inputs_unchanged=False)]))


def _played(*more: Record) -> Trace:
    resumed = ResumeRecord(context=t.context(), step=1, fresh=True)
    call = r.summarizer_call(r.part(*LOG[:2]))
    return t.trace(LOG, [t.opened(), r.compacted(LOG, COVERING, call), resumed, *more])


def test_a_twin_that_answers_alike_holds() -> None:
    pair = _played(t.build(LOG)), _played(t.build(LOG))
    assert holds("CTX-10.3", *pair) == declared("CTX-10.3")


def test_a_twin_played_without_side_builds_is_still_compared() -> None:
    mine = _played(t.build(LOG), t.build(LOG, purpose="roomy"), t.build(LOG, step=2))
    found = violation("CTX-10.3", mine, _played(t.build(LOG), t.build(LOG, step=2, change=_altered)))
    assert found.at.record == 5


def test_a_twin_with_other_bytes_is_a_violation_told_once() -> None:
    later = t.build(LOG, step=2)
    mine, other = _played(t.build(LOG), later), _played(t.build(LOG, change=_altered), later)
    assert violation("CTX-10.3", mine, other).at.record == 3
    assert "the twin's answer to build differs at" in violation("CTX-10.3", mine, other).seen


def test_a_twin_that_hands_the_summarizer_other_parts_is_a_violation() -> None:
    def played(text: str) -> Trace:
        call = r.summarizer_call(r.part(LOG[0], text=text))
        return t.trace(LOG, [r.compacted(LOG, COVERING, call)])

    found = violation("CTX-10.3", played("a, b"), played("b, a"))
    assert "calls[0].parts[0].text" in found.seen


def test_builds_that_render_the_checkpoint_they_were_handed_hold() -> None:
    records = [r.asked(LOG), t.build(LOG, checkpoint=COVERING)]
    assert holds("CTX-10.4", t.trace(LOG, records)) == declared("CTX-10.4")


def _inline(blocks: tuple[Block, ...]) -> list[Block]:
    return [*blocks[:5], b.summary(r.checkpoint(2, id="made-up")), *blocks[7:]]


def test_a_summary_written_in_a_build_is_a_violation() -> None:
    found = violation("CTX-10.4", t.trace(LOG, [t.build(LOG, change=_inline)]))
    assert found.seen == "a checkpoint 'made-up' that no compaction wrote"
    over = t.build(LOG, checkpoint=COVERING, change=_inline)
    assert violation("CTX-10.4", t.trace(LOG, [over])).seen == "checkpoint 'made-up' instead of 'cp-1'"


def test_a_summary_rewritten_in_a_build_is_a_violation() -> None:
    def reworded(blocks: tuple[Block, ...]) -> list[Block]:
        shorter = b.summary(r.checkpoint(2, "They."))
        return [shorter if block.type == "checkpoint" else block for block in blocks]

    violation("CTX-10.4", t.trace(LOG, [t.build(LOG, checkpoint=COVERING, change=reworded)]))


def test_an_event_of_a_checkpoint_in_a_build_is_a_violation() -> None:
    event = CompactionCompleted(
        session="s", epoch=1, turn=1, request=1, checkpoint_id="x", depth=1, covers=2, elided_bytes=0
    )
    violation("CTX-10.4", t.trace(LOG, [t.build(LOG, events=(event,))]))


def _rebuilt(after: BuildRecord, *, forced: bool = False) -> Trace:
    before = [] if forced else [r.asked(LOG)]
    return t.trace(LOG, [*before, r.compacted(LOG, COVERING, forced=forced), after])


def test_rebuilds_over_the_new_checkpoint_hold() -> None:
    after = t.build(LOG, checkpoint=COVERING)
    seen = holds("CTX-10.5", _rebuilt(after)) | holds("CTX-10.5", _rebuilt(after, forced=True))
    assert seen == declared("CTX-10.5")
    holds("CTX-10.5", _rebuilt(r.asked(LOG, checkpoint=COVERING)))


def test_a_rebuild_with_covered_items_in_it_is_a_violation() -> None:
    whole = t.build(LOG).answer
    assert isinstance(whole, a.Built)
    found = violation("CTX-10.5", _rebuilt(t.build(LOG, checkpoint=COVERING, answer=whole)))
    assert found.seen == "covered items are in the request: 'u1', 'a1'"


def test_a_rebuild_without_the_summary_is_a_violation() -> None:
    def bare(blocks: tuple[Block, ...]) -> list[Block]:
        return [block for block in blocks if block.type != "checkpoint"]

    violation("CTX-10.5", _rebuilt(t.build(LOG, checkpoint=COVERING, change=bare)))


def test_asking_again_over_no_less_history_is_a_violation() -> None:
    again = r.asked(LOG).model_copy(update={"inputs": t.inputs(LOG, checkpoint=COVERING)})
    assert "asked again" in violation("CTX-10.5", _rebuilt(again)).seen


def test_giving_up_after_the_compaction_it_asked_for_is_a_violation() -> None:
    refusal = a.BudgetExhausted.model_validate(
        {"token_class": TokenClass.HISTORY, "needed": 2, "available": 1}
    )
    violation("CTX-10.5", _rebuilt(t.build(LOG, checkpoint=COVERING, answer=refusal)))


def _failed(*calls: object, answer: a.CompactAnswer | None = None, **how: object) -> CompactRecord:
    told = answer or a.CompactionFailed(reason="no summary")
    return r.compacted(LOG, told, *calls, **how)  # type: ignore[arg-type]


PART = r.part(LOG[0])


def test_failures_that_say_so_hold() -> None:
    records = [
        _failed(r.summarizer_call(PART, wrote=None)),
        _failed(r.summarizer_call(PART, complete=False)),
    ]
    assert holds("CTX-10.6", t.trace(LOG, records)) == declared("CTX-10.6")


def test_a_summary_that_a_second_try_completed_is_no_failure() -> None:
    calls = r.summarizer_call(PART, wrote=None), r.summarizer_call(PART)
    unjudged("CTX-10.6", t.trace(LOG, [_failed(*calls, answer=a.Compacted(checkpoint=COVERING))]))


@pytest.mark.parametrize(
    "call", [r.summarizer_call(PART, wrote=None), r.summarizer_call(PART, complete=False)]
)
def test_a_checkpoint_without_a_whole_summary_is_a_violation(call: object) -> None:
    found = violation("CTX-10.6", t.trace(LOG, [_failed(call, answer=a.Compacted(checkpoint=COVERING))]))
    assert found.seen.endswith("and the compaction answered compacted with events none")


def test_another_request_after_a_failure_is_a_violation() -> None:
    entry = CompactionRecorded(id="c", outcome="failed")
    failure = _failed(r.summarizer_call(PART, wrote=None), forced=True)
    longer = (*LOG, entry)
    holds("CTX-10.6", t.trace(longer, [t.build(LOG), failure, t.build(longer, request=2)]))
    other = t.build(longer, request=2, change=_altered)
    found = violation("CTX-10.6", t.trace(longer, [t.build(LOG), failure, other]))
    assert found.seen.startswith("after the failed compaction the request differs at [9].text")
