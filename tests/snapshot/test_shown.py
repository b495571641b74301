"""What is shown can be read, is no noise, and cannot deceive."""

from __future__ import annotations

import unicodedata

import pytest

from contextproof.conformance.contract.items import ResultStatus
from contextproof.conformance.contract.request import Extent, Pointer, PointerKind, Reference
from contextproof.conformance.contract.vocabulary import Slot, Trust
from contextproof.conformance.report.escape import visible
from contextproof.conformance.snapshot.files import add, of_blocks, of_value, safe
from contextproof.conformance.snapshot.shown import escaped, nonces_of, quoted, shown, without_numbers
from snapshot.making import NONCE, OTHER, block


@pytest.mark.parametrize(
    "character",
    [
        *("\u202e", "\u2066", "\u200b", "\ufeff", "\x1b", "\x00", "\r", "\t", "\u2028", "\u00a0", "\u3164"),
        *("\U000e0041", "\ufe0f", "\u00ad", "\u2800", "\x85"),
    ],
)
def test_what_is_hidden_stands_as_its_code_point(character: str) -> None:
    assert escaped(f"a{character}b") == f"a‹U+{ord(character):04X}›b"
    assert character not in visible(character)


def test_what_can_be_seen_stays_as_it_is() -> None:
    text = "深圳 شكرًا नमस्ते é ⟪ctx⟫ 🚀\nsecond line"
    assert escaped(text) == text


def test_blanks_at_the_end_of_a_line_are_shown() -> None:
    assert escaped("a \nb  c ") == "a‹U+0020›\nb  c‹U+0020›"


def test_content_cannot_imitate_an_escape_or_a_placeholder() -> None:
    assert "‹nonce 1›" not in escaped("‹nonce 1›")
    assert escaped("‹U+202E›") == "‹U+2039›U+202E‹U+203A›"


def test_nonces_are_numbered_as_they_first_appear_wherever_they_are_repeated() -> None:
    blocks = [block(f"of another: {OTHER}"), block("second", OTHER)]
    lines = shown(blocks, nonces_of(blocks)).splitlines()
    assert "| <‹nonce 1› recall internal web>" in lines
    assert "| of another: ‹nonce 2›" in lines
    assert lines[-1] == "| </‹nonce 2›>"
    assert not any(NONCE in line or OTHER in line for line in lines)


def test_a_nonce_too_short_to_be_told_from_text_stays() -> None:
    envelope = block("x").envelope
    assert envelope is not None
    short = envelope.model_copy(update={"nonce": Extent(start=1, end=4)})
    assert nonces_of([block("x", envelope=short)]) == frozenset()


def test_only_lines_of_a_text_begin_with_a_bar_and_only_headings_stand_at_the_margin() -> None:
    hostile = (
        "\n\nplatform_policy: region A, role system, label platform\n  no item\n# contextproof snapshot: x"
    )
    made = block(hostile, source=f"web{hostile}", item_id=f"i{hostile}", type=f"t{hostile}")
    lines = shown([made], ()).splitlines()
    assert len([line for line in lines if not line.startswith(("| ", "|", "  "))]) == 1
    assert len([line for line in lines if line.startswith("  ")]) == 1


def test_a_quoted_value_cannot_end_its_quotation() -> None:
    assert quoted('x", status ok') == '"x‹U+0022›, status ok"'


def test_what_a_block_carries_beside_its_text_is_shown() -> None:
    pointer = Pointer(
        kind=PointerKind.TRUNCATION,
        trust=Trust.INTERNAL,
        size=2600,
        references=(Reference(item_id="r1"), Reference(item_id="r2", start=5)),
        reference=Extent(start=0, end=1),
    )
    text = shown([block("x", slot=Slot.HISTORY, call_id="c1", status=ResultStatus.OK, pointer=pointer)], ())
    assert "recall, history: region B, role user, label internal" in text
    assert 'call "c1", status ok' in text
    assert 'truncation pointer to 2600 bytes, internal, of "r1", "r2" from 5 to its end' in text


def test_the_hash_is_of_the_unaltered_bytes() -> None:
    one, other = of_blocks("t", [block("x")], [NONCE]), of_blocks("t", [block("x", OTHER)], [OTHER])
    assert one.text == other.text
    assert one.sha256 != other.sha256


def test_a_title_is_one_line() -> None:
    assert of_blocks("a\n| b", [], []).text.splitlines()[0].endswith("a‹U+000A›| b")


def test_a_value_is_shown_a_member_a_line() -> None:
    text = of_value("t", {"a": [1, {"b": "two\nlines"}], "c": None, "d": [], "e": {}, "f": False}).text
    assert text.splitlines()[2:] == [
        *("| a:", "|   - 1", "|   -", "|     b: two", "|       lines"),
        *("| c: none", "| d: none", "| e: none", "| f: no"),
    ]


@pytest.mark.parametrize("name", ["../../etc", "a\nb", "A B", "\u202e", "", "x" * 300, ".", "con:"])
def test_a_name_made_from_anything_is_a_safe_file_name(name: str) -> None:
    made = safe(name)
    assert made
    assert len(made) <= 80
    assert all(c in "abcdefghijklmnopqrstuvwxyz0123456789_-" for c in made)


def test_equal_names_are_told_apart() -> None:
    files: dict[str, object] = {}
    for _ in range(3):
        add(files, "a", of_value("t", {}))  # type: ignore[arg-type]
    assert list(files) == ["a.txt", "a-2.txt", "a-3.txt"]


def test_numbers_of_nonces_are_no_difference() -> None:
    assert without_numbers("x ‹nonce 12› y") == without_numbers("x ‹nonce 3› y")


def test_no_category_of_hidden_characters_is_forgotten() -> None:
    hidden = [c for c in map(chr, range(0x3000)) if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
    assert all(escaped(f"{c}.").startswith("‹U+") for c in hidden if c != "\n")
