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
    codec: Codec


class Manifest(Frozen):
    """A builder's name and version, what it claims, and how it renders.

    Attributes:
        claims: the decisions it claims. A claimed one that does not answer is a failure.
        order: its assembly order, each place once.
        delimiters: texts that open or close its envelopes; none may occur in rendered content.
        codecs: for each type not rendered as it is.
        structural: types rendered as labelled JSON without an envelope.
        summary_bound: the most tokens a rendered summary may have.
    """

    contract: Literal[1] = CONTRACT_VERSION
    name: Annotated[str, Field(min_length=1)]
    version: Annotated[str, Field(min_length=1)]
    claims: tuple[Decision, ...]
    order: tuple[Place, ...] = tuple(Place)
    delimiters: tuple[Annotated[str, Field(min_length=1)], ...]
    codecs: tuple[TypeCodec, ...]
    structural: tuple[Literal["tool_definition", "tool_call"], ...] = ()
    summary_bound: Count

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
