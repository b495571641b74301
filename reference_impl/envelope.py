"""Nonced, attributed envelopes that content cannot close (decision 13).

    ⟪ctx nonce=NONCE type=TYPE trust=TRUST source="SOURCE"⟫
    content
    ⟪/ctx NONCE⟫

Why nothing inside can close one: both delimiters begin with ⟪, and in rendered content every ⟪ is
followed by a hyphen. Nothing else the engine writes inside begins with a delimiter either: its own
marks are ⟪ with a plus sign. Why no attribute can be forged: type and trust are words of the
contract, the nonce is hexadecimal, and the source is an ASCII JSON string, which ends at its first
unescaped quotation mark and holds no line break.
"""

from __future__ import annotations

import hmac
import json
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate
from typing import Final, NamedTuple

from contextproof.conformance.contract.codecs import Substitution
from contextproof.conformance.contract.request import Envelope, Extent
from contextproof.conformance.contract.vocabulary import Trust

_BRACKET: Final = "⟪"
OPENING: Final = f"{_BRACKET}ctx"
CLOSING: Final = f"{_BRACKET}/ctx"
DELIMITERS: Final = (OPENING, CLOSING)

#: How content is rendered; undone by one scan from left to right.
CODEC: Final = Substitution(table=((_BRACKET, f"{_BRACKET}-"),))
#: What the engine's own marks begin with. Content never shows it: there, a hyphen follows.
MARK: Final = f"{_BRACKET}+"
END_OF_MARK: Final = "⟫"

#: 64 bits of the keyed digest, as hexadecimal digits.
_NONCE_DIGITS: Final = 16
#: Envelopes remembered: more than a long session holds between two compactions.
_REMEMBERED: Final = 8_192
#: Of pointers and working state, which have their text from the engine, far fewer are in use at once.
_REMEMBERED_WRAPPED: Final = 256


class Sealed(NamedTuple):
    """Text in its envelope, and where the envelope lies."""

    text: str
    envelope: Envelope


def escape(content: str) -> str:
    """Content as it is rendered."""
    return content.replace(_BRACKET, f"{_BRACKET}-")


def quote(text: str) -> str:
    """Any text as an ASCII JSON string: what a source or an id is written as."""
    return json.dumps(text)


def nonce_of(secret: str, item_type: str, source: str, content: str) -> str:
    """The nonce of an item: keyed, and a function of type, source and original content alone.

    No session, epoch, id or position goes in, so that equal prefixes of two sessions are equal
    bytes. Each field is preceded by its length, so that no two triples give the same message.
    """
    digest = hmac.new(secret.encode(), digestmod=sha256)
    for field in (item_type, source, content):
        data = field.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:_NONCE_DIGITS]


@lru_cache(maxsize=_REMEMBERED)
def seal(secret: str, item_type: str, trust: Trust, source: str, content: str) -> Sealed:
    """Content in its envelope."""
    nonce = nonce_of(secret, item_type, source, content)
    return _wrapped(nonce, item_type, trust, source, escape(content))


@lru_cache(maxsize=_REMEMBERED_WRAPPED)
def wrap(nonce: str, item_type: str, trust: Trust, source: str, interior: str) -> Sealed:
    """What is rendered already, in an envelope. The interior must not hold a delimiter."""
    return _wrapped(nonce, item_type, trust, source, interior)


def _wrapped(nonce: str, item_type: str, trust: Trust, source: str, interior: str) -> Sealed:
    pieces = (
        f"{OPENING} nonce=",
        nonce,
        " type=",
        item_type,
        " trust=",
        trust.value,
        " source=",
        quote(source),
        f"{END_OF_MARK}\n",
        interior,
        f"\n{CLOSING} ",
        nonce,
        END_OF_MARK,
    )
    ends = tuple(accumulate(len(piece.encode()) for piece in pieces))

    def extent(piece: int) -> Extent:
        return Extent(start=ends[piece - 1], end=ends[piece])

    return Sealed(
        "".join(pieces),
        Envelope(
            opening=Extent(start=0, end=ends[8]),
            nonce=extent(1),
            type=extent(3),
            trust=extent(5),
            source=extent(7),
            closing=Extent(start=ends[9], end=ends[12]),
            closing_nonce=extent(11),
        ),
    )
