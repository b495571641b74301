"""From items to blocks: how an item renders depends on the item and the session alone (16.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from contextproof.conformance.contract.items import (
    PlatformPolicy,
    RenderedItem,
    ToolCall,
    ToolResult,
    content,
    source,
)
from contextproof.conformance.contract.request import (
    Block,
    ElidedSpan,
    Extent,
    Pointer,
    PointerKind,
    Reference,
)
from contextproof.conformance.contract.trust import derived_trust
from contextproof.conformance.contract.vocabulary import (
    CHECKPOINT,
    FRAMING,
    WORKING_STATE,
    Slot,
    Trust,
    lowest,
)
from contextproof.conformance.contract.working_state import (
    Constraint,
    Entry,
    OpenQuestion,
    Task,
    WorkingState,
)
from contextproof.reference_impl import framing
from contextproof.reference_impl.envelope import (
    END_OF_MARK,
    MARK,
    Sealed,
    escape,
    nonce_of,
    quote,
    seal,
    wrap,
)
from contextproof.reference_impl.regions import region_of, role_of

#: The source of what the engine writes itself: summaries and elision pointers.
ENGINE: Final = "context-engine"
#: The source of working state.
STATE: Final = "working-state"
#: The item id of every working-state block, as the contract has it.
STATE_ID: Final = "working_state"
#: Up to so many references are named one by one in a pointer's text; more as first, last and number.
_NAMED_REFERENCES: Final = 3


def framing_block() -> Block:
    """The framing: the one block that renders no item."""
    return _platform_block(None, FRAMING, framing.FRAMING)


def item_block(secret: str, item: RenderedItem, trust: Trust, slot: Slot | None = None) -> Block:
    """An item, verbatim. ``trust`` is its effective trust."""
    if isinstance(item, PlatformPolicy):
        return _platform_block(item.id, item.type, item.text)
    sealed = seal(secret, item.type, trust, source(item), content(item))
    block = _sealed_block(sealed, item.id, item.type, trust, source(item))
    return block.model_copy(update={"slot": slot, **_wire(item)})


def truncation_block(secret: str, item: ToolResult, trust: Trust, slot: Slot) -> Block:
    """The pointer that stands in for a result: same nonce, source and label, and no excerpt."""
    span = ElidedSpan(trust=trust, size=len(item.text.encode()), references=(Reference(item_id=item.id),))
    nonce = nonce_of(secret, item.type, item.source, item.text)
    block = _pointer_block(PointerKind.TRUNCATION, span, nonce, item.id, item.type, item.source)
    return block.model_copy(update={"slot": slot, **_wire(item)})


def summary_block(secret: str, checkpoint_id: str, summary: str) -> Block:
    """A checkpoint's summary; an empty one renders as an empty envelope."""
    sealed = seal(secret, CHECKPOINT, Trust.INTERNAL, ENGINE, summary)
    return _sealed_block(sealed, checkpoint_id, CHECKPOINT, Trust.INTERNAL, ENGINE)


def elision_block(secret: str, checkpoint_id: str, span: ElidedSpan) -> Block:
    """One elision pointer of a checkpoint, at the trust of what it stands for."""
    before, reference, after = _pointer_text(PointerKind.ELISION, span)
    nonce = nonce_of(secret, CHECKPOINT, ENGINE, before + reference + after)
    return _pointer_block(PointerKind.ELISION, span, nonce, checkpoint_id, CHECKPOINT, ENGINE)


def state_blocks(secret: str, state: WorkingState, trust: Mapping[str, Trust]) -> tuple[Block, ...]:
    """Working state: a block for each effective trust found in it, highest first.

    Within a block entries stand in field order, each after a mark that no entry's text can imitate.
    """
    by_trust: dict[Trust, list[Entry]] = {}
    for entry in state.entries():
        by_trust.setdefault(entry_trust(entry, trust), []).append(entry)
    return tuple(
        _state_block(secret, label, by_trust[label])
        for label in sorted(by_trust, key=lambda label: label.rank)
    )


def entry_trust(entry: Entry, trust: Mapping[str, Trust]) -> Trust:
    """Effective trust of an entry of working state: internal at most."""
    return lowest(Trust.INTERNAL, derived_trust(entry.derived_from, trust))


def _state_block(secret: str, label: Trust, entries: Iterable[Entry]) -> Block:
    interior = "\n".join(f"{_entry_mark(entry)} {escape(entry.text)}" for entry in entries)
    nonce = nonce_of(secret, WORKING_STATE, STATE, interior)
    sealed = wrap(nonce, WORKING_STATE, label, STATE, interior)
    return _sealed_block(sealed, STATE_ID, WORKING_STATE, label, STATE)


def _entry_mark(entry: Entry) -> str:
    match entry:
        case Constraint():
            kind = "constraint"
        case Task():
            kind = f"task {entry.status.value}"
        case OpenQuestion():
            kind = "question resolved" if entry.resolved else "question open"
        case _:
            kind = "fact"
    return f"{MARK}{kind} {quote(entry.id)}{END_OF_MARK}"


def _wire(item: RenderedItem) -> dict[str, object]:
    """What a provider's wire carries beside the text of a call or a result."""
    match item:
        case ToolResult():
            return {"call_id": item.call_id, "status": item.status}
        case ToolCall():
            return {"call_id": item.call_id}
        case _:
            return {}


def _platform_block(item_id: str | None, item_type: str, text: str) -> Block:
    return Block(
        item_id=item_id,
        type=item_type,
        region=region_of(item_type),
        role=role_of(item_type),
        label=Trust.PLATFORM,
        source="platform",
        text=text,
    )


def _sealed_block(sealed: Sealed, item_id: str, item_type: str, label: Trust, said_source: str) -> Block:
    return Block(
        item_id=item_id,
        type=item_type,
        region=region_of(item_type),
        role=role_of(item_type),
        label=label,
        source=said_source,
        text=sealed.text,
        envelope=sealed.envelope,
    )


def _pointer_block(
    kind: PointerKind, span: ElidedSpan, nonce: str, item_id: str, item_type: str, said_source: str
) -> Block:
    before, reference, after = _pointer_text(kind, span)
    sealed = wrap(nonce, item_type, span.trust, said_source, before + reference + after)
    start = sealed.envelope.interior.start + len(before.encode())
    pointer = Pointer(
        kind=kind,
        trust=span.trust,
        size=span.size,
        references=span.references,
        reference=Extent(start=start, end=start + len(reference.encode())),
    )
    block = _sealed_block(sealed, item_id, item_type, span.trust, said_source)
    return block.model_copy(update={"pointer": pointer})


def _pointer_text(kind: PointerKind, span: ElidedSpan) -> tuple[str, str, str]:
    """A pointer's text: up to its reference, the reference, and what comes after."""
    what = "truncated" if kind is PointerKind.TRUNCATION else "elided"
    names = [quote(reference.item_id) for reference in span.references]
    if len(names) > _NAMED_REFERENCES:
        reference = f"{names[0]} to {names[-1]}, {len(names)} items"
    else:
        reference = ", ".join(names)
    return f"{MARK}{what} {span.size} bytes, kept as ", reference, END_OF_MARK
