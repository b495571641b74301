"""The contract: frozen, strict, one canonical form, and no type without a region."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from contextproof.conformance.contract import items as i
from contextproof.conformance.contract.calls import METHODS
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.request import Extent
from contextproof.conformance.contract.trust import effective_trust, log_trust
from contextproof.conformance.contract.vocabulary import (
    Region,
    Trust,
    declaration,
    declare,
    declared_types,
    lowest,
)
from contextproof.conformance.schemas.models import schemas

LOG_ITEM: TypeAdapter[i.LogItem] = TypeAdapter(i.LogItem)
texts = st.text()
ids = st.text(min_size=1)
messages = st.one_of(
    st.builds(i.UserMessage, id=ids, text=texts, derived_from=st.lists(ids).map(tuple)),
    st.builds(i.AssistantMessage, id=ids, text=texts),
    st.builds(i.ToolCall, id=ids, message_id=ids, call_id=texts, name=st.text(min_size=1), arguments=texts),
    st.builds(
        i.ToolResult,
        id=ids,
        call_id=texts,
        status=st.sampled_from(i.ResultStatus),
        text=texts,
        source=texts,
        trust=st.none() | st.sampled_from(Trust),
    ),
)


def test_a_type_cannot_be_declared_without_a_region() -> None:
    with pytest.raises(TypeError, match="region"):
        declare("sticker", trust=Trust.INTERNAL)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Region"):
        declare("sticker", region="A", trust=Trust.INTERNAL)  # type: ignore[arg-type]
    assert declaration("sticker") is None


def test_a_type_cannot_be_declared_twice() -> None:
    with pytest.raises(ValueError, match="already"):
        declare("user_message", region=Region.A, trust=Trust.INTERNAL)


def test_region_a_holds_the_five_types_of_the_record() -> None:
    assert declared_types(Region.A) == (
        "platform_policy",
        "framing",
        "agent_instructions",
        "tool_definition",
        "memory_snapshot",
    )


@given(messages)
def test_a_message_survives_its_canonical_form_byte_for_byte(item: i.Message) -> None:
    back = LOG_ITEM.validate_json(item.canonical())
    assert back == item
    assert back.canonical() == item.canonical()


@given(messages)
def test_a_message_cannot_be_changed(item: i.Message) -> None:
    with pytest.raises(ValidationError):
        item.id = "another"  # type: ignore[misc]


def test_unknown_fields_and_loose_types_are_refused() -> None:
    for wrong in ({"id": "u", "text": "hi", "colour": "red"}, {"id": "u", "text": 7}, {"text": "hi"}):
        with pytest.raises(ValidationError):
            i.UserMessage.model_validate(wrong)


@pytest.mark.parametrize("text", ["\ud83d", "a\udc00b"])
def test_a_lone_surrogate_is_refused_with_its_field(text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        i.UserMessage(id="u", text=text)
    assert caught.value.errors()[0]["loc"] == ("text",)


def test_an_entry_of_an_undeclared_type_is_kept_apart_from_declared_ones() -> None:
    item = LOG_ITEM.validate_json('{"type": "sticker", "id": "s1", "text": ":)"}')
    assert isinstance(item, i.UndeclaredItem)
    with pytest.raises(ValidationError, match="declared type"):
        i.UndeclaredItem(id="x", type="recall")


@pytest.mark.parametrize(
    ("schema", "problem"),
    [("[1]", "object"), ('{"a": 0.5}', "fraction"), ('{"a": 1, "a": 2}', "twice"), ("{", "Expecting")],
)
def test_a_tool_schema_must_be_json_that_has_one_form(schema: str, problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        i.ToolDefinition(id="t", name="n", description="", parameters_json=schema, source="s")


def test_content_of_a_tool_does_not_depend_on_the_key_order_of_its_source() -> None:
    def tool(schema: str) -> i.ToolDefinition:
        return i.ToolDefinition(id="t", name="n", description="d", parameters_json=schema, source="s")

    assert i.content(tool('{"b": 1, "a": 2}')) == i.content(tool('{"a":2,"b":1}'))


def test_content_of_a_call_keeps_the_bytes_of_its_arguments() -> None:
    arguments = '{"b": 1,  "a": "\\u00e9"}'
    call = i.ToolCall(id="c", message_id="m", call_id="1", name="f", arguments=arguments)
    assert json.loads(i.content(call)) == {"name": "f", "arguments": arguments}


def _result(**fields: object) -> i.ToolResult:
    values = {"id": "r", "call_id": "1", "status": i.ResultStatus.OK, "text": "", "source": "web"}
    return i.ToolResult.model_validate({**values, **fields})


def test_results_are_untrusted_unless_labelled_and_never_above_internal() -> None:
    assert i.own_trust(_result()) is Trust.EXTERNAL_UNTRUSTED
    assert i.own_trust(_result(trust=Trust.PLATFORM)) is Trust.INTERNAL
    assert i.own_trust(_result(status=i.ResultStatus.DENIED)) is Trust.INTERNAL


def test_effective_trust_follows_derivation_through_every_step() -> None:
    log = (
        _result(),
        i.AssistantMessage(id="a", text="it says so", derived_from=("r",)),
        i.UserMessage(id="u", text="you said", derived_from=("a",)),
        i.UserMessage(id="v", text="mine"),
    )
    trust = log_trust(log, {})
    assert trust["u"] is Trust.EXTERNAL_UNTRUSTED
    assert trust["v"] is Trust.USER


def test_a_derivation_from_something_unknown_is_untrusted() -> None:
    item = i.UserMessage(id="u", text="", derived_from=("nobody",))
    assert effective_trust(item, {}) is Trust.EXTERNAL_UNTRUSTED


@given(st.lists(st.sampled_from(Trust), min_size=1))
def test_the_lowest_of_some_trusts_is_below_none_of_them(some: list[Trust]) -> None:
    assert lowest(*some) == max(some, key=lambda trust: trust.rank)


def test_an_extent_counts_bytes_not_characters() -> None:
    assert Extent(start=0, end=4).of("😀!") == "😀".encode()
    with pytest.raises(ValidationError):
        Extent(start=2, end=1)


def test_a_manifest_must_order_every_place_once() -> None:
    fields = {"name": "n", "version": "1", "claims": (), "delimiters": (), "codecs": (), "summary_bound": 1}
    order = Manifest.model_validate(fields).order
    with pytest.raises(ValidationError, match="exactly once"):
        Manifest.model_validate({**fields, "order": order[:-1]})


def test_every_call_and_answer_has_a_schema() -> None:
    found = schemas()
    for name in METHODS:
        assert f"{name}.call" in found
        assert f"{name}.answer" in found
    assert {"manifest", "scenario", "trace", "summarize.call", "count.answer"} <= set(found)
