"""An oracle of what history costs: tokens of items and checkpoints as they were last seen rendered."""

from __future__ import annotations

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import CHECKPOINT
from contextproof.conformance.play.trace import CompactRecord, Trace, tokens


def rendered_sizes(trace: Trace, index: int, record: CompactRecord) -> dict[str, int]:
    """Tokens of every message as rendered before a compaction, overhead included, by id.

    A result that sent requests had yielded counts as its pointer; of several renderings of an item
    the largest counts.
    """
    epoch = record.context.epoch
    gone = {entry.item_id for entry in record.inputs.yielded if entry.epoch == epoch}
    texts: dict[str, set[str]] = {}
    for place, build in trace.builds("main", "roomy"):
        if place > index or not isinstance(build.answer, a.Built):
            continue
        for block in build.answer.request.blocks:
            if block.slot is None or block.item_id is None:
                continue
            if block.pointer is not None or block.item_id not in gone:
                texts.setdefault(block.item_id, set()).add(block.text)
    return {item_id: max(_cost(record.context, text) for text in seen) for item_id, seen in texts.items()}


def size_of_checkpoint(trace: Trace, checkpoint: Checkpoint, context: CallContext) -> int | None:
    """Tokens of a checkpoint's blocks as first rendered; None where it never was."""
    for _, build in trace.builds("main", "roomy"):
        if build.inputs.checkpoint == checkpoint and isinstance(build.answer, a.Built):
            return _total(build.answer.request.blocks, context)
    return None


def _total(blocks: tuple[Block, ...], context: CallContext) -> int:
    return sum(_cost(context, block.text) for block in blocks if block.type == CHECKPOINT)


def _cost(context: CallContext, text: str) -> int:
    return tokens(context, text) + context.model.overhead_per_block
