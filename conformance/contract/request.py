"""A request as it is sent: blocks with the places of their envelopes, and its measure.

Every extent is a half-open range of UTF-8 bytes within the block's ``text``, so that no requirement
needs to know anybody's envelope grammar.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from contextproof.conformance.contract.base import Count, Frozen, Id, sha256
from contextproof.conformance.contract.items import ResultStatus
from contextproof.conformance.contract.vocabulary import (
    CLASS_OF_PLACE,
    Place,
    Region,
    Role,
    Slot,
    TokenClass,
    Trust,
    place_of,
)


class Extent(Frozen):
    """Bytes ``start`` (in) to ``end`` (out) of a block's text."""

    start: Count
    """The first byte, counted from 0 in the UTF-8 form of the text."""
    end: Count
    """The byte after the last."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.start > self.end:
            raise ValueError("an extent ends before it starts")
        return self

    def of(self, text: str | bytes) -> bytes:
        """The bytes it covers."""
        data = text.encode() if isinstance(text, str) else text
        return data[self.start : self.end]


class Envelope(Frozen):
    """Where a block's envelope lies. The four attribute spans lie within ``opening``.

    ``closing_nonce`` is where the closing repeats the nonce. What lies between opening and closing
    is content as the type's codec renders it, or a pointer's text.
    """

    opening: Extent
    """All of what opens it, attributes included."""
    closing: Extent
    """All of what closes it."""
    nonce: Extent
    """The nonce within the opening."""
    type: Extent
    """The item's type within the opening."""
    trust: Extent
    """The label within the opening: the very word of `Block.label`."""
    source: Extent
    """The source within the opening, as shown (escaped as the engine likes)."""
    closing_nonce: Extent
    """The same nonce within the closing."""

    @property
    def interior(self) -> Extent:
        """From the end of the opening to the start of the closing."""
        return Extent(start=self.opening.end, end=self.closing.start)


class Reference(Frozen):
    """The original of hidden content: a log item, or bytes ``start`` to ``end`` of its content."""

    item_id: Id
    """The log item whose content is hidden."""
    start: Count | None = None
    """First byte of the hidden part of its content, as UTF-8; null where all of it is hidden."""
    end: Count | None = None
    """The byte after the last; null where all of it is hidden."""


class PointerKind(StrEnum):
    """Truncation: of one tool result. Elision: of spans that a checkpoint covers."""

    TRUNCATION = "truncation"
    ELISION = "elision"


class ElidedSpan(Frozen):
    """What a typed pointer says of content it stands for: lowest trust, summed size in bytes, originals."""

    trust: Trust
    """The lowest effective trust of what it stands for."""
    size: Count
    """Bytes of content that it stands for (UTF-8), summed."""
    references: Annotated[tuple[Reference, ...], Field(min_length=1)]
    """The originals."""


class Pointer(ElidedSpan):
    """A typed pointer as rendered in a block.

    ``reference`` is where the text names the original; ``excerpt`` where a truncation pointer
    carries a verbatim leading part (as the type's codec renders it), if it does.
    """

    kind: PointerKind
    """What it stands for."""
    reference: Extent
    """Where the text names the original."""
    excerpt: Extent | None = None
    """Where the text holds a leading part of the content, as the type's codec renders it; null without one.
    """


class Block(Frozen):
    """An item as rendered in a request."""

    item_id: Id | None
    """The item that it renders; null for the framing alone. For working state `working_state`, for a
    checkpoint's summary and pointers the checkpoint's id.
    """
    type: str
    """The item's type, or `framing`, `checkpoint`, `working_state`."""
    slot: Slot | None = None
    """For messages: `current` for the last user message, `active` for what came after it, `history` for all
    before it. Null for any other type.
    """
    region: Region
    """The region of its type."""
    role: Role
    """The role that it is sent under. Region B never speaks as system or developer."""
    label: Trust
    """The trust that it claims: the effective trust of what it renders."""
    source: str
    """Where it comes from, before any escaping."""
    text: str
    """The very characters sent."""
    envelope: Envelope | None = None
    """Where its envelope lies; null at platform trust, and for types declared structural."""
    pointer: Pointer | None = None
    """Set where the block stands in for content; null elsewhere."""
    call_id: str | None = None
    """For a call and a result the provider's call id; null elsewhere."""
    status: ResultStatus | None = None
    """For a result how its call ended; null elsewhere."""

    @property
    def place(self) -> Place:
        """Its station in the assembly order."""
        return place_of(self.type, self.slot)


def token_class(block: Block) -> TokenClass:
    """The class an estimate counts a block under."""
    return CLASS_OF_PLACE[block.place]


def prefix_sha256(blocks: tuple[Block, ...]) -> str:
    """SHA-256 of the texts of region A's blocks, concatenated in order, as UTF-8."""
    return sha256("".join(block.text for block in blocks if block.region is Region.A))


class ClassTokens(Frozen):
    """Tokens of one class."""

    token_class: TokenClass
    """The class."""
    tokens: Count
    """Its tokens, the model's overhead for each of its blocks included."""


class Estimate(Frozen):
    """Tokens a request will cost, by class: the prefix exact, the body conservative."""

    by_class: tuple[ClassTokens, ...]
    """Tokens by class; what is absent is 0. Of the prefix exact, of the body never too few."""
    prefix_tokens: Count
    """The part of the total that is prefix."""

    @classmethod
    def nothing(cls) -> Self:
        """The estimate of an engine that makes none."""
        return cls(by_class=(), prefix_tokens=0)

    @property
    def total(self) -> int:
        """All of it, prefix and body."""
        return sum(entry.tokens for entry in self.by_class)

    @property
    def body_tokens(self) -> int:
        """What is not prefix."""
        return self.total - self.prefix_tokens

    def of(self, token_class: TokenClass) -> int:
        """Tokens of one class, 0 where it is absent."""
        return sum(entry.tokens for entry in self.by_class if entry.token_class is token_class)


class YieldStep(StrEnum):
    """The steps short of compaction, in the record's order (decision 8)."""

    RECALL = "recall"
    TOOL_RESULT = "tool_result"


class Yielded(Frozen):
    """An item that gave way: a recall item left out, or a result that became a pointer.

    ``cause`` is ``pressure`` where the request did not fit, ``cap`` where the class was over its cap.
    """

    step: YieldStep
    """How it gave way."""
    item_id: Id
    """What gave way."""
    epoch: Annotated[int, Field(ge=1)]
    """The epoch in which it did."""
    cause: Literal["pressure", "cap"]
    """`pressure` where the request did not fit, `cap` where its class was over its cap."""


class Request(Frozen):
    """A request ready to send."""

    session: Id
    """As the context has it."""
    epoch: Annotated[int, Field(ge=1)]
    """As the plan has it."""
    turn: Count
    """As the context has it."""
    request: Count
    """As the context has it."""
    model: Id
    """The name of the context's model."""
    blocks: tuple[Block, ...]
    """All that is sent, in order."""
    prefix_sha256: str
    """The plan's hash, which is that of the blocks of region A."""
    estimate: Estimate
    """What the request will cost."""
