"""The tools that faulty engines are made with keep extents true."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextproof.calibration.edits import replace_span, with_nonce
from contextproof.conformance.contract.request import Block, Envelope, Extent
from contextproof.conformance.contract.vocabulary import Region, Role, Trust


def _block(content: str) -> Block:
    pieces = ("<", "nonce", " ", "type", " ", "trust", " ", "source", ">", content, "</", "nonce", ">")
    ends = [len("".join(pieces[: n + 1]).encode()) for n in range(len(pieces))]
    at = [Extent(start=end - len(p.encode()), end=end) for end, p in zip(ends, pieces, strict=True)]
    envelope = Envelope(
        opening=Extent(start=0, end=ends[8]),
        nonce=at[1],
        type=at[3],
        trust=at[5],
        source=at[7],
        closing=Extent(start=ends[9], end=ends[12]),
        closing_nonce=at[11],
    )
    return Block(
        item_id="i",
        type="user_message",
        region=Region.B,
        role=Role.USER,
        label=Trust.USER,
        source="user",
        text="".join(pieces),
        envelope=envelope,
    )


def _read(block: Block, name: str) -> str:
    extent = getattr(block.envelope, name)
    assert isinstance(extent, Extent)
    return extent.of(block.text).decode()


@given(st.text(), st.text(alphabet="abc", min_size=1))
def test_a_nonce_is_replaced_in_both_places_and_nothing_else_moves_wrongly(content: str, nonce: str) -> None:
    changed = with_nonce(_block(content), nonce)
    assert changed.text == f"<{nonce} type trust source>{content}</{nonce}>"
    assert [_read(changed, n) for n in ("nonce", "type", "trust", "source", "closing_nonce")] == [
        nonce,
        "type",
        "trust",
        "source",
        nonce,
    ]
    assert _read(changed, "interior") == content


@given(st.text(), st.text())
def test_an_interior_is_replaced_whole(content: str, other: str) -> None:
    block = _block(content)
    assert block.envelope is not None
    changed = replace_span(block, block.envelope.interior, other)
    assert _read(changed, "interior") == other
    assert _read(changed, "opening") == "<nonce type trust source>"
    assert _read(changed, "closing") == "</nonce>"
