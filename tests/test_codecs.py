"""Each codec undoes what a builder that declares it would have done."""

from __future__ import annotations

import base64
import html
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract.codecs import Base64, JsonString, NotDecodable, Substitution, Xml


@given(st.text())
def test_json_strings_decode(text: str) -> None:
    assert JsonString().decode(json.dumps(text)) == text
    assert JsonString().decode(json.dumps(text, ensure_ascii=False)) == text


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_xml_decodes_named_and_numbered_references(text: str) -> None:
    assert Xml().decode(html.escape(text)) == text
    printable = "".join(c if c.isalnum() else f"&#{ord(c)};" for c in text if c.isprintable())
    assert Xml().decode(printable) == "".join(c for c in text if c.isprintable())


@given(st.text())
def test_base64_decodes_with_or_without_line_breaks(text: str) -> None:
    encoded = base64.b64encode(text.encode()).decode()
    broken = "\n".join(encoded[n : n + 76] for n in range(0, len(encoded), 76))
    assert Base64().decode(encoded) == Base64().decode(broken) == text


@given(st.text(alphabet="ab<-\\"))
def test_a_substitution_is_undone_in_one_scan(text: str) -> None:
    codec = Substitution(table=(("<", "<-"), ("\\", "\\\\")))
    rendered = text.replace("\\", "\\\\").replace("<", "<-")
    assert codec.decode(rendered) == text


def test_a_substitution_takes_the_longest_match_first() -> None:
    codec = Substitution(table=(("A", "x"), ("B", "xx")))
    assert codec.decode("xxx") == "BA"


@pytest.mark.parametrize(
    ("codec", "rendered"),
    [
        (JsonString(), "7"),
        (JsonString(), '"open'),
        (Xml(), "a < b"),
        (Xml(), "a & b"),
        (Xml(), "&nbsp;"),
        (Base64(), "%%%"),
        (Base64(), "//79"),
    ],
)
def test_what_a_codec_could_not_have_written_is_told_apart(
    codec: JsonString | Xml | Base64, rendered: str
) -> None:
    with pytest.raises(NotDecodable):
        codec.decode(rendered)
