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
    end: Count

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
    closing: Extent
    nonce: Extent
    type: Extent
    trust: Extent
    source: Extent
    closing_nonce: Extent

    @property
    def interior(self) -> Extent:
        """From the end of the opening to the start of the closing."""
        return Extent(start=self.opening.end, end=self.closing.start)


class Reference(Frozen):
    """The original of hidden content: a log item, or bytes ``start`` to ``end`` of its content."""

    item_id: Id
    start: Count | None = None
    end: Count | None = None


class PointerKind(StrEnum):
    """Truncation: of one tool result. Elision: of spans that a checkpoint covers."""

    TRUNCATION = "truncation"
    ELISION = "elision"


class ElidedSpan(Frozen):
    """What a typed pointer says of content it stands for: lowest trust, summed size in bytes, originals."""

    trust: Trust
    size: Count
    references: Annotated[tuple[Reference, ...], Field(min_length=1)]


class Pointer(ElidedSpan):
    """A typed pointer as rendered in a block.

    ``reference`` is where the text names the original; ``excerpt`` where a truncation pointer
    carries a verbatim leading part (as the type's codec renders it), if it does.
    """

    kind: PointerKind
    reference: Extent
    excerpt: Extent | None = None


class Block(Frozen):
    """An item as rendered in a request.

    Attributes:
        item_id: the item it renders; None for the framing alone. A working-state block has
            ``working_state``, a checkpoint's summary and pointers have the checkpoint's id.
        type: the item's type. ``slot`` is set for messages alone.
        region, role, label, source: what it is sent as. ``label`` is the trust it claims.
        text: the very characters sent.
        envelope: None at platform trust and for structural types.
        pointer: set where the block stands in for content.
        call_id, status: for calls and results, what a provider's wire carries beside the text.
    """

    item_id: Id | None
    type: str
    slot: Slot | None = None
    region: Region
    role: Role
    label: Trust
    source: str
    text: str
    envelope: Envelope | None = None
    pointer: Pointer | None = None
    call_id: str | None = None
    status: ResultStatus | None = None

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
    tokens: Count


class Estimate(Frozen):
    """Tokens a request will cost, by class: the prefix exact, the body conservative."""

    by_class: tuple[ClassTokens, ...]
    prefix_tokens: Count

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
    item_id: Id
    epoch: Annotated[int, Field(ge=1)]
    cause: Literal["pressure", "cap"]


class Request(Frozen):
    """A request ready to send."""

    session: Id
    epoch: Annotated[int, Field(ge=1)]
    turn: Count
    request: Count
    model: Id
    blocks: tuple[Block, ...]
    prefix_sha256: str
    estimate: Estimate
