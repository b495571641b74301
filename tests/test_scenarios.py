"""Every scripted session can be read, and holds what it is there for.

What is checked here is the data. What a play of it shows is checked in `test_scripted_plays`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from contextproof import scenarios
from contextproof.conformance.contract.caps import MAX_CONSTRAINTS, MAX_FACTS, MAX_QUESTIONS, MAX_TASKS
from contextproof.conformance.contract.items import WORKING_STATE_TOOL
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.play import scenario as s
from scripted import FIFTY, calls, pieces, resolved, steps_of, texts

CORPUS_BYTES = range(10_000, 40_000)


# --- All of them ----------------------------------------------------------------------------


def test_the_fifty_turns_come_first_and_every_name_is_its_own() -> None:
    names = scenarios.names()
    assert names[0] == "fifty_turns"
    assert {"rotations", "escalation"} < set(names)
    own = [scenario.name for scenario in scenarios.scripted()]
    assert own == [name.removeprefix("openings/") for name in names]
    assert len(set(own)) == len(own)


@pytest.mark.parametrize("name", scenarios.names())
def test_a_scripted_session_is_the_same_after_a_round_trip(name: str) -> None:
    scenario = scenarios.load(name)
    again = s.Scenario.from_json(scenario.canonical())
    assert again == scenario
    assert again.canonical() == scenario.canonical()


@pytest.mark.parametrize("name", scenarios.names())
def test_a_scripted_session_can_be_read_by_eye(name: str) -> None:
    """Invisible characters are written as escapes, and short values stand on one line."""
    text = (Path(scenarios.__file__).parent / f"{name}.json").read_text(encoding="utf-8")
    hidden = [c for c in text if unicodedata.category(c) in ("Cf", "Zl", "Zp", "Cc", "Cn") and c != "\n"]
    assert hidden == []
    assert "\u00a0" not in text
    assert text.count("\n") > len(scenarios.load(name).steps)


@pytest.mark.parametrize("name", scenarios.names())
def test_items_have_ids_of_their_own_and_derive_from_earlier_ones_only(name: str) -> None:
    """Entries of working state are told apart within their field alone, so they are left out."""
    scenario = scenarios.load(name)
    opening = scenario.opening
    texts_and_memory = (*opening.policy, *opening.instructions, *opening.memory)
    known = [*(item.id for item in texts_and_memory), *(tool.id for tool in opening.tools)]
    for item_id, derived_from in _entering(scenario):
        assert set(derived_from) <= set(known), f"{item_id} derives from something later or unknown"
        known.append(item_id)
    twice = [item_id for item_id, times in Counter(known).items() if times > 1]
    assert twice == []


def _entering(scenario: s.Scenario) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Ids of items in the order in which they enter, each with what it derives from."""
    for step in scenario.steps:
        match step:
            case s.UserSays() | s.WriteMemory() | s.CorrectMemory():
                yield step.id, step.derived_from
            case s.Recall():
                yield from ((item.id, item.derived_from) for item in step.items)
            case s.WriteState():
                yield step.id, _entries_derive_from(step.change)
            case s.ModelReplies():
                yield step.id, step.derived_from
                yield from ((c.id, (*c.derived_from, *_entries_derive_from(c.update))) for c in step.calls)
                outcomes = [call.outcome for call in step.calls if call.outcome is not None]
                yield from ((outcome.id, outcome.derived_from) for outcome in outcomes)


def _entries_derive_from(change: s.StateChange | None) -> tuple[str, ...]:
    if change is None:
        return ()
    fields = (change.constraints, change.tasks, change.established_facts, change.open_questions)
    return tuple(name for field in fields for entry in field for name in entry.derived_from)


@pytest.mark.parametrize("name", scenarios.names())
def test_every_recipe_cuts_from_a_text_that_there_is(name: str) -> None:
    cut = {piece.name for piece in pieces(s.FromCorpus, scenarios.load(name))}
    assert cut <= set(scenarios.corpus_names())


@pytest.mark.parametrize("name", scenarios.corpus_names())
def test_a_corpus_text_is_long_and_varied(name: str) -> None:
    text = scenarios.corpus(name)
    assert len(text.encode()) in CORPUS_BYTES
    lines = [line for line in text.splitlines() if len(line) > 40]
    assert len(set(lines)) == len(lines)


def test_a_name_that_there_is_not_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(KeyError, match=r"no scripted session is named 'fifty'.*fifty_turns"):
        scenarios.load("fifty")
    with pytest.raises(KeyError, match=r"no corpus text is named 'novel'.*postmortem"):
        scenarios.corpus("novel")


# --- The fifty turns ------------------------------------------------------------------------


def test_fifty_times_the_user_speaks_and_is_heard_before_speaking_again() -> None:
    spoken = [n for n, step in enumerate(FIFTY.steps) if isinstance(step, s.UserSays)]
    assert len(spoken) == 50
    for start, end in pairwise([*spoken, len(FIFTY.steps)]):
        kinds = [step.step for step in FIFTY.steps[start:end] if step.step in ("request", "reply")]
        assert kinds[:2] == ["request", "reply"]
        assert kinds == ["request", "reply"] * (len(kinds) // 2)
    assert isinstance(FIFTY.steps[-1], s.CloseSession)


def test_the_clock_only_goes_on_and_crosses_midnight_a_month_and_a_clock_change() -> None:
    times = [FIFTY.opening.clock, *(step.clock for step in steps_of(s.SetClock))]
    clocks = [datetime.fromisoformat(text) for text in times]
    assert all(earlier < later for earlier, later in pairwise(clocks))
    in_turns = list(_clocks_within_turns())
    assert any(b.date() - a.date() == timedelta(days=1) for a, b in in_turns)
    assert any(a.month != b.month for a, b in in_turns)
    assert any(a.utcoffset() != b.utcoffset() for a, b in in_turns)


def _clocks_within_turns() -> Iterator[tuple[datetime, datetime]]:
    """The clock before and after, where it was set between two requests of one turn."""
    clock, sent = datetime.fromisoformat(FIFTY.opening.clock), False
    for step in FIFTY.steps:
        match step:
            case s.UserSays():
                sent = False
            case s.SendRequest():
                sent = True
            case s.SetClock():
                now = datetime.fromisoformat(step.clock)
                if sent:
                    yield clock, now
                clock = now


def test_tools_are_revoked_and_granted_in_mid_session_and_called_afterwards() -> None:
    permitted = [set(map(resolved, step.permissions)) for step in steps_of(s.SetPermissions)]
    opened = set(map(resolved, FIFTY.opening.permissions))
    called = [resolved(call.name) for call in calls()]
    assert len(FIFTY.opening.tools) - len(opened) == 3
    assert opened - permitted[0] == {"deploy.apply"}
    assert permitted[1] == opened
    assert called.count("deploy.apply") == 2
    assert permitted[2] - opened == {"pager.page_human"}
    assert called.count("pager.page_human") == 2


def test_a_tool_source_reconnects_with_another_order_other_keys_and_one_other_description() -> None:
    registered = steps_of(s.RegisterTools)[0].tools
    pinned = {tool.name: tool for tool in FIFTY.opening.tools}
    assert {tool.name for tool in registered} == set(pinned)
    assert [tool.name for tool in registered] != list(pinned)
    reworded = [tool.name for tool in registered if tool.description != pinned[tool.name].description]
    assert reworded == ["metrics.query"]
    for tool in registered:
        before = pinned[tool.name].parameters_json
        assert json.loads(tool.parameters_json) == json.loads(before)
        assert list(json.loads(tool.parameters_json)) == list(reversed(json.loads(before)))


def test_memory_is_written_and_corrected_one_item_twice() -> None:
    written = {step.id for step in steps_of(s.WriteMemory)}
    corrected = Counter(step.memory_id for step in steps_of(s.CorrectMemory))
    assert corrected["mem-tomasz"] == 2
    assert written & set(corrected)
    assert any(item.trust is Trust.EXTERNAL_UNTRUSTED for item in FIFTY.opening.memory)


def test_recall_comes_every_few_turns_labelled_unlabelled_and_hostile() -> None:
    turn, turns = 0, [0]
    items: list[s.LabelledItem] = []
    for step in FIFTY.steps:
        turn += isinstance(step, s.UserSays)
        if isinstance(step, s.Recall):
            turns.append(turn)
            items += step.items
    assert max(later - earlier for earlier, later in pairwise([*turns, 50])) <= 10
    assert {Trust.INTERNAL, Trust.EXTERNAL_UNTRUSTED, None} <= {item.trust for item in items}
    assert any(list(pieces(s.OwnDelimiter, item.text)) for item in items)
    assert any(list(pieces(s.OwnDelimiter, item.source)) for item in items)
    assert any(resolved(item.text) == "" for item in items)


def test_one_message_has_parallel_calls_that_fail_are_denied_and_are_interrupted_out_of_order() -> None:
    (reply,) = [reply for reply in steps_of(s.ModelReplies) if len(reply.order) == 5]
    made = {call.id: call for call in reply.calls}
    assert reply.order != tuple(made)
    assert any(call.outcome and call.outcome.status == "error" for call in reply.calls)
    assert any(call.name == "pager.page_human" for call in reply.calls)
    assert any(call.outcome is None for call in reply.calls)
    with pytest.raises(json.JSONDecodeError):
        json.loads(resolved(next(call.arguments for call in reply.calls if call.outcome is None)))


def test_call_ids_recur_in_later_turns_and_within_one_message() -> None:
    per_reply = [[call.call_id for call in reply.calls] for reply in steps_of(s.ModelReplies)]
    assert sum("call_1" in ids for ids in per_reply) > 10
    assert any(len(set(ids)) < len(ids) for ids in per_reply)


def test_untrusted_pages_imitate_everything_and_are_quoted_by_messages_that_say_so() -> None:
    pages = {c.outcome.id: c.outcome for c in calls() if c.name == "web.fetch" and c.outcome}
    assert all(page.trust is None for page in pages.values())
    imitated = {(p.item, p.part) for page in pages.values() for p in pieces(s.SentPart, page.text)}
    assert {("framing", "whole"), ("checkpoint", "whole")} <= imitated
    assert {"opening", "closing", "nonce"} <= {part for _, part in imitated}
    whole = "\n".join(resolved(page.text) for page in pages.values())
    assert "kept as" in whole
    assert WORKING_STATE_TOOL in whole
    assert {p.index for page in pages.values() for p in pieces(s.OwnDelimiter, page.text)} == {0, 1}
    assert any(list(pieces(s.OwnDelimiter, page.source)) for page in pages.values())
    for kind in (s.ModelReplies, s.UserSays):
        quoting = [step for step in steps_of(kind) if set(step.derived_from) & set(pages)]
        assert any(_shares_a_phrase(resolved(step.text), whole) for step in quoting), kind


def _shares_a_phrase(text: str, page: str, length: int = 40) -> bool:
    low, words = page.lower(), text.lower()
    return any(words[n : n + length] in low for n in range(max(0, len(words) - length)))


def test_facts_derive_from_untrusted_items_directly_and_over_two_steps() -> None:
    untrusted = {c.outcome.id for c in calls() if c.outcome and c.outcome.trust is None}
    quoting = {r.id for r in steps_of(s.ModelReplies) if set(r.derived_from) & untrusted}
    facts = [fact for call in calls() if call.update for fact in call.update.established_facts]
    assert any(set(fact.derived_from) & untrusted for fact in facts)
    assert any(set(fact.derived_from) & quoting for fact in facts)


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("Chinese", "[\u4e00-\u9fff]{8}"),
        ("Arabic", "[\u0600-\u06ff]{4}"),
        ("Devanagari", "[\u0900-\u097f]{4}"),
        ("an emoji family", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"),
        ("a flag of regional indicators", "[\U0001f1e6-\U0001f1ff]{2}"),
        ("a flag of tag characters", "\U0001f3f4[\U000e0020-\U000e007f]+"),
        ("tag characters alone", "[a-z][\U000e0020-\U000e007e]{8}"),
        ("a variation selector", "\ufe0f"),
        ("special tokens", r"<\|endoftext\|>.*<\|im_start\|>.*<\|fim_prefix\|>"),
        ("a line separator", "\u2028"),
        ("bidirectional controls", "\u202e.*\u202c"),
        ("zero-width characters", "\u200b.*\u200c.*\ufeff"),
        ("control characters", "\u0007\u001b.*\u0001\u007f"),
        ("a long run", r"\S{800}"),
    ],
)
def test_the_session_holds_difficult_text(what: str, pattern: str) -> None:
    said = [resolved(step.text) for kind in (s.UserSays, s.ModelReplies) for step in steps_of(kind)]
    said += [resolved(call.outcome.text) for call in calls() if call.outcome]
    assert any(re.search(pattern, text, re.DOTALL) for text in said), what


def test_no_text_holds_a_nul() -> None:
    assert not any("\0" in text for name in scenarios.names() for text in texts(scenarios.load(name)))


def test_updates_try_every_cap_of_working_state_and_a_constraint_that_is_the_users() -> None:
    written = [call.update for call in calls() if call.update is not None]
    assert max(len(change.constraints) for change in written) + 6 == MAX_CONSTRAINTS
    assert max(len(change.tasks) for change in written) == MAX_TASKS
    assert sum(len(change.established_facts) for change in written) > MAX_FACTS
    assert max(len(change.open_questions) for change in written) == MAX_QUESTIONS
    assert any(change.remove_constraints for change in written)
    assert {step.by for step in steps_of(s.WriteState)} == {"user", "runtime"}
    assert any(c.name == WORKING_STATE_TOOL and c.update is None for c in calls())


def test_compactions_are_forced_with_summarizers_that_work_fail_and_say_nothing() -> None:
    modes: list[str] = []
    mode = "faithful"
    for step in FIFTY.steps:
        if isinstance(step, s.SetSummarizer):
            mode = step.mode
        elif isinstance(step, s.ForceCompaction):
            modes.append(mode)
    assert modes == ["fixed", "raises", "fixed", "empty"]
    summaries = [step for step in steps_of(s.SetSummarizer) if step.mode == "fixed"]
    first, *later = (count("o200k_base", resolved(step.text)) for step in summaries)
    assert 600 <= first <= 700
    assert max(later) <= 300
    assert any(list(pieces(s.OwnDelimiter, step.text)) for step in summaries)


def test_sends_fail_usage_drifts_and_sessions_are_resumed_and_probed() -> None:
    requests = steps_of(s.SendRequest)
    assert {request.failures for request in requests} >= {1, 2}
    assert all(request.extra_ppm <= 80_000 for request in requests)
    assert sum(request.extra_ppm >= 20_000 for request in requests) == 2
    assert len(steps_of(s.Resume)) == 2
    probed = [item for probe in steps_of(s.ProbeBuild) for item in probe.items]
    assert "mood_ring" in {item.type for item in probed}
    assert all(item.id.startswith("probe-") for item in probed)


def test_one_result_is_larger_than_the_whole_body() -> None:
    body = FIFTY.opening.model.body_tokens
    assert body is not None
    largest = max((call.outcome.text for call in calls() if call.outcome), key=lambda t: len(resolved(t)))
    assert count("o200k_base", resolved(largest)) > body
