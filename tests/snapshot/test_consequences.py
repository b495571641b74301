"""What follows from a change is told from what was measured."""

from __future__ import annotations

import json

from contextproof.conformance.snapshot.checking import Compared
from contextproof.conformance.snapshot.consequences import follows
from contextproof.conformance.snapshot.diff import compare
from contextproof.conformance.snapshot.facts import Facts, Prefix
from contextproof.conformance.snapshot.store import stored
from contextproof.conformance.snapshot.telling import consequence_lines
from snapshot.making import captured, facts, margin, session


def _lines(old: Facts, new: Facts) -> list[str]:
    return list(consequence_lines(follows(old, new, sessions=20)))


def test_where_nothing_is_measured_otherwise_it_says_so() -> None:
    assert _lines(facts(), facts()) == [
        "tokens: as before (1,000 in 10 requests of fifty_turns)",
        "caches: no byte of any request changes, so nothing is written anew",
        "yields: what gives way, and when, is as before",
    ]


def test_tokens_are_told_by_class() -> None:
    new = facts(fifty_turns=session(tokens={"history": 990, "framing": 100}))
    lines = _lines(facts(), new)
    assert lines[0] == "tokens in 10 requests of fifty_turns: 1,000 → 1,090 (+9.0 %)"
    assert lines[1] == "  history: 900 → 990 (+10.0 %)"
    assert not any("framing" in line for line in lines)


def test_another_prefix_makes_every_cache_be_written_anew() -> None:
    new = facts(fifty_turns=session(prefixes=(Prefix(epoch=1, sha256="two", tokens=12),)))
    cache = follows(facts(), new, sessions=20).cache
    assert cache is not None
    assert (cache.where, cache.tokens, cache.all_tokens) == ("prefix", 50, 1_000)
    assert cache.times == 12.5
    told = "\n".join(_lines(facts(), new))
    assert "the prefix's bytes change in 1 of 1 sessions" in told
    assert "50 tokens a session" in told
    assert "1,000 tokens for 20 sessions" in told
    assert "12.5 times" in told


def test_where_only_the_body_changes_the_prefix_stays_cached() -> None:
    cache = follows(facts(), facts(fifty_turns=session(body_sha256="other")), sessions=20).cache
    assert cache is not None
    assert (cache.where, cache.tokens) == ("body", 40)


def test_yields_and_compactions_that_move_are_told() -> None:
    old = facts(fifty_turns=session(yields=("turn 2: a", "turn 3: b"), compactions=("turn 4: needed",)))
    new = facts(fifty_turns=session(yields=("turn 2: a", "turn 2: b")))
    lines = _lines(old, new)
    assert "yields in fifty_turns: 1 gone, 1 new" in lines
    assert "  - turn 3: b" in lines
    assert "  + turn 2: b" in lines
    assert "compactions in fifty_turns: 1 gone, 0 new" in lines


def test_a_bound_that_comes_close_or_is_crossed_is_told_and_one_that_stays_is_not() -> None:
    def told(before: int, after: int) -> list[str]:
        return [line for line in _lines(facts(margin(before)), facts(margin(after))) if "CTX" in line]

    assert told(60, 60) == []
    assert told(60, 65) == ["  CTX-13.9 empty envelope: 60 → 65, at most 80 tokens"]
    assert told(60, 72) == ["  CLOSE: CTX-13.9 empty envelope: 60 → 72, at most 80 tokens"]
    assert told(60, 81) == ["  CROSSED: CTX-13.9 empty envelope: 60 → 81, at most 80 tokens"]
    assert told(79, 75) == ["  CTX-13.9 empty envelope: 79 → 75, at most 80 tokens"]


def test_a_least_bound_is_crossed_from_above() -> None:
    ratio = {"unit": "thousandths", "at_least": True}
    assert not margin(1050, 1050, **ratio).crossed
    assert margin(1049, 1050, **ratio).crossed
    assert margin(0, 0).share == 0
    assert margin(1, 0).crossed


def test_the_bound_itself_may_move() -> None:
    lines = _lines(facts(margin(60, 80)), facts(margin(60, 70)))
    assert "  CTX-13.9 empty envelope: 60 → 60, at most 70 tokens (before: 80)" in lines


def test_sessions_that_only_one_of_both_sent_anything_in_are_told() -> None:
    new = facts(fifty_turns=session(), hostile=session())
    assert _lines(facts(), new)[-1] == "only one of both sent a request in: hostile"
    assert follows(facts(a=session()), facts(b=session()), sessions=1).session == ""


def test_json_names_costs_and_what_is_close() -> None:
    new = facts(margin(79), fifty_turns=session(body_sha256="other"))
    compared = _compared(facts(margin(60), fifty_turns=session()), new)
    consequences = json.loads(compared.told("json", sessions=3))["consequences"]
    assert consequences["cache"]["all_tokens"] == 3 * consequences["cache"]["tokens"]
    assert consequences["cache"]["thousandths_of_an_uncached_token"] == {"written": 1250, "read": 100}
    assert (consequences["margins"][0]["crossed"], consequences["margins"][0]["close"]) == (False, True)


def _compared(old: Facts, new: Facts) -> Compared:
    before, after = stored(captured({}, old)), stored(captured({}, new))
    return Compared(before, after, compare(before, after))


def test_other_measures_alone_are_a_change() -> None:
    compared = _compared(facts(), facts(fifty_turns=session(repeated=1)))
    assert not compared.difference.is_empty
    assert compared.told().startswith("no line changed; 0 of 0 files show other bytes\n")
