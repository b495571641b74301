"""Both formats: what is written reads back as it was said; what is no message is refused with its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from contextproof.conformance.trimming.dialogue import Conversation, Step, ToolUse, Turn, lines, needed
from contextproof.conformance.trimming.formats import FormatName, WrongShape, flat
from contextproof.conformance.trimming.generating import any_text, conversations
from contextproof.conformance.trimming.playing import FORMATS
from contextproof.scenarios import corpus

WORKED = Turn(
    user="Look it up.",
    steps=(Step(says="I will.", uses=(ToolUse(result="1"), ToolUse(result="2")), is_reversed=True),),
)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(conversation=conversations(any_text(), 0, 4))
def test_what_is_written_reads_back_as_it_was_said(name: FormatName, conversation: Conversation) -> None:
    format_ = FORMATS[name]
    said = lines(conversation, corpus)
    entries = flat(format_.read(format_.write(said, conversation)))
    texts = [
        text
        for line in said
        if format_.has_system or line.role != "system"
        for text in (
            *([line.text] if line.text or not (line.calls or line.results) else []),
            *(result.text for result in line.results),
        )
    ]
    assert [entry.text for entry in entries if entry.kind != "call"] == texts
    calls = [(call.id, call.tool) for line in said for call in line.calls]
    assert [(entry.id, entry.tool) for entry in entries if entry.kind == "call"] == calls


def test_words_right_after_results_stand_in_one_message_with_them_at_anthropic() -> None:
    said = lines(Conversation(turns=(WORKED, Turn(user="No, wait."))), corpus)
    written = FORMATS["anthropic"].write(said, Conversation())
    assert [message["role"] for message in written] == ["user", "assistant", "user"]
    assert [block["type"] for block in written[-1]["content"]] == ["tool_result", "tool_result", "text"]


def test_call_ids_recur_where_a_conversation_has_that_trait() -> None:
    talk = Conversation(turns=(WORKED, WORKED), traits=("recurring ids",))
    ids = [call.id for line in lines(talk, corpus) for call in line.calls]
    assert ids == ["call_0", "call_1"] * 2


def test_needed_are_system_texts_the_current_user_message_and_the_latest_calls_behind_it() -> None:
    last = Turn(user="All of it.", steps=(*WORKED.steps, *WORKED.steps))
    said = lines(Conversation(system=("Be brief.",), turns=(WORKED, last)), corpus)
    assert [line.text for line in needed(said)] == ["Be brief.", "All of it.", "I will.", ""]
    assert [call.id for call in needed(said)[2].calls] == ["call_4", "call_5"]
    assert needed([]) == []


@pytest.mark.parametrize(
    ("name", "returned", "words"),
    [
        ("openai", "text", "a text, not a list of messages"),
        ("openai", [3], "message 0 is a number"),
        ("openai", [{"role": "tutor"}], "'tutor'"),
        ("openai", [{"role": "tool", "content": "x"}], "tool_call_id is nothing"),
        ("openai", [{"role": "user", "content": {"text": "x"}}], "content is an object"),
        ("openai", [{"role": "user", "content": [{"type": "image_url"}]}], "no text"),
        ("openai", [{"role": "assistant", "tool_calls": [{"id": "c"}]}], "no function"),
        ("anthropic", [{"role": "system", "content": "x"}], "'system'"),
        ("anthropic", [{"role": "user"}], "content is nothing"),
        ("anthropic", [{"role": "user", "content": ["x"]}], "does not know"),
        ("anthropic", [{"role": "assistant", "content": [{"type": "tool_use", "input": {}}]}], ".id is"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(name: FormatName, returned: object, words: str) -> None:
    with pytest.raises(WrongShape, match=words.replace("[", r"\[").replace(".", r"\.")):
        FORMATS[name].read(returned)


def test_a_cache_marker_is_looked_past() -> None:
    block = {"type": "text", "text": "x"}
    marked = {**block, "cache_control": {"type": "ephemeral"}}
    read = FORMATS["anthropic"].read
    assert read([{"role": "user", "content": [block]}]) == read([{"role": "user", "content": [marked]}])
    assert read([{"role": "user", "content": "x"}]) == read([{"role": "user", "content": [block]}])
