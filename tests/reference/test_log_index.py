"""A log's index is the same however it came about, and knows what may be believed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract.items import LogItem, ToolResult, UndeclaredItem
from contextproof.conformance.contract.trust import log_trust, opening_trust
from contextproof.conformance.contract.vocabulary import Slot, Trust
from contextproof.reference_impl.log_index import LogIndex, empty_index, extended, index_log
from contextproof.reference_impl.memo import FoldMemo
from reference.conversations import logs
from reference.making import assistant, exchange, opening, user

OPENING = opening()


def summed(index: LogIndex) -> tuple[object, ...]:
    """An index as plain values, for comparison."""
    return (index.turns, index.history, dict(index.trust), dict(index.by_id), index.length)


@given(logs(), st.data())
def test_an_index_grown_in_steps_is_the_index_made_at_once(
    log: tuple[LogItem, ...], data: st.DataObject
) -> None:
    grown, done = empty_index(OPENING), 0
    for end in (*sorted(data.draw(st.sets(st.integers(0, len(log))))), len(log)):
        grown, done = extended(OPENING, grown, log[done:end]), end
    at_once = extended(OPENING, empty_index(OPENING), log)
    assert summed(grown) == summed(at_once) == summed(index_log(OPENING, log))


def test_a_fork_does_not_show_in_the_log_it_left() -> None:
    log = (user("u1"), *exchange("x", "text"))
    before = summed(index_log(OPENING, log))
    index_log(OPENING, (*log, assistant("stray"), user("u2")))
    assert summed(index_log(OPENING, log)) == before
    other = index_log(OPENING, (*log, user("u3")))
    assert "stray" not in other.trust
    assert other.by_id["u3"].position == len(log)


@given(logs())
def test_trust_is_the_contracts(log: tuple[LogItem, ...]) -> None:
    assert dict(index_log(OPENING, log).trust) == log_trust(log, opening_trust(OPENING))


def test_a_late_derivation_counts_as_unknown() -> None:
    log = (user("u1"), assistant("a1", derived_from=("a2",)), assistant("a2"))
    assert index_log(OPENING, log).trust["a1"] is Trust.EXTERNAL_UNTRUSTED


def test_only_slots_change_when_a_turn_ends() -> None:
    log = (user("u1"), *exchange("x", "text"))
    entries = index_log(OPENING, log).turns[0].entries
    assert [e.block.slot for e in entries] == [Slot.CURRENT, *[Slot.ACTIVE] * 3]
    history = index_log(OPENING, (*log, user("u2"))).history
    assert [b.model_copy(update={"slot": e.block.slot}) for b, e in zip(history, entries, strict=True)] == [
        e.block for e in entries
    ]


@given(logs())
def test_sums_over_turns_are_those_of_their_entries(log: tuple[LogItem, ...]) -> None:
    turns = index_log(OPENING, log).turns
    entries = [entry for turn in turns for entry in turn.entries]
    assert turns[-1].tokens_before + turns[-1].tokens == sum(e.tokens for e in entries)
    assert turns[-1].results_before + turns[-1].result_tokens == sum(e.result_tokens for e in entries)
    truncatable = [e for e in entries if isinstance(e.item, ToolResult) and e.item.can_truncate]
    assert [e for e in entries if e.is_result] == truncatable
    assert [entry.number for entry in entries] == list(range(len(entries)))


def test_the_first_undeclared_type_is_named() -> None:
    log = (user("u1"), UndeclaredItem(id="s", type="sticker"), UndeclaredItem(id="t", type="tape"))
    assert index_log(OPENING, log).undeclared == "sticker"


def test_a_memo_folds_only_what_is_new() -> None:
    memo: FoldMemo[str, int] = FoldMemo()
    folded: list[int] = []

    def extend(state: int, more: tuple[LogItem, ...]) -> int:
        folded.append(len(more))
        return state + len(more)

    log: tuple[LogItem, ...] = tuple(user(f"u{n}") for n in range(10))
    lengths = [memo.fold("s", log[:end], lambda: 0, extend) for end in (4, 9, 4, 10)]
    assert lengths == [4, 9, 4, 10]
    assert folded == [4, 5, 1]
    assert memo.fold("another", log, lambda: 0, extend) == 10
    assert folded[-1] == 10


def test_a_memo_knows_equal_entries_that_are_other_objects() -> None:
    memo: FoldMemo[str, int] = FoldMemo()
    folded: list[int] = []

    def extend(state: int, more: tuple[LogItem, ...]) -> int:
        folded.append(len(more))
        return state + len(more)

    memo.fold("s", (user("u1"),), lambda: 0, extend)
    memo.fold("s", (user("u1"), user("u2")), lambda: 0, extend)
    assert folded == [1, 1]
