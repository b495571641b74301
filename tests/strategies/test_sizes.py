"""Texts have exactly the size that was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import contextproof.scenarios as scripted
from contextproof.conformance.contract.items import tool_content
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.play.recipes import cycle
from contextproof.conformance.play.scenario import FromCorpus, Literally, Repeat, ScenarioTool, Text
from contextproof.strategies import tables
from contextproof.strategies.author import Author, permuted
from contextproof.strategies.examples_writing import opening_of
from contextproof.strategies.openings import SCHEMAS, TOKENIZERS, TOOL_NAMES
from contextproof.strategies.sizes import results_cap, share_of_body, text_of_tokens, tool_of_tokens

tokenizers: SearchStrategy[TokenizerName] = st.sampled_from(TOKENIZERS)
literals = [text for kind in (*tables.ATTACKS, tables.SCRIPTS, tables.PLAIN) for text in kind]
bases = st.text(max_size=8) | st.sampled_from([text for text in literals if isinstance(text, str)])


def resolved(text: Text) -> str:
    if isinstance(text, str):
        return text
    said = ""
    for piece in text:
        match piece:
            case Literally():
                said += piece.text
            case Repeat():
                said += piece.text * piece.times
            case FromCorpus():
                said += cycle(scripted.corpus(piece.name), piece.start, piece.characters)
    return said


@settings(database=None)
@given(tokenizers, st.integers(0, 300) | st.sampled_from([1_000, 2_001, 6_000]), bases)
def test_a_text_has_exactly_the_tokens_asked_for_whatever_it_begins_with(
    tokenizer: TokenizerName, tokens: int, base: str
) -> None:
    assert count(tokenizer, resolved(text_of_tokens(tokenizer, tokens, base))) == tokens


@settings(database=None)
@given(tokenizers, st.integers(300, 6_001), st.sampled_from(TOOL_NAMES), st.sampled_from(SCHEMAS))
def test_a_tool_has_exactly_the_tokens_asked_for(
    tokenizer: TokenizerName, tokens: int, name: str, schema: str
) -> None:
    bare = ScenarioTool(id="t1", name=name, description="", parameters_json=schema)
    tool = tool_of_tokens(tokenizer, tokens, bare)
    content = tool_content(resolved(tool.name), resolved(tool.description), tool.parameters_json)
    assert count(tokenizer, content) == tokens


def test_a_tool_cannot_be_smaller_than_its_schema() -> None:
    with pytest.raises(ValueError, match="at the least, not 3"):
        tool_of_tokens("o200k_base", 3, ScenarioTool(id="t1", name="read", description=""))


@pytest.mark.parametrize("plus", [-1, 0, 1])
def test_the_cap_on_results_is_a_quarter_of_the_body(plus: int) -> None:
    author = Author(opening_of(body=4_003))
    assert count("o200k_base", resolved(author.word(results_cap(plus)))) == 1_000 + plus


@pytest.mark.parametrize("name", tables.CORPUS)
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_a_share_of_the_body_is_about_that_share(name: str, tokenizer: TokenizerName) -> None:
    author = Author(opening_of(body=8_000, tokenizer=tokenizer))
    tokens = count(tokenizer, resolved(author.word(share_of_body(1, 8, name))))
    # By the tokenizer that makes more of Arabic and Devanagari, more than twice as much.
    assert 600 < tokens < 3_000


def test_the_corpus_texts_that_recipes_name_exist() -> None:
    assert set(tables.CORPUS) == set(tables.TENTHS_A_TOKEN)
    assert set(tables.CORPUS) <= set(scripted.corpus_names())


def test_every_order_of_four_calls_has_a_number_and_the_first_changes_nothing() -> None:
    orders = [permuted("abcd", number) for number in range(24)]
    assert len(set(orders)) == 24
    assert orders[0] == tuple("abcd")
