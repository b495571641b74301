"""Oracles of rendering: what item a block renders, its true trust, and its content decoded.

Everything is read from what the contract declares (extents, codecs, `content`, `source`), never from
anybody's envelope grammar.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.codecs import NotDecodable
from contextproof.conformance.contract.items import Message, RenderedItem
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.request import Block, Extent
from contextproof.conformance.contract.trust import (
    derived_trust,
    effective_trust,
    log_trust,
    opening_trust,
)
from contextproof.conformance.contract.vocabulary import (
    CHECKPOINT,
    FRAMING,
    PLATFORM_POLICY,
    WORKING_STATE,
    Trust,
    lowest,
)
from contextproof.conformance.contract.working_state import Entry
from contextproof.conformance.play.trace import BuildRecord, CompactRecord, Trace

PLATFORM_TYPES = frozenset({PLATFORM_POLICY, FRAMING})
"""Types at platform trust: they stand outside any envelope."""


class Seen(NamedTuple):
    """A block with the build that first rendered it so; ``place`` is that record's."""

    place: int
    build: BuildRecord
    block: Block

    @property
    def is_item(self) -> bool:
        """Whether it renders an item of the prefix, the body or the log, whole or as a pointer."""
        return self.block.type not in (FRAMING, CHECKPOINT, WORKING_STATE)


def seen_blocks(trace: Trace) -> tuple[Seen, ...]:
    """Every distinct block of every request built, once, in order of first appearance.

    A summary or working state counts as another block where it stands for another value. Found once
    a trace: many requirements ask.
    """
    return trace.once(_seen_blocks)


def _seen_blocks(trace: Trace) -> tuple[Seen, ...]:
    return tuple(_first_sights(trace))


def _first_sights(trace: Trace) -> Iterator[Seen]:
    known: set[object] = set()
    # The very same objects come again and again; comparing them by value is what costs.
    met: set[tuple[int, int]] = set()
    for index, build in trace.builds("main", "retry", "other_live", "roomy"):
        if not isinstance(build.answer, a.Built):
            continue
        for block in build.answer.request.blocks:
            stands_for: object = None
            if block.type == CHECKPOINT:
                stands_for = build.inputs.checkpoint
            elif block.type == WORKING_STATE:
                stands_for = build.inputs.working_state
            if (id(block), id(stands_for)) in met:
                continue
            met.add((id(block), id(stands_for)))
            if (block, stands_for) not in known:
                known.add((block, stands_for))
                yield Seen(index, build, block)


class Lookup:
    """Finds items and their effective trust; a trace's log and plans are read once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._messages = {item.id: item for item in trace.log if isinstance(item, Message)}
        self._trust: dict[tuple[int, int], dict[str, Trust]] = {}

    def item(self, build: BuildRecord | CompactRecord, block: Block) -> RenderedItem | None:
        """The item that a block of a build says it renders, or None where there is no such item."""
        opening = self._trace.plans[build.plan].opening
        given = build.inputs
        candidates: tuple[RenderedItem, ...] = (
            *opening.policy,
            *opening.instructions,
            *opening.tools,
            *opening.memory,
            *given.corrections,
            *given.recall,
            *given.environment,
        )
        message = self._messages.get(block.item_id or "")
        if message is not None and message.type == block.type:
            return message
        for item in candidates:
            if item.type == block.type and item.id == block.item_id:
                return item
        return None

    def trust(self, build: BuildRecord | CompactRecord) -> Mapping[str, Trust]:
        """Effective trust by id of all that a build may render, but working state and checkpoint."""
        length = build.inputs.log_length
        key = build.plan, length
        if key not in self._trust:
            opening = self._trace.plans[build.plan].opening
            self._trust[key] = log_trust(self._trace.log[:length], opening_trust(opening))
        given = build.inputs
        standing: tuple[RenderedItem, ...] = (*given.corrections, *given.recall, *given.environment)
        if not standing:
            return self._trust[key]
        trust = dict(self._trust[key])
        for item in standing:
            trust[item.id] = effective_trust(item, trust)
        return trust


def entry_trust(entry: Entry, trust: Mapping[str, Trust]) -> Trust:
    """Effective trust of an entry of working state: internal at most."""
    return lowest(Trust.INTERNAL, derived_trust(entry.derived_from, trust))


def span(block: Block, extent: Extent) -> str:
    """Text of an extent. Raises NotDecodable where it cuts a character or lies outside the text."""
    data = block.text.encode()
    if extent.end > len(data):
        raise NotDecodable(f"an extent ends at byte {extent.end} of {len(data)}")
    try:
        return data[extent.start : extent.end].decode()
    except UnicodeDecodeError as error:
        raise NotDecodable(f"an extent cuts a character at byte {extent.start + error.start}") from error


def interior(block: Block) -> str:
    """What a block renders: between opening and closing, or all its text where it has no envelope."""
    return block.text if block.envelope is None else span(block, block.envelope.interior)


def decoded(block: Block, manifest: Manifest) -> str:
    """A block's content by the codec its type declares; platform text stands for itself.

    Raises NotDecodable.
    """
    if block.type in PLATFORM_TYPES:
        return block.text
    return manifest.codec(block.type).decode(interior(block))


def content_of(block: Block, manifest: Manifest) -> str | None:
    """A block's content decoded, or None where it cannot be."""
    try:
        return decoded(block, manifest)
    except NotDecodable:
        return None


def same_json(left: str, right: str) -> bool:
    """Whether two texts are the same JSON value; texts that are no JSON are not."""
    try:
        return bool(json.loads(left) == json.loads(right))
    except ValueError:
        return False
