"""Compaction: what it covers, what it elides, how deep it goes, and when it does nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract.answers import (
    Built,
    Compacted,
    CompactionFailed,
    CompactionNeeded,
    Escalated,
    NothingToGain,
)
from contextproof.conformance.contract.items import LogItem, Message, ToolCall, content
from contextproof.conformance.contract.plan import Checkpoint, Plan
from contextproof.conformance.contract.ports import SummarizerError, Summary, SummaryPart
from contextproof.conformance.contract.request import ElidedSpan, Reference
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.reference_impl.compactor import SUMMARY_BOUND
from contextproof.reference_impl.elision import MAX_POINTERS, fewer
from reference.conversations import logs
from reference.hostile import texts
from reference.making import (
    ENGINE,
    MODEL,
    Summarizer,
    assistant,
    build,
    built,
    call,
    compact,
    context,
    exchange,
    expect,
    inputs,
    plan_with_body,
    planned,
    result,
    user,
    words,
)

PLAN = planned()
CANARY = "canary-7f3a9c"
#: Two turns of plain talk, enough of it that a compaction gains something.
TALK: tuple[LogItem, ...] = (
    user("u1", words(300)),
    assistant("a1", words(300)),
    user("u2", words(300)),
    assistant("a2", words(300)),
)
NOW: tuple[LogItem, ...] = (user("now"),)


def compacted(
    log: Sequence[LogItem],
    summarizer: Summarizer | None = None,
    *,
    plan: Plan = PLAN,
    old: Checkpoint | None = None,
) -> Checkpoint:
    answer = compact(plan, inputs(log, checkpoint=old), summarizer or Summarizer())
    return expect(Compacted, answer).checkpoint


def covered(checkpoint: Checkpoint, log: Sequence[LogItem]) -> list[str]:
    return [
        item.id
        for item in log[: checkpoint.covers]
        if isinstance(item, Message) and item.id not in checkpoint.passed_over
    ]


def old_checkpoint(depth: int, tokens: int = 600, *, covers: int = 2) -> Checkpoint:
    """A checkpoint over the first turn of TALK, too long to be kept word for word unless short."""
    return Checkpoint(id="older", summary=words(tokens), depth=depth, covers=covers, summarized=("u1", "a1"))


# What is covered ------------------------------------------------------------------------------


def test_earlier_turns_are_covered_and_the_current_message_is_not() -> None:
    log = (*TALK, *NOW)
    checkpoint = compacted(log)
    assert covered(checkpoint, log) == ["u1", "a1", "u2", "a2"]
    assert (checkpoint.depth, checkpoint.summary) == (1, "They talked.")
    assert checkpoint.summarized == ("u1", "a1", "u2", "a2")


def test_within_a_turn_older_pairs_are_covered_and_message_and_active_pairs_passed_over() -> None:
    log = (*NOW, *exchange("x", words(300)), *exchange("y", words(300)))
    checkpoint = compacted(log)
    assert covered(checkpoint, log) == ["x-a", "x-c0", "x-r0"]
    assert checkpoint.passed_over == ("now",)
    left = [block.item_id for block in built(PLAN, log, checkpoint=checkpoint).request.blocks]
    assert left[-4:] == ["y-a", "y-c0", "y-r0", "now"]


def test_a_message_passed_over_is_covered_once_its_turn_is_over() -> None:
    log = (*NOW, *exchange("x", words(300)), *exchange("y", words(300)))
    first = compacted(log)
    longer = (*log, assistant("a"), user("next"))
    second = compacted(longer, old=first)
    assert set(covered(first, log)) < set(covered(second, longer))
    assert "now" in covered(second, longer)
    assert second.passed_over == ()


def test_a_call_that_is_still_open_stays_with_its_unit() -> None:
    log = (*TALK, *NOW, assistant("a3"), call("c3", "a3"), call("c4", "a3"), result("r3", "c3"))
    assert covered(compacted(log), log) == ["u1", "a1", "u2", "a2"]


def test_words_after_the_active_pairs_are_covered_and_the_pairs_are_not() -> None:
    log = (*NOW, *exchange("x", "page"), assistant("a1", words(400)))
    checkpoint = compacted(log)
    assert covered(checkpoint, log) == ["a1"]
    assert checkpoint.passed_over == ("now", "x-a", "x-c0", "x-r0")


@given(log=logs(max_turns=5), old=st.booleans())
def test_a_compaction_loses_nothing_and_keeps_every_pair(log: tuple[LogItem, ...], old: bool) -> None:
    earlier = compact(PLAN, inputs(log[: len(log) // 2]), Summarizer()) if old else None
    before = earlier.checkpoint if isinstance(earlier, Compacted) else None
    summarizer = Summarizer()
    answer = compact(PLAN, inputs(log, checkpoint=before), summarizer)
    if not isinstance(answer, Compacted):
        return
    checkpoint = answer.checkpoint
    request = built(PLAN, log, checkpoint=checkpoint).request
    assert ENGINE.validate(context(), request).violations == ()
    gone = covered(checkpoint, log)
    messages = [item for item in log if isinstance(item, Message)]
    sent = [block.item_id for block in request.blocks]
    assert all((item.id in gone) is (item.id not in sent) for item in messages)
    elided = [r.item_id for pointer in checkpoint.pointers for r in pointer.references]
    assert sorted([*checkpoint.summarized, *elided]) == sorted(gone)
    by_id = {item.id: item for item in messages}
    given_parts = {part.item_ids[0]: part.text for parts, _ in summarizer.calls for part in parts}
    for name in set(given_parts) & set(by_id):
        item = by_id[name]
        whole = item.arguments if isinstance(item, ToolCall) else content(item)
        assert given_parts[name].endswith(f"\n{whole}")


# What is elided -------------------------------------------------------------------------------


UNTRUSTED: tuple[LogItem, ...] = (
    assistant("a0", ""),
    call("c0", "a0", name=f"tool-{CANARY}", arguments=f'{{"q":"{CANARY}"}}', derived_from=("?",)),
    result("r0", "c0", f"A page with {CANARY}.", source=f"https://{CANARY}"),
    assistant("a3", f"It says {CANARY}.", derived_from=("r0",)),
)


def test_no_untrusted_text_reaches_summarizer_summary_or_pointer() -> None:
    log = (*TALK, *UNTRUSTED, *NOW)
    summarizer = Summarizer()
    checkpoint = compacted(log, summarizer)
    assert CANARY not in summarizer.given
    request = built(PLAN, log, checkpoint=checkpoint).request
    assert CANARY not in "".join(block.text for block in request.blocks)
    assert not set(checkpoint.summarized) & {"c0", "r0", "a3"}


def test_neighbouring_untrusted_items_share_a_pointer_true_to_their_bytes() -> None:
    log = (*TALK, *UNTRUSTED, *NOW)
    (pointer,) = compacted(log).pointers
    assert pointer.trust is Trust.EXTERNAL_UNTRUSTED
    assert [reference.item_id for reference in pointer.references] == ["c0", "r0", "a3"]
    items = [item for item in log if isinstance(item, Message) and item.id in ("c0", "r0", "a3")]
    assert pointer.size == sum(len(content(item).encode()) for item in items)


def test_a_trusted_item_too_large_for_one_call_gets_a_pointer_of_its_own_trust() -> None:
    plan = plan_with_body(2_000)
    page = words(plan.opening.model.limit)
    log = (user("u0", page), *exchange("x", "untrusted"), user("u1", "short"), *NOW)
    summarizer = Summarizer()
    checkpoint = compacted(log, summarizer, plan=plan)
    assert [pointer.trust for pointer in checkpoint.pointers] == [
        Trust.USER,
        Trust.EXTERNAL_UNTRUSTED,
    ]
    assert page not in summarizer.given


def test_older_pointers_survive_and_the_oldest_are_merged_beyond_eight() -> None:
    def span(n: int, trust: Trust = Trust.EXTERNAL_UNTRUSTED) -> ElidedSpan:
        return ElidedSpan(trust=trust, size=n, references=(Reference(item_id=f"r{n}"),))

    spans = [span(0, Trust.USER), *(span(n) for n in range(1, 11))]
    kept = fewer(spans)
    assert len(kept) == MAX_POINTERS
    assert kept[0].trust is Trust.EXTERNAL_UNTRUSTED
    assert kept[0].size == sum(range(4))
    assert kept[1:] == tuple(spans[4:])
    assert fewer(spans[:8]) == tuple(spans[:8])


def test_the_text_of_a_pointer_to_many_items_stays_short() -> None:
    log = (
        *TALK,
        *(item for n in range(60) for item in exchange(f"x{n}", f"page {n}")),
        *NOW,
    )
    old = old_checkpoint(1).model_copy(
        update={
            "pointers": (
                ElidedSpan(
                    trust=Trust.EXTERNAL_UNTRUSTED,
                    size=1,
                    references=tuple(Reference(item_id=f"x{n}-r0") for n in range(60)),
                ),
            )
        }
    )
    blocks = built(PLAN, log, checkpoint=old).request.blocks
    (pointer,) = [block for block in blocks if block.pointer is not None]
    assert pointer.pointer is not None
    assert len(pointer.pointer.references) == 60
    assert pointer.pointer.reference.of(pointer.text) == b'"x0-r0" to "x59-r0", 60 items'


# The summary ----------------------------------------------------------------------------------


@given(text=texts(30))
def test_any_summary_is_data_and_within_its_bound(text: str) -> None:
    plan = plan_with_body(3_000)
    answer = compact(plan, inputs((*TALK, *NOW)), Summarizer(text * 40))
    if not text.strip():
        expect(CompactionFailed, answer)
        return
    checkpoint = expect(Compacted, answer).checkpoint
    assert (text * 40).startswith(checkpoint.summary)
    blocks = built(plan, (*TALK, *NOW), checkpoint=checkpoint).request.blocks
    summary = next(block for block in blocks if block.type == "checkpoint")
    assert count(MODEL.tokenizer, summary.text) <= min(SUMMARY_BOUND, 3_000 // 4)


def test_a_summary_takes_no_more_than_half_of_what_it_gives_back() -> None:
    log = (*TALK, *NOW)
    before = built(PLAN, log).request.estimate
    checkpoint = compacted(log, Summarizer(words(10_000)))
    after = built(PLAN, log, checkpoint=checkpoint).request.estimate
    assert 2 * after.body_tokens < 1.3 * before.body_tokens


def test_the_summarizer_is_told_how_much_is_wanted() -> None:
    summarizer = Summarizer()
    compacted((*TALK, *NOW), summarizer)
    ((_, wanted),) = summarizer.calls
    assert 300 < wanted < 700


def test_a_history_larger_than_one_call_is_given_in_several_and_told_in_order() -> None:
    plan = plan_with_body(3_000)
    log = tuple(user(f"u{n}", words(500)) for n in range(20))
    summarizer = Summarizer(words(2_000))
    checkpoint = compacted((*log, *NOW), summarizer, plan=plan)
    limit = plan.opening.model.limit
    assert len(summarizer.calls) > 1
    for parts, _ in summarizer.calls:
        assert sum(count(MODEL.tokenizer, part.text) + 4 for part in parts) <= limit
    assert checkpoint.summarized == tuple(f"u{n}" for n in range(20))
    assert checkpoint.summary.count("\n") == len(summarizer.calls) - 1


class Raising(Summarizer):
    """Fails as a summarizer may."""

    def __call__(self, parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
        raise SummarizerError("the provider answered 500")


@pytest.mark.parametrize(
    "summarizer",
    [Raising(), Summarizer("Half of", complete=False), Summarizer(""), Summarizer(" \n\t")],
    ids=["raises", "ends short", "is empty", "is blank"],
)
def test_a_summarizer_that_does_not_deliver_fails_the_compaction(summarizer: Summarizer) -> None:
    answer = expect(CompactionFailed, compact(PLAN, inputs((*TALK, *NOW)), summarizer))
    assert answer.reason
    assert answer.events == ()


# Depth ----------------------------------------------------------------------------------------


def test_a_short_summary_is_kept_word_for_word_and_the_new_one_appended() -> None:
    summarizer = Summarizer("Then more.")
    old = old_checkpoint(1, tokens=40)
    checkpoint = compacted((*TALK, *NOW), summarizer, old=old)
    assert checkpoint.summary == f"{old.summary}\n\nThen more."
    assert checkpoint.depth == 1
    assert [part.item_ids for parts, _ in summarizer.calls for part in parts] == [("u2",), ("a2",)]
    assert checkpoint.summarized == ("u1", "a1", "u2", "a2")


def test_a_long_summary_is_given_again_and_lies_deeper() -> None:
    summarizer = Summarizer("All in all.")
    old = old_checkpoint(1)
    checkpoint = compacted((*TALK, *NOW), summarizer, old=old)
    assert (checkpoint.summary, checkpoint.depth) == ("All in all.", 2)
    ((parts, _),) = summarizer.calls
    assert parts[0].item_ids == ("older",)
    assert old.summary in parts[0].text


def test_what_would_lie_three_deep_escalates_and_writes_nothing() -> None:
    summarizer = Summarizer()
    answer = compact(PLAN, inputs((*TALK, *NOW), checkpoint=old_checkpoint(2)), summarizer)
    assert [event.type for event in expect(Escalated, answer).events] == ["context.compaction.escalated"]
    assert summarizer.calls == []


def test_a_short_summary_two_deep_is_kept_and_need_not_escalate() -> None:
    assert compacted((*TALK, *NOW), old=old_checkpoint(2, tokens=40)).depth == 2


def test_eliding_alone_calls_no_summarizer_and_has_no_depth() -> None:
    summarizer = Summarizer()
    page = result("r", "c", words(500))
    unit = (assistant("a", "Seen.", derived_from=("?",)), call("c", "a", derived_from=("?",)), page)
    log = (user("u", words(500), derived_from=("?",)), *unit, *NOW)
    checkpoint = compacted(log, summarizer)
    assert (checkpoint.summary, checkpoint.depth, checkpoint.summarized) == ("", 0, ())
    assert summarizer.calls == []


# Whether there is anything to gain ------------------------------------------------------------


@pytest.mark.parametrize(
    ("log", "old"),
    [
        ((), None),
        (NOW, None),
        ((*NOW, *exchange("x", words(900))), None),
        ((user("u1", "Hi."), *NOW), None),
        ((*TALK, *NOW), old_checkpoint(2, covers=4)),
    ],
    ids=["an empty log", "a first message", "active pairs alone", "next to nothing", "all covered"],
)
def test_where_nothing_is_to_gain_nothing_is_written(
    log: tuple[LogItem, ...], old: Checkpoint | None
) -> None:
    summarizer = Summarizer()
    answer = expect(NothingToGain, compact(PLAN, inputs(log, checkpoint=old), summarizer))
    assert answer.events == ()
    assert summarizer.calls == []


def test_a_checkpoint_that_leaves_no_room_is_condensed_where_a_request_needs_it() -> None:
    plan = plan_with_body(2_000)
    old = old_checkpoint(1, tokens=400, covers=4)
    log = (*TALK, user("now", words(1_500)))
    expect(CompactionNeeded, build(plan, inputs(log, checkpoint=old)))
    checkpoint = compacted(log, Summarizer(words(900)), plan=plan, old=old)
    assert checkpoint.depth == 2
    expect(Built, build(plan, inputs(log, checkpoint=checkpoint)))


@given(
    sizes=st.lists(st.integers(0, 900), min_size=1, max_size=12),
    last=st.integers(0, 1_500),
    body=st.integers(1_000, 4_000),
    summary=texts(8),
)
def test_whenever_a_build_asks_one_compaction_makes_the_request_fit(
    sizes: list[int], last: int, body: int, summary: str
) -> None:
    plan = plan_with_body(body)
    turns = (
        (user(f"u{n}"), *exchange(f"x{n}", words(size)), assistant(f"b{n}", words(size // 2)))
        for n, size in enumerate(sizes)
    )
    log = (*(item for turn in turns for item in turn), user("now", words(last)))
    if not isinstance(build(plan, inputs(log)), CompactionNeeded):
        return
    checkpoint = compacted(log, Summarizer("They read. " + summary * 99), plan=plan)
    request = built(plan, log, checkpoint=checkpoint).request
    assert request.estimate.total <= plan.opening.model.limit
    assert request.prefix_sha256 == plan.prefix_sha256


def test_a_checkpoint_has_a_fresh_id_and_is_told_once() -> None:
    log = (*TALK, *UNTRUSTED, *NOW)
    answer = expect(Compacted, compact(PLAN, inputs(log), Summarizer()))
    assert answer.checkpoint.id == "fresh-1"
    (event,) = answer.events
    assert event.type == "context.compaction.completed"
    assert (event.checkpoint_id, event.depth, event.covers) == (
        "fresh-1",
        1,
        answer.checkpoint.covers,
    )
    assert event.elided_bytes == sum(pointer.size for pointer in answer.checkpoint.pointers)


def test_a_call_is_given_with_its_name_and_its_arguments_as_they_were() -> None:
    log = (
        user("u1", words(400)),
        assistant("a", ""),
        call("c", "a", arguments='{"b": 1,  "a": [2]}'),
        result("r", "c", "ok", trust=Trust.INTERNAL),
        *NOW,
    )
    summarizer = Summarizer()
    compacted(log, summarizer)
    assert 'tool call ⟨search⟩:\n{"b": 1,  "a": [2]}' in summarizer.given
