"""Measuring a configuration against caps and ceiling, and deciding whether a session would open.

Caps count content, so they are decided here to the token. The ceiling counts what is sent, and how much
envelopes and framing add is the builder's affair: without one, there are two bounds, and between them
the answer is that it depends.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from contextproof.conformance.contract.base import Frozen, canonical_json, parse_json_object
from contextproof.conformance.contract.caps import CAPS, MIN_BODY
from contextproof.conformance.contract.items import PrefixItem, ToolDefinition, content
from contextproof.conformance.contract.measures import (
    Measure,
    ceiling,
    opening_measures,
    permitted,
    prefix_contents,
)
from contextproof.conformance.contract.session import ModelSpec, Opening
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import TokenClass

#: What an empty envelope may cost at most, in tokens (requirement 13.9).
ENVELOPE = 80

Sent = Mapping[TokenClass, int]
"""Tokens of a prefix by class as a builder sends it, overheads included."""


class Answer(StrEnum):
    """Whether a session would open."""

    OPENS = "opens"
    DEPENDS = "depends on the builder"
    REFUSED = "refused"


class Reason(Frozen):
    """Why a session would be refused: the rule, the class, and what is measured against what."""

    rule: Literal["output_reserve", "cap", "ceiling"]
    token_class: TokenClass
    measured: int
    cap: int
    unit: Literal["tokens", "items"] = "tokens"

    @property
    def by(self) -> int:
        """How far it is over; for the reserve, how far what it leaves is under."""
        return abs(self.measured - self.cap)


class Weight(Frozen):
    """What one item weighs. ``description`` and ``schema_tokens`` are parts of a tool, each by itself."""

    token_class: TokenClass
    id: str
    name: str
    tokens: int
    description_tokens: int | None = None
    schema_tokens: int | None = None


class Prefix(Frozen):
    """The prefix as a whole, in tokens.

    Attributes:
        content: of all items, as the caps count it.
        least: with the model's overhead for each block, the framing's included; nothing else.
        most: with the framing at its cap, and an envelope of 80 tokens for whatever has one; what
            escaping adds is not in it.
        sent: as a builder sent it, counted here; None without one.
        ceiling: the window less the output reserve less 1,000.
    """

    content: int
    least: int
    most: int
    sent: int | None
    ceiling: int


class Measured(Frozen):
    """All that was measured, and what follows. ``reasons`` is empty where it opens for certain."""

    model: ModelSpec
    answer: Answer
    reasons: tuple[Reason, ...]
    measures: tuple[Measure, ...]
    prefix: Prefix
    weights: tuple[Weight, ...]
    registered_tools: int
    permitted_tools: int

    @property
    def opens(self) -> bool:
        """Whether it opens for certain."""
        return self.answer is Answer.OPENS


def measure(opening: Opening, sent: Sent | None = None, framing: int | None = None) -> Measured:
    """Measure an opening.

    Args:
        opening: what is to be opened.
        sent: what a builder's prefix of it takes by class, where that is known.
        framing: tokens of that builder's framing text, held to its own cap.
    """
    measures = opening_measures(opening)
    if framing is not None:
        measures = (*measures, Measure(TokenClass.FRAMING, framing, CAPS[TokenClass.FRAMING]))
    prefix = _prefix(opening, sent)
    answer, reasons = _decided(opening, measures, prefix, sent)
    return Measured(
        model=opening.model,
        answer=answer,
        reasons=reasons,
        measures=measures,
        prefix=prefix,
        weights=_weights(opening),
        registered_tools=len(opening.tools),
        permitted_tools=len(permitted(opening)),
    )


def _prefix(opening: Opening, sent: Sent | None) -> Prefix:
    contents = sum(m.measured for m in opening_measures(opening) if m.unit == "tokens")
    bare = len(opening.policy)
    wrapped = sum(map(len, prefix_contents(opening).values())) - bare
    least = contents + (bare + wrapped + 1) * opening.model.overhead_per_block
    return Prefix(
        content=contents,
        least=least,
        most=least + CAPS[TokenClass.FRAMING] + wrapped * ENVELOPE,
        sent=None if sent is None else sum(sent.values()),
        ceiling=ceiling(opening.model),
    )


def _decided(
    opening: Opening, measures: tuple[Measure, ...], prefix: Prefix, sent: Sent | None
) -> tuple[Answer, tuple[Reason, ...]]:
    """The reserve before anything else, then every class by itself, then all of them together."""
    left = opening.model.limit
    if left < MIN_BODY:
        reserve = TokenClass.OUTPUT_RESERVE
        return Answer.REFUSED, (
            Reason(rule="output_reserve", token_class=reserve, measured=left, cap=MIN_BODY),
        )
    over = tuple(
        Reason(rule="cap", token_class=m.token_class, measured=m.measured, cap=m.cap, unit=m.unit)
        for m in measures
        if m.is_over
    )
    if over:
        return Answer.REFUSED, over
    least, most = (prefix.least, prefix.most) if prefix.sent is None else (prefix.sent, prefix.sent)
    if most <= prefix.ceiling:
        return Answer.OPENS, ()
    by_class = sent or {m.token_class: m.measured for m in measures if m.unit == "tokens"}
    largest = max(by_class, key=lambda name: by_class[name])
    is_over = least > prefix.ceiling
    reason = Reason(
        rule="ceiling", token_class=largest, measured=least if is_over else most, cap=prefix.ceiling
    )
    return Answer.REFUSED if is_over else Answer.DEPENDS, (reason,)


def _weights(opening: Opening) -> tuple[Weight, ...]:
    """Every item of the prefix, the heaviest first."""
    weights = [
        _weight(opening, token_class, item)
        for token_class, items in prefix_contents(opening).items()
        for item in items
    ]
    return tuple(sorted(weights, key=lambda weight: (-weight.tokens, weight.token_class, weight.id)))


def _weight(opening: Opening, token_class: TokenClass, item: PrefixItem) -> Weight:
    tokenizer = opening.model.tokenizer
    tokens = count(tokenizer, content(item))
    if not isinstance(item, ToolDefinition):
        return Weight(token_class=token_class, id=item.id, name=item.id, tokens=tokens)
    return Weight(
        token_class=token_class,
        id=item.id,
        name=item.name,
        tokens=tokens,
        description_tokens=count(tokenizer, item.description),
        schema_tokens=count(tokenizer, canonical_json(parse_json_object(item.parameters_json)).decode()),
    )
