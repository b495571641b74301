"""Decision 9 on hand-written traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import LogItem
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import Slot, Trust
from contextproof.conformance.play.trace import BuildRecord
from contextproof.conformance.requirements import d09_atomic_pairs as d09
from requirements import records as r
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import declared, holds, unjudged, violation

DENIED = {"status": "denied", "trust": Trust.INTERNAL, "source": "runtime"}
LOG: tuple[LogItem, ...] = (
    t.user("u1"),
    t.assistant("a1"),
    t.call("k1", "a1", call_id="x"),
    t.call("k2", "a1", call_id="y"),
    t.result("r2", "y"),
    t.result("r1", "x"),
    t.assistant("a2"),
    t.call("k3", "a2", call_id="x"),
    t.result("r3", "x", "not allowed", **DENIED),
    t.user("u2"),
)
COVERING = r.checkpoint(6)


def _without(*names: str) -> Callable[[tuple[Block, ...]], list[Block]]:
    return lambda blocks: [block for block in blocks if block.item_id not in names]


def _swapped(one: str, other: str) -> Callable[[tuple[Block, ...]], list[Block]]:
    def change(blocks: tuple[Block, ...]) -> list[Block]:
        places = {block.item_id: n for n, block in enumerate(blocks)}
        found = list(blocks)
        found[places[one]], found[places[other]] = found[places[other]], found[places[one]]
        return found

    return change


def _twice(name: str) -> Callable[[tuple[Block, ...]], list[Block]]:
    return lambda blocks: [x for block in blocks for x in [block] * (1 + (block.item_id == name))]


def test_whole_pairs_hold_in_any_order_of_completion_and_beside_a_checkpoint() -> None:
    records = [t.build(LOG), t.build(LOG, checkpoint=COVERING)]
    assert holds("CTX-09.1", t.trace(LOG, records)) == declared("CTX-09.1")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_without("r1"), "calls without a result after them: 'k1'"),
        (_without("k2"), "results without a call before them: 'r2'"),
        (_twice("r3"), "more than once: 'r3'"),
        (_swapped("k1", "r1"), "calls without a result after them: 'k1'"),
        (_swapped("r3", "u2"), "calls without a result after them: 'k3'"),
        (_without("k1", "r1"), "only some of the calls of message 'a1'"),
    ],
)
def test_a_torn_pair_is_a_violation(
    change: Callable[[tuple[Block, ...]], Iterable[Block]], said: str
) -> None:
    assert violation("CTX-09.1", t.trace(LOG, [t.build(LOG, change=change)])).seen == said


def test_results_swapped_between_two_calls_of_one_id_are_a_violation() -> None:
    log = (
        *(t.user("u1"), t.assistant("a1")),
        *(t.call("k1", "a1", call_id="x"), t.call("k2", "a1", call_id="x")),
        *(t.result("r1", "x", "one"), t.result("r2", "x", "two"), t.user("u2")),
    )
    holds("CTX-09.1", t.trace(log, [t.build(log)]))
    found = violation("CTX-09.1", t.trace(log, [t.build(log, change=_swapped("r1", "r2"))]))
    assert found.seen == "result 'r2' stands as the answer to 'k1'"


def test_a_validator_that_tells_apart_holds() -> None:
    built = t.build(LOG)
    records = [
        r.validated(built),
        r.validated(built, "k1", defect="result dropped", change=_without("r1")),
        r.validated(built, "r1", defect="result twice", change=_twice("r1")),
        r.validated(built, "r1", defect="result before call", change=_swapped("k1", "r1")),
    ]
    assert holds("CTX-09.2", t.trace(LOG, records)) == declared("CTX-09.2")


def test_a_validator_that_accepts_an_orphan_is_a_violation() -> None:
    shown = r.validated(t.build(LOG), defect="result dropped", change=_without("r1"))
    found = violation("CTX-09.2", t.trace(LOG, [shown]))
    assert found.seen == "none found in a request with result dropped"
    assert found.required == "at least one violation"


def test_a_validator_that_rejects_a_whole_request_is_a_violation() -> None:
    found = violation("CTX-09.2", t.trace(LOG, [r.validated(t.build(LOG), "k1")]))
    assert found.required == "no violation"


def test_a_defect_that_is_none_is_not_held_against_the_validator() -> None:
    unjudged("CTX-09.2", t.trace(LOG, [r.validated(t.build(LOG), defect="only said to be one")]))


def _truncating(blocks: tuple[Block, ...]) -> list[Block]:
    pointer = b.truncated(t.result("r1", "x"), slot=Slot.HISTORY)
    return [pointer if block.item_id == "r1" else block for block in blocks]


def test_pairs_taken_whole_hold() -> None:
    records = [
        t.build(LOG, change=_truncating),
        r.compacted(LOG, COVERING),
    ]
    assert holds("CTX-09.3", t.trace(LOG, records)) == declared("CTX-09.3")


@pytest.mark.parametrize("covers", [3, 4, 5])
def test_a_cut_between_calls_and_results_is_a_violation(covers: int) -> None:
    found = violation("CTX-09.3", t.trace(LOG, [r.compacted(LOG, r.checkpoint(covers))]))
    assert found.seen.startswith("of message 'a1' the checkpoint covers 'k1'")
    assert found.witnesses == (d09.COMPACTED_PAIRS, d09.COMPACTED_PARALLEL_CALLS)


def test_a_half_that_is_passed_over_is_a_violation() -> None:
    violation("CTX-09.3", t.trace(LOG, [r.compacted(LOG, r.checkpoint(6, passed_over=("r1",)))]))


def test_a_pointer_without_its_call_is_a_violation() -> None:
    def change(blocks: tuple[Block, ...]) -> list[Block]:
        return _without("k1")(tuple(_truncating(blocks)))

    found = violation("CTX-09.3", t.trace(LOG, [t.build(LOG, change=change)]))
    assert found.seen == "the pointer for result 'r1' stands without its call"


OPEN = (t.assistant("a9"), t.call("k9", "a9"))
LATE = (*OPEN, t.user("u9"), t.result("r9", "k9"))


def _refused(probed: Sequence[LogItem], answer: a.BuildAnswer | None) -> BuildRecord:
    return t.build(LOG, purpose="probe", probed=tuple(probed), answer=answer)


def _naming(name: str, kind: a.InvalidKind = a.InvalidKind.UNANSWERED_CALL) -> a.InvalidInput:
    return a.InvalidInput(kind=kind, subject=name)


def test_open_and_late_calls_refused_by_name_hold() -> None:
    records = [
        t.build(LOG),
        _refused(OPEN, _naming("k9")),
        _refused(LATE, _naming("r9", a.InvalidKind.LATE_RESULT)),
    ]
    assert holds("CTX-09.4", t.trace(LOG, records)) == declared("CTX-09.4")


@pytest.mark.parametrize("answer", [None, _naming("k1")])
def test_an_open_call_that_is_built_or_not_named_is_a_violation(answer: a.InvalidInput | None) -> None:
    found = violation("CTX-09.4", t.trace(LOG, [_refused(OPEN, answer)]))
    assert found.required == "invalid input that names one of 'k9'"


def test_a_denied_call_taken_for_unanswered_is_a_violation() -> None:
    found = violation("CTX-09.4", t.trace(LOG, [t.build(LOG, answer=_naming("k3"))]))
    assert found.seen == "invalid input (unanswered_call) that names 'k3'"
