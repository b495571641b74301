"""The oracles of compaction and of differences, on small values."""

from __future__ import annotations

import json

import pytest

from contextproof.conformance.contract.request import Reference
from contextproof.conformance.requirements.oracles_checkpoint import (
    contents,
    covered,
    gaps,
    given_whole,
    original,
)
from contextproof.conformance.requirements.oracles_depth import possible_depths
from contextproof.conformance.requirements.oracles_difference import first_difference
from contextproof.conformance.requirements.oracles_envelopes import nonce_bits
from requirements import records as r
from requirements import toy_blocks as b
from requirements import traces as t

LOG = (t.user("u1", "äöü"), t.assistant("a1"), t.user("u2"))


def test_a_checkpoint_covers_leading_messages_but_those_passed_over() -> None:
    assert covered(None, LOG) == []
    assert [item.id for item in covered(r.checkpoint(2), LOG)] == ["u1", "a1"]
    assert [item.id for item in covered(r.checkpoint(3, passed_over=("a1",)), LOG)] == ["u1", "u2"]


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        (Reference(item_id="u1"), "äöü".encode()),
        (Reference(item_id="u1", start=2, end=4), "ö".encode()),
        (Reference(item_id="u1", start=2, end=7), None),
        (Reference(item_id="u9"), None),
    ],
)
def test_references_resolve_to_bytes_of_content(reference: Reference, found: bytes | None) -> None:
    assert original(reference, contents(LOG)) == found


@pytest.mark.parametrize(
    ("spans", "missing"),
    [
        ([(None, None)], False),
        ([(0, 4), (4, 6)], False),
        ([(3, 6), (0, 4)], False),
        ([(0, 3), (4, 6)], True),
        ([(0, 5)], True),
        ([], True),
    ],
)
def test_references_that_leave_bytes_out_have_gaps(
    spans: list[tuple[int | None, int | None]], missing: bool
) -> None:
    references = [Reference(item_id="u1", start=start, end=end) for start, end in spans]
    assert gaps(references, 6) is missing


def test_an_item_spread_over_parts_is_given_whole() -> None:
    item = t.user("u1", "first half, second half")
    halves = [r.part(item, text="first half, "), r.part(item, text="second half")]
    assert given_whole(item, halves, b.MANIFEST)
    assert not given_whole(item, halves[:1], b.MANIFEST)


def test_a_call_is_whole_with_its_name_and_its_arguments() -> None:
    call = t.call("k1", "a1", arguments='{"q":"x"}')
    assert given_whole(call, [r.part(call, text='search({"q":"x"})')], b.MANIFEST)
    assert not given_whole(call, [r.part(call, text="search(…)")], b.MANIFEST)


@pytest.mark.parametrize("plain", [True, False])
def test_content_as_json_within_json_is_whole(plain: bool) -> None:
    item = t.user("u1", 'He said "\u2066é".')
    once = json.dumps(item.text, ensure_ascii=plain)
    for again in (True, False):
        assert given_whole(item, [r.part(item, text=json.dumps([once], ensure_ascii=again))], b.MANIFEST)


def test_an_answer_that_repeats_its_part_may_stand_in_a_later_part_by_chance() -> None:
    said = "It was done, and then it was done again."
    first, second = t.user("u1", said), t.assistant("a1", "another text")
    calls = [
        r.summarizer_call(r.part(first, text=said), wrote=said),
        r.summarizer_call(r.part(second, text=f"another text; {said}"), wrote="They spoke of this and that."),
    ]
    new = r.checkpoint(2, "They spoke of this and that.")
    assert possible_depths(None, new, calls, contents((first, second))) == {1, 2}
    own = [r.summarizer_call(r.part(first, text="x"), wrote=said), calls[1]]
    assert possible_depths(None, new, own, contents((first, second))) == {2}


def test_a_message_that_quotes_a_summary_is_not_the_summary() -> None:
    old = r.checkpoint(1, "A summary of some length, of trains.", id="cp-0")
    quoting = (t.user("u1", f"You said: {old.summary}"),)
    call = r.summarizer_call(r.part(quoting[0]))
    new = r.checkpoint(2, f"{old.summary}\nThey spoke.")
    assert possible_depths(old, new, [call], contents(quoting)) == {1}
    assert possible_depths(old, new, [call], {}) == {2}


def test_a_blank_summary_leaves_the_depth_open() -> None:
    blank = r.summarizer_call(r.part(LOG[0]), wrote=" ")
    assert possible_depths(None, r.checkpoint(1, ""), [blank], {}) == {0, 1}


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ({"a": [1, 2]}, {"a": [1, 3]}, ".a[1]: 2 against 3"),
        ({"a": [1]}, {"a": [1, 2]}, ".a: 1 entries against 2 entries"),
        ({"a": "same start"}, {"a": "same end"}, ".a from character 5 on: 'start' against 'end'"),
        ({"a": 1}, {"a": 1, "b": 2}, ".b: None against 2"),
        ("x", "y", ".: 'x' against 'y'"),
    ],
)
def test_the_first_difference_is_told_by_its_path(left: object, right: object, said: str) -> None:
    assert str(first_difference(left, right)) == said
    assert first_difference(left, left) is None


@pytest.mark.parametrize(
    ("nonces", "bits"),
    [
        (["0123456789abcdef", "ffff0000ffff0000"], 64),
        (["deadbeef"], 32),
        (["MZXW6YTBOI5DQ"], 65),
        (["aB3_aB3_aB3"], 66),
        (["0123456789abcdef", "short"], 25.8),
    ],
)
def test_a_nonces_strength_follows_from_its_alphabet_and_length(nonces: list[str], bits: float) -> None:
    assert nonce_bits(nonces) == pytest.approx(bits, abs=0.1)
