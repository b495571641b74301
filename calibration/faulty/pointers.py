"""Faults in the pointers that a checkpoint leaves in place of untrusted content (decision 12)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from contextproof.calibration.faulty import Altered
from contextproof.calibration.faulty.compaction import OtherCheckpoint
from contextproof.conformance.contract.items import Message, ToolCall, content
from contextproof.conformance.contract.plan import BuildInputs, Checkpoint
from contextproof.conformance.contract.request import Block, ElidedSpan, Reference
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.reference_impl.envelope import escape

#: From so many on, some of these faults show.
_SEVERAL: Final = 3


class OtherElision(Altered):
    """Makes pointers in another way."""

    module = "elision"


def _measure_by(module: Any, size: Callable[[str], int]) -> None:
    """Have a pointer's size be the sum of another measure of its items' contents."""
    whole = module._span

    def span(trust: Trust, run: Sequence[Any]) -> ElidedSpan:
        total = sum(size(content(entry.item)) for entry in run)
        return ElidedSpan(trust=trust, size=total, references=whole(trust, run).references)

    module._span = span


class ElidedSizeInCharacters(OtherElision):
    """Counts characters for bytes. The record: a pointer carries the size, in bytes."""

    breaks = "CTX-12.3"

    @staticmethod
    def alter(module: Any) -> None:
        _measure_by(module, len)


class ElidedSizeAsRendered(OtherElision):
    """Measures what was rendered, escapes included. The record: a pointer tells of the original."""

    breaks = "CTX-12.3"

    @staticmethod
    def alter(module: Any) -> None:
        _measure_by(module, lambda text: len(escape(text).encode()))


class CallMeasuredByItsArguments(OtherElision):
    """Forgets a call's name in the size of its pointer. The record: a pointer carries the size."""

    breaks = "CTX-12.3"

    @staticmethod
    def alter(module: Any) -> None:
        def measured(item: Message) -> str:
            return item.arguments if isinstance(item, ToolCall) else content(item)

        module.content = measured


class ReferenceEndsAtACharacterCount(OtherElision):
    """Names an item up to a byte that it took from a count of characters. The record: originals stay."""

    breaks = "CTX-12.3"

    @staticmethod
    def alter(module: Any) -> None:
        def span(trust: Trust, run: Sequence[Any]) -> ElidedSpan:
            ends = [len(content(entry.item)) for entry in run]
            references = tuple(
                Reference(item_id=entry.item.id, start=0, end=end)
                for entry, end in zip(run, ends, strict=True)
            )
            return ElidedSpan(trust=trust, size=sum(ends), references=references)

        module._span = span


class SizeOfAMergedPointerIsTheLast(OtherElision):
    """Tells of merged pointers the size of the newest. The record: what was elided, by size."""

    breaks = "CTX-12.3"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module.merged

        def merged(pointers: Sequence[ElidedSpan]) -> ElidedSpan:
            one: ElidedSpan = whole(pointers)
            return one.model_copy(update={"size": pointers[-1].size})

        module.merged = merged


class MergedPointerTrustedAsItsFirst(OtherElision):
    """Gives merged pointers the trust of the oldest, not the lowest. The record: lowest trust found."""

    breaks = "CTX-12.3"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module.merged

        def merged(pointers: Sequence[ElidedSpan]) -> ElidedSpan:
            one: ElidedSpan = whole(pointers)
            return one.model_copy(update={"trust": pointers[0].trust})

        module.merged = merged


class OlderPointersForgotten(OtherCheckpoint):
    """Writes pointers for what is new and forgets the older ones. Seen in arcee-ai/nac#147."""

    breaks = "CTX-12.4"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        old = inputs.checkpoint
        known = {r for span in old.pointers for r in span.references} if old else set()
        kept = tuple(span for span in new.pointers if not known & set(span.references))
        return new.model_copy(update={"pointers": kept})


class OlderPointerCutToItsFirstBytes(OtherCheckpoint):
    """Names of an item elided before no more than its beginning. Seen in arcee-ai/nac#147, of facts."""

    breaks = "CTX-12.4"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        old = inputs.checkpoint
        known = {r.item_id for span in old.pointers for r in span.references} if old else set()
        sizes = {item.id: len(content(item).encode()) for item in inputs.log if isinstance(item, Message)}

        def cut(reference: Reference) -> Reference:
            end = sizes[reference.item_id]
            kept = end // 2 if reference.item_id in known else end
            return reference.model_copy(update={"start": 0, "end": kept})

        def shortened(span: ElidedSpan) -> ElidedSpan:
            references = tuple(cut(reference) for reference in span.references)
            size = sum(r.end or 0 for r in references)
            return span.model_copy(update={"references": references, "size": size})

        return new.model_copy(update={"pointers": tuple(shortened(span) for span in new.pointers)})


class ReferencesLostWhenPointersAreMerged(OtherElision):
    """Keeps of merged pointers the first reference and the last. The record: pointers survive."""

    breaks = "CTX-12.4"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module.merged

        def merged(pointers: Sequence[ElidedSpan]) -> ElidedSpan:
            one: ElidedSpan = whole(pointers)
            if len(pointers) < _SEVERAL:
                return one
            return ElidedSpan.model_validate(whole((pointers[0], pointers[-1])))

        module.merged = merged


class ElidedSpansRenderedAsInternal(Altered):
    """Renders a pointer at the trust of the summary beside it. Seen in bug-ops/zeph#5916."""

    breaks = "CTX-12.4"
    module = "rendering"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module.elision_block

        def elision_block(secret: str, checkpoint_id: str, span: ElidedSpan) -> Block:
            raised = span.model_copy(update={"trust": Trust.INTERNAL})
            return Block.model_validate(whole(secret, checkpoint_id, raised))

        module.elision_block = elision_block


class ManyElidedItemsRenderedAsInternal(Altered):
    """Does so only where a pointer names several items. The record: a pointer carries its trust."""

    breaks = "CTX-12.4"
    module = "rendering"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module.elision_block

        def elision_block(secret: str, checkpoint_id: str, span: ElidedSpan) -> Block:
            label = Trust.INTERNAL if len(span.references) >= _SEVERAL else span.trust
            raised = span.model_copy(update={"trust": label})
            return Block.model_validate(whole(secret, checkpoint_id, raised))

        module.elision_block = elision_block
