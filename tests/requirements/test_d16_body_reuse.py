"""Body reuse on hand-written traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from contextproof.conformance.contract.items import LogItem
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import ModelSpec
from contextproof.conformance.contract.vocabulary import Slot
from contextproof.conformance.play.trace import Record, Trace
from requirements import records as r
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import declared, holds, unjudged, violation

PAGE = "A long page about trains and when they leave. " * 40
LOG: tuple[LogItem, ...] = (
    *(t.user("u1"), t.assistant("a1"), t.call("k1", "a1"), t.result("r1", "k1", PAGE)),
    *(t.user("u2"), t.assistant("a2"), t.call("k2", "a2"), t.result("r2", "k2", PAGE)),
    *(t.user("u3"), t.assistant("a3"), t.call("k3", "a3"), t.result("r3", "k3", PAGE)),
    *(t.user("u4"), t.assistant("a4"), t.user("u5")),
)
Change = Callable[[tuple[Block, ...]], Iterable[Block]]


def _two(change: Change | None = None, **later: Any) -> Trace:
    """Two requests, a turn apart; the later one is altered."""
    first, second = t.sent(LOG[:5]), t.sent(LOG[:9], request=2, change=change, **later)
    return t.trace(LOG, [*first, *second])


def _reworded(blocks: tuple[Block, ...]) -> list[Block]:
    other = b.block(t.assistant("a1", "Let me look."), slot=Slot.HISTORY)
    return [other if block.item_id == "a1" else block for block in blocks]


def _reordered(blocks: tuple[Block, ...]) -> list[Block]:
    u1 = next(block for block in blocks if block.item_id == "u1")
    rest = [block for block in blocks if block is not u1]
    return [*rest[:6], u1, *rest[6:]]


def test_history_that_stays_holds() -> None:
    assert holds("CTX-16.1", _two()) == declared("CTX-16.1")


def test_history_reworded_or_reordered_is_a_violation() -> None:
    assert violation("CTX-16.1", _two(_reworded)).at.item_id == "a1"
    assert violation("CTX-16.1", _two(_reordered)).seen.endswith("the order has changed")


def test_requests_between_which_something_gave_way_are_not_compared() -> None:
    unjudged("CTX-16.1", _two(_reworded, newly=(t.gave_way("r1"),)))
    unjudged("CTX-16.1", _two(_reworded, checkpoint=r.checkpoint(1)))


def test_one_rendering_whatever_slot_and_room_holds() -> None:
    wide = t.plan(t.opening(of=t.model(window=160_000)))
    builds = [
        t.build(LOG[:4]),
        t.build(LOG[:5], request=2),
        t.build(LOG[:5], purpose="roomy", of=wide, request=2),
        t.build(LOG[:5], request=3, yielded=(t.gave_way("r1"),)),
    ]
    assert holds("CTX-16.2", t.trace(LOG, builds)) == declared("CTX-16.2")


def test_a_rendering_that_depends_on_what_came_later_is_a_violation() -> None:
    assert violation("CTX-16.2", _two(_reworded)).seen == "its rendering is another than before"


def test_an_excerpt_that_shrinks_with_the_room_is_a_violation() -> None:
    def excerpt(length: int) -> Change:
        item = t.result("r1", "k1", PAGE)
        pointer = b.truncated(item, slot=Slot.HISTORY, excerpt=PAGE[:length])
        return lambda blocks: [pointer if x.item_id == "r1" else x for x in blocks]

    builds = [t.build(LOG[:5], change=excerpt(40)), t.build(LOG[:9], request=2, change=excerpt(20))]
    assert violation("CTX-16.2", t.trace(LOG, builds)).seen == "its pointer is another than before"


def test_an_excerpt_may_be_given_up_once_and_for_all() -> None:
    item = t.result("r1", "k1", PAGE)

    def pointer(excerpt: str | None) -> Change:
        made = b.truncated(item, slot=Slot.HISTORY, excerpt=excerpt)
        return lambda blocks: [made if x.item_id == "r1" else x for x in blocks]

    shown, hidden = (
        t.sent(LOG[:5], request=n, change=pointer(text)) for n, text in ((1, PAGE[:40]), (2, None))
    )
    holds("CTX-16.1", t.trace(LOG, [*shown, *hidden]))
    holds("CTX-16.2", t.trace(LOG, [*shown, *hidden]))


def _pressed(body: int, first: str, second: str, *, between: tuple[LogItem, ...] = ()) -> Trace:
    """Two requests of a small body, for each of which pressure truncated a result."""
    of: ModelSpec = t.model(window=t.plan().prefix_tokens + body, output_reserve=0)
    plan = t.plan(t.opening(of=of))
    log = (*LOG[:13], *between, *LOG[13:])
    one = t.sent(LOG[:13], of=plan, newly=(t.gave_way(first),))
    gone = (t.gave_way(first),)
    two = t.sent(log, of=plan, request=2, yielded=gone, newly=(t.gave_way(second),))
    records: list[Record] = [*one, *two]
    return t.trace(log, records, plans=[plan])


def test_yields_with_a_tenth_of_the_body_between_them_hold() -> None:
    assert holds("CTX-16.3", _pressed(600, "r1", "r2")) == declared("CTX-16.3")


def test_yielding_again_at_once_is_a_violation() -> None:
    found = violation("CTX-16.3", _pressed(1_500, "r1", "r2"))
    assert "of a body of 1500" in found.seen
    long = (t.assistant("a9", PAGE),)
    holds("CTX-16.3", _pressed(1_500, "r1", "r2", between=long))


def test_yielding_again_is_not_judged_where_nothing_more_could_have_gone() -> None:
    unjudged("CTX-16.3", _pressed(15_000, "r1", "r2"))


VARYING: dict[str, Any] = {"recall": (t.recall("m1"),), "environment": (t.environment("e1"),)}


def test_varying_classes_behind_history_hold() -> None:
    assert holds("CTX-16.4", _two(**VARYING)) == declared("CTX-16.4")


def test_recall_before_history_is_a_violation() -> None:
    def first(blocks: tuple[Block, ...]) -> list[Block]:
        moved = [x for x in blocks if x.type == "recall"]
        rest = [x for x in blocks if x.type != "recall"]
        return [*rest[:5], *moved, *rest[5:]]

    assert violation("CTX-16.4", _two(first, **VARYING)).seen == "before the end of history: 'recall'"
