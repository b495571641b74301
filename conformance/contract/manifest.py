"""What a builder declares about itself before anything is measured."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.contract.codecs import Codec, Substitution
from contextproof.conformance.contract.vocabulary import Decision, Place

#: Version of the contract; a builder that speaks another cannot be measured.
CONTRACT_VERSION: Final = 1

#: Types a manifest may declare structural, since provider wires carry them as JSON (requirement 13.1).
STRUCTURAL_TYPES = ("tool_definition", "tool_call")


class TypeCodec(Frozen):
    """The codec of one item type's content."""

    type: str
    """The item type."""
    codec: Codec
    """How its content is rendered, and so how it is recovered."""


class Manifest(Frozen):
    """A builder's name and version, what it claims, and how it renders."""

    contract: Literal[1] = CONTRACT_VERSION
    """The version of the contract that the builder speaks."""
    name: Annotated[str, Field(min_length=1)]
    """The builder's name."""
    version: Annotated[str, Field(min_length=1)]
    """The builder's version."""
    claims: tuple[Decision, ...]
    """The decisions that it is to be judged by. What is not claimed is neither passed nor failed."""
    order: tuple[Place, ...] = tuple(Place)
    """Its assembly order: each place once."""
    delimiters: tuple[Annotated[str, Field(min_length=1)], ...]
    """Texts that open or close its envelopes, without what varies; none may stand in rendered content."""
    codecs: tuple[TypeCodec, ...]
    """One for each type that is not rendered as it is."""
    structural: tuple[Literal["tool_definition", "tool_call"], ...] = ()
    """Types that it renders as labelled JSON without an envelope."""
    summary_bound: Count
    """The most tokens that a rendered summary may have."""

    @model_validator(mode="after")
    def _order_is_total(self) -> Self:
        if sorted(self.order) != sorted(Place):
            raise ValueError("order must name each place exactly once")
        return self

    def codec(self, item_type: str) -> Codec:
        """The codec declared for a type; a type without one is rendered as it is."""
        for entry in self.codecs:
            if entry.type == item_type:
                return entry.codec
        return Substitution()
