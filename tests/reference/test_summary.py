"""Cutting summaries between characters as people see them, and parting long histories into calls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract.ports import SummaryPart
from contextproof.reference_impl.scope import part_tokens
from contextproof.reference_impl.summary import chunks, leading
from reference.hostile import texts
from reference.making import MODEL, words

FAMILY = "👨‍👩‍👧‍👦"


def at_most(characters: int, text: str) -> str:
    return leading(text, lambda part: len(part) <= characters)


@given(text=texts(), characters=st.integers(0, 40))
def test_what_is_left_is_a_leading_part_that_fits(text: str, characters: int) -> None:
    cut = at_most(characters, text)
    assert text.startswith(cut)
    assert len(cut) <= characters or cut == text


@given(characters=st.integers(0, 12))
def test_no_character_is_cut_in_two(characters: int) -> None:
    assert at_most(characters, FAMILY * 2) in {"", FAMILY, FAMILY * 2}
    assert at_most(characters, "e\u0301" * 6) == "e\u0301" * min(6, characters // 2)
    assert at_most(characters, "a\r\n" * 4)[-1:] != "\r"
    assert at_most(3, "a🇨🇭🇩🇪") in {"a", "a🇨🇭"}


def test_a_text_that_fits_is_left_alone() -> None:
    assert at_most(5, "12345") == "12345"
    assert at_most(4, "12345") == "1234"


@given(sizes=st.lists(st.integers(0, 300), max_size=20))
def test_every_part_is_given_once_in_order_in_calls_that_fit(sizes: list[int]) -> None:
    model = MODEL.model_copy(update={"window": 400, "output_reserve": 50})
    parts = [SummaryPart(item_ids=(f"i{n}",), text=words(size)) for n, size in enumerate(sizes)]
    calls = chunks(model, parts)
    assert [part for chunk in calls for part in chunk] == parts
    assert all(sum(part_tokens(model, part) for part in chunk) <= 350 for chunk in calls)
