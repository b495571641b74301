"""The oracle of pairing, against conversations paired by hand."""

from __future__ import annotations

import pytest

from contextproof.conformance.requirements.oracles_pairing import (
    Beat,
    block_beats,
    late_results,
    log_beats,
    pair,
)
from requirements import traces as t


def _beats(words: str) -> list[Beat]:
    """``m`` a message; ``c1:x`` call c1 by id x; ``r1:x`` a result by that id."""
    beats = []
    for word in words.split():
        name, _, call_id = word.partition(":")
        kinds = {"m": "message", "c": "call", "r": "result"}
        beats.append(Beat(kinds[name[0]], name, call_id))  # type: ignore[arg-type]
    return beats


@pytest.mark.parametrize(
    ("words", "pairs", "unanswered", "stray"),
    [
        ("m c1:x r1:x", "c1r1", "", ""),
        ("m c1:x c2:y r2:y r1:x m", "c2r2 c1r1", "", ""),
        ("m c1:x r1:x m c2:x r2:x", "c1r1 c2r2", "", ""),
        ("m c1:x c2:x r1:x r2:x", "c1r1 c2r2", "", ""),
        ("m c1: r1:", "c1r1", "", ""),
        ("m c1:x m r1:x", "", "c1", "r1"),
        ("m r1:x c1:x", "", "c1", "r1"),
        ("m c1:x r1:x r2:x", "c1r1", "", "r2"),
        ("m c1:x c2:x r1:x", "c1r1", "c2", ""),
        ("m r1:x", "", "", "r1"),
        ("", "", "", ""),
    ],
)
def test_calls_and_results_pair_within_their_unit(
    words: str, pairs: str, unanswered: str, stray: str
) -> None:
    found = pair(_beats(words))
    assert [f"{call}{result}" for call, result in found.pairs] == pairs.split()
    assert list(found.unanswered) == unanswered.split()
    assert list(found.stray) == stray.split()
    assert found.is_whole is not bool(unanswered or stray)


def test_a_log_and_the_request_built_from_it_have_the_same_beats() -> None:
    log = (t.user("u1"), t.assistant("a1"), t.call("k1", "a1", call_id="x"), t.result("r1", "x"))
    in_request = block_beats(t.body(log, t.inputs(log)))
    assert sorted(in_request) == sorted(log_beats(log))


def test_a_result_after_the_next_user_message_is_late_and_one_after_an_assistants_is_not() -> None:
    opened = (t.user("u1"), t.assistant("a1"), t.call("k1", "a1", call_id="x"))
    assert late_results((*opened, t.user("u2"), t.result("r1", "x"))) == [("k1", "r1")]
    assert late_results((*opened, t.assistant("a2"), t.result("r1", "x"))) == []
