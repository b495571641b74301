"""Elision: what of older messages the summarizer may read, and the pointer to all the rest."""

from __future__ import annotations

from typing import NamedTuple

from contextproof.calibration.odd.plain.blocks import elision_block
from contextproof.calibration.odd.plain.drafting import Draft, Line, line
from contextproof.conformance.contract.items import Message, content
from contextproof.conformance.contract.ports import SummaryPart
from contextproof.conformance.contract.request import ElidedSpan, Reference
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Trust, lowest


class Division(NamedTuple):
    """What becomes of older messages: parts for the summarizer, and one pointer to what it may not read."""

    parts: list[SummaryPart]
    pointers: tuple[ElidedSpan, ...]
    lines: list[Line]


def divided(draft: Draft) -> Division:
    """The older messages of a draft, divided. The pointer names what was elided before, too."""
    parts: list[SummaryPart] = []
    elided: list[Message] = []
    for item in draft.turn.older:
        part = _part(item)
        is_trusted = draft.trust[item.id] is not Trust.EXTERNAL_UNTRUSTED
        if is_trusted and count(draft.model.tokenizer, part.text) <= draft.model.limit:
            parts.append(part)
        else:
            elided.append(item)
    old = draft.inputs.checkpoint
    spans = [*(old.pointers if old else ()), *(_span(draft, item) for item in elided)]
    pointers = (_merged(spans),) if spans else ()
    secret, name = draft.plan.opening.platform_secret, draft.inputs.live.ids[0]
    lines = [line(draft.plan, elision_block(secret, name, pointer)) for pointer in pointers]
    return Division(parts, pointers, lines)


def _part(item: Message) -> SummaryPart:
    text = f"{item.type.replace('_', ' ')}: {content(item)}"
    return SummaryPart(item_ids=(item.id,), text=text)


def _span(draft: Draft, item: Message) -> ElidedSpan:
    size = len(content(item).encode())
    return ElidedSpan(trust=draft.trust[item.id], size=size, references=(Reference(item_id=item.id),))


def _merged(spans: list[ElidedSpan]) -> ElidedSpan:
    """All of them as one: the lowest trust, the summed size, every reference."""
    return ElidedSpan(
        trust=lowest(*(span.trust for span in spans)),
        size=sum(span.size for span in spans),
        references=tuple(reference for span in spans for reference in span.references),
    )
