"""Changing what the reference answered, consistently: the tools that faulty engines are made with."""

from __future__ import annotations

from collections.abc import Iterable

from contextproof.conformance.contract.answers import Built
from contextproof.conformance.contract.request import Block, Envelope, Extent, Request, prefix_sha256


def with_blocks(answer: Built, blocks: Iterable[Block]) -> Built:
    """The answer with other blocks, and their true prefix hash. The estimate stays as it was."""
    changed = tuple(blocks)
    request: Request = answer.request.model_copy(
        update={"blocks": changed, "prefix_sha256": prefix_sha256(changed)}
    )
    return answer.model_copy(update={"request": request})


def replace_span(block: Block, span: Extent, text: str) -> Block:
    """The block with the bytes of a span replaced, and every extent behind it moved along."""
    data = block.text.encode()
    new = text.encode()
    moved = len(new) - (span.end - span.start)

    def shift(extent: Extent) -> Extent:
        behind = extent.start >= span.end
        reaches = extent.end >= span.end and extent.end > span.start
        return Extent(start=extent.start + moved * behind, end=extent.end + moved * (behind or reaches))

    changes: dict[str, object] = {"text": (data[: span.start] + new + data[span.end :]).decode()}
    if block.envelope is not None:
        fields = {name: shift(getattr(block.envelope, name)) for name in Envelope.model_fields}
        changes["envelope"] = Envelope(**fields)
    if block.pointer is not None:
        excerpt = block.pointer.excerpt
        changes["pointer"] = block.pointer.model_copy(
            update={
                "reference": shift(block.pointer.reference),
                "excerpt": shift(excerpt) if excerpt is not None else None,
            }
        )
    return block.model_copy(update=changes)


def with_nonce(block: Block, nonce: str) -> Block:
    """The block with another nonce, in opening and closing."""
    if block.envelope is None:
        return block
    block = replace_span(block, block.envelope.nonce, nonce)
    assert block.envelope is not None
    return replace_span(block, block.envelope.closing_nonce, nonce)
