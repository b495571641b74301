"""Envelopes: what stands inside stays inside, and comes out as it went in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract.caps import CAPS
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.contract.vocabulary import TokenClass, Trust, declared_types
from contextproof.reference_impl.envelope import CODEC, DELIMITERS, nonce_of, quote, seal
from contextproof.reference_impl.framing import FRAMING
from reference.hostile import texts
from reference.making import SECRET

TRUST = st.sampled_from(tuple(Trust))


@given(content=texts(), source=texts(), trust=TRUST)
def test_any_content_is_recovered_exactly(content: str, source: str, trust: Trust) -> None:
    text, envelope = seal(SECRET, "tool_result", trust, source, content)
    assert CODEC.decode(envelope.interior.of(text).decode()) == content


@given(content=texts(), source=texts())
def test_delimiters_stand_only_where_the_envelope_is(content: str, source: str) -> None:
    text, envelope = seal(SECRET, "tool_result", Trust.INTERNAL, source, content)
    interior = envelope.interior.of(text).decode()
    assert [delimiter for delimiter in DELIMITERS if delimiter in interior] == []
    assert [text.count(delimiter) for delimiter in DELIMITERS] == [1, 1]
    assert text.startswith(DELIMITERS[0])


@given(content=texts(), source=texts(), trust=TRUST)
def test_attributes_lie_where_the_extents_say(content: str, source: str, trust: Trust) -> None:
    text, envelope = seal(SECRET, "recall", trust, source, content)
    nonce = nonce_of(SECRET, "recall", source, content)
    assert envelope.type.of(text) == b"recall"
    assert envelope.trust.of(text).decode() == trust.value
    assert json.loads(envelope.source.of(text)) == source
    assert envelope.nonce.of(text).decode() == nonce
    assert envelope.closing_nonce.of(text).decode() == nonce
    assert envelope.closing.end == len(text.encode())


@given(source=texts())
def test_a_source_cannot_leave_its_attribute(source: str) -> None:
    shown = quote(source)
    assert shown.isascii()
    assert "\n" not in shown
    assert json.JSONDecoder().raw_decode(shown + ' trust=platform"') == (source, len(shown))


@given(
    one=st.tuples(st.sampled_from(("recall", "tool_result")), texts(3), texts(3)),
    other=st.tuples(st.sampled_from(("recall", "tool_result")), texts(3), texts(3)),
)
def test_items_share_a_nonce_only_where_type_source_and_content_are_the_same(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assert (nonce_of(SECRET, *one) == nonce_of(SECRET, *other)) is (one == other)


def test_a_nonce_is_keyed_and_no_field_runs_into_the_next() -> None:
    assert nonce_of(SECRET, "recall", "ab", "c") != nonce_of(SECRET, "recall", "a", "bc")
    assert nonce_of(SECRET, "recall", "a", "b") != nonce_of(SECRET + "!", "recall", "a", "b")
    assert len(nonce_of(SECRET, "recall", "", "")) * 4 == 64


@pytest.mark.parametrize("tokenizer", ["o200k_base", "cl100k_base"])
def test_an_empty_envelope_is_cheap(tokenizer: TokenizerName) -> None:
    for item_type in declared_types():
        for n in range(20):
            sealed = seal(f"{SECRET} {n}", item_type, Trust.EXTERNAL_UNTRUSTED, "web:search", "")
            assert count(tokenizer, sealed.text) <= 80


@pytest.mark.parametrize("tokenizer", ["o200k_base", "cl100k_base"])
def test_the_framing_is_within_its_cap_and_writes_no_delimiter_out(tokenizer: TokenizerName) -> None:
    assert count(tokenizer, FRAMING) <= CAPS[TokenClass.FRAMING]
    assert [delimiter for delimiter in DELIMITERS if delimiter in FRAMING] == []
