"""Blocks: an item, a pointer, the framing and working state as they are sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from contextproof.calibration.odd.plain import grammar
from contextproof.conformance.contract import vocabulary as v
from contextproof.conformance.contract.items import RenderedItem, ToolCall, ToolResult, content, source
from contextproof.conformance.contract.request import Block, ElidedSpan, Pointer, PointerKind, Reference
from contextproof.conformance.contract.trust import derived_trust
from contextproof.conformance.contract.vocabulary import Place, Region, Role, Slot, Trust
from contextproof.conformance.contract.working_state import Entry, OpenQuestion, Task, WorkingState

#: Where everything stands. What varies is behind history, and what a turn holds follows its message.
ORDER: Final = (
    Place.PLATFORM_POLICY,
    Place.FRAMING,
    Place.AGENT_INSTRUCTIONS,
    Place.MEMORY_SNAPSHOT,
    Place.TOOL_DEFINITION,
    Place.CHECKPOINT,
    Place.HISTORY,
    Place.RECALL,
    Place.ENVIRONMENT,
    Place.MEMORY_CORRECTION,
    Place.WORKING_STATE,
    Place.CURRENT,
    Place.ACTIVE,
)

#: Types that are the platform's own words, and have no envelope.
BARE: Final = (v.PLATFORM_POLICY, v.FRAMING)

#: The source of what the engine itself writes.
ENGINE: Final = "context-engine"

_ROLES: Final = {v.ASSISTANT_MESSAGE: Role.ASSISTANT, v.TOOL_CALL: Role.ASSISTANT, v.TOOL_RESULT: Role.TOOL}


def in_order(blocks: Iterable[Block]) -> list[Block]:
    """The blocks by their places, and within a place in the order given."""
    return sorted(blocks, key=lambda block: ORDER.index(block.place))


def framing_block() -> Block:
    """What tells the model how to read all the rest."""
    return _bare(v.FRAMING, None, Trust.PLATFORM, grammar.FRAMING)


def item_block(secret: str, item: RenderedItem, trust: Trust, slot: Slot | None = None) -> Block:
    """An item, whole."""
    bare = _bare(item.type, item.id, trust, content(item), source(item), slot)
    if isinstance(item, ToolCall):
        bare = bare.model_copy(update={"call_id": item.call_id})
    elif isinstance(item, ToolResult):
        bare = bare.model_copy(update={"call_id": item.call_id, "status": item.status})
    return bare if item.type in BARE else _fenced(secret, bare)


def truncated(secret: str, item: ToolResult, whole: Block) -> Block:
    """The pointer that takes the place of a result, in the same envelope."""
    nonce = grammar.nonce(secret, item.type, item.source, item.text)
    references = (Reference(item_id=item.id),)
    span = ElidedSpan(trust=whole.label, size=len(item.text.encode()), references=references)
    return _pointing(whole, PointerKind.TRUNCATION, nonce, span, f"(cut: {span.size} bytes, in the log as ")


def summary_block(secret: str, checkpoint_id: str, summary: str, trust: Trust) -> Block:
    """What the summarizer told of the items covered."""
    return _fenced(secret, _bare(v.CHECKPOINT, checkpoint_id, trust, summary))


def elision_block(secret: str, checkpoint_id: str, span: ElidedSpan) -> Block:
    """The pointer to what a checkpoint covers and no summary tells of."""
    nonce = grammar.nonce(secret, v.CHECKPOINT, ENGINE, span.model_dump_json())
    before = f"(left out: {len(span.references)} entries of {span.size} bytes, in the log as "
    bare = _bare(v.CHECKPOINT, checkpoint_id, span.trust, "")
    return _pointing(bare, PointerKind.ELISION, nonce, span, before)


def state_blocks(secret: str, state: WorkingState, trust: Mapping[str, Trust]) -> list[Block]:
    """Working state: a block for each trust found in it."""
    entries = list(state.entries())
    found = {label: [e for e in entries if entry_trust(e, trust) is label] for label in Trust}
    texts = {label: "\n".join(map(_line, entries)) for label, entries in found.items() if entries}
    return [_fenced(secret, _bare(v.WORKING_STATE, v.WORKING_STATE, *labelled)) for labelled in texts.items()]


def entry_trust(entry: Entry, trust: Mapping[str, Trust]) -> Trust:
    """An entry is internal at most, and no more than what it rests on."""
    return v.lowest(Trust.INTERNAL, derived_trust(entry.derived_from, trust))


def _line(entry: Entry) -> str:
    """An entry and, before it, what it is: with its length, so that it cannot pass for two."""
    kind = type(entry).__name__
    if isinstance(entry, Task):
        kind += f" {entry.status}"
    elif isinstance(entry, OpenQuestion) and entry.resolved:
        kind += " resolved"
    return f"{kind} {json.dumps(entry.id)}, {len(entry.text)} characters: {entry.text}"


def _bare(
    item_type: str,
    item_id: str | None,
    trust: Trust,
    text: str,
    said_source: str = ENGINE,
    slot: Slot | None = None,
) -> Block:
    """A block without its envelope."""
    declared = v.declaration(item_type)
    assert declared is not None, item_type
    is_prefix = declared.region is Region.A
    return Block(
        item_id=item_id,
        type=item_type,
        slot=slot,
        region=declared.region,
        role=Role.SYSTEM if is_prefix else _ROLES.get(item_type, Role.USER),
        label=trust,
        source=said_source,
        text=text,
    )


def _fenced(secret: str, bare: Block) -> Block:
    nonce = grammar.nonce(secret, bare.type, bare.source, bare.text)
    made = grammar.fenced(nonce, bare.type, bare.label, bare.source, grammar.escaped(bare.text))
    return bare.model_copy(update={"text": made.text, "envelope": made.envelope})


def _pointing(bare: Block, kind: PointerKind, nonce: str, span: ElidedSpan, before: str) -> Block:
    names = grammar.escaped(json.dumps([r.item_id for r in span.references], ensure_ascii=False))
    made = grammar.fenced(nonce, bare.type, bare.label, bare.source, before, names, ")")
    about = {"kind": kind, "trust": span.trust, "size": span.size, "references": span.references}
    pointer = Pointer.model_validate({**about, "reference": made.inside[1]})
    return bare.model_copy(update={"text": made.text, "envelope": made.envelope, "pointer": pointer})
