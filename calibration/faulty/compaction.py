"""Faults in compaction (decision 12): what it leaves alone, and that untrusted text is not paraphrased."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from contextproof.calibration.edits import replace_span
from contextproof.calibration.faulty import Faulty, each
from contextproof.conformance.contract.answers import BuildAnswer, Built, CompactAnswer, Compacted
from contextproof.conformance.contract.events import CompactionCompleted, EpochRotated
from contextproof.conformance.contract.items import (
    CompactionRecorded,
    Message,
    ResultStatus,
    ToolResult,
    content,
    own_trust,
)
from contextproof.conformance.contract.plan import BuildInputs, Checkpoint, Plan
from contextproof.conformance.contract.ports import Summarize, Summary, SummaryPart
from contextproof.conformance.contract.request import Block, Extent
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.trust import log_trust, opening_trust
from contextproof.conformance.contract.vocabulary import CHECKPOINT, FRAMING, Trust


class OtherCheckpoint(Faulty):
    """Writes another checkpoint than the reference does: `rewritten` says which."""

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        answer = super().compact(context, plan, inputs, summarize)
        if not isinstance(answer, Compacted):
            return answer
        new = self.rewritten(answer.checkpoint, inputs)
        told = {"depth": new.depth, "covers": new.covers}
        events = tuple(
            event.model_copy(update=told) if isinstance(event, CompactionCompleted) else event
            for event in answer.events
        )
        return Compacted(checkpoint=new, events=events)

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        """The checkpoint that is written instead."""
        raise NotImplementedError


class TellsOtherwise(Faulty):
    """Stands between the reference and its summarizer, with `tell`."""

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        def between(parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
            return self.tell(plan, inputs, parts, max_tokens, summarize)

        return super().compact(context, plan, inputs, between)

    def tell(
        self,
        plan: Plan,
        inputs: BuildInputs,
        parts: Sequence[SummaryPart],
        max_tokens: int,
        summarize: Summarize,
    ) -> Summary:
        """Call the summarizer, or not."""
        raise NotImplementedError


class TellsMore(TellsOtherwise):
    """Gives the summarizer more than it may be given: `told_too`, in its first words."""

    def tell(
        self,
        plan: Plan,
        inputs: BuildInputs,
        parts: Sequence[SummaryPart],
        max_tokens: int,
        summarize: Summarize,
    ) -> Summary:
        trust = log_trust(inputs.log, opening_trust(plan.opening))
        messages = [item for item in inputs.log if isinstance(item, Message)]
        untrusted = [item for item in messages if trust[item.id] is Trust.EXTERNAL_UNTRUSTED]
        more = tuple(
            SummaryPart(item_ids=(item.id,), text=content(item)[:400])
            for item in self.told_too(untrusted, {item.id: item for item in messages})
        )
        return summarize((*parts, *more), max_tokens)

    def told_too(self, untrusted: Sequence[Message], by_id: Mapping[str, Message]) -> Iterable[Message]:
        """The untrusted items that the summarizer is told of."""
        raise NotImplementedError


class CompactionToldAsRotation(Faulty):
    """Announces a new epoch with each checkpoint. The record: compaction rewrites region B only."""

    breaks = "CTX-12.1"

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        answer = super().compact(context, plan, inputs, summarize)
        if not isinstance(answer, Compacted):
            return answer
        rotated = EpochRotated(
            session=plan.session,
            epoch=plan.epoch + 1,
            turn=context.turn,
            request=context.request,
            cause="routing",
            from_epoch=plan.epoch,
            to_epoch=plan.epoch + 1,
            from_sha256=plan.prefix_sha256,
            to_sha256=plan.prefix_sha256,
        )
        return answer.model_copy(update={"events": (*answer.events, rotated)})


def _compactions(inputs: BuildInputs) -> int:
    """How many checkpoints the log tells of."""
    return sum(isinstance(item, CompactionRecorded) and item.outcome == "completed" for item in inputs.log)


class EpochCountedUpByCompactions(Faulty):
    """Counts each checkpoint as an epoch. The record: compaction rewrites region B only."""

    breaks = "CTX-12.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, Built):
            return answer
        epoch = plan.epoch + _compactions(inputs)
        return answer.model_copy(update={"request": answer.request.model_copy(update={"epoch": epoch})})


class PrefixChangedByCompactions(Faulty):
    """Has the prefix tell how often it was compacted, from `at_least` times on."""

    at_least: ClassVar[int]

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        done = _compactions(inputs)

        def told(block: Block) -> Block:
            if block.type != FRAMING or done < self.at_least:
                return block
            return block.model_copy(update={"text": f"{block.text}\nCompacted {done} times."})

        return self.edited(context, inputs, super().build(context, plan, inputs), each(told))


class CompactionsCountedInThePrefix(PrefixChangedByCompactions):
    """Compiles the system prompt anew for a compaction. Seen in letta-ai/letta-code#4562, of memory."""

    breaks = "CTX-03.2"
    at_least = 1


class SecondCompactionCountedInThePrefix(PrefixChangedByCompactions):
    """Leaves the prefix alone but for the second compaction. Seen in janhq/jan#8960, of each summary."""

    breaks = "CTX-03.2"
    at_least = 2


class SummaryFedUntrustedText(TellsMore):
    """Gives the summarizer everything alike. Seen in bug-ops/zeph#5916; the record's own argument."""

    breaks = "CTX-12.2"

    def told_too(self, untrusted: Sequence[Message], by_id: Mapping[str, Message]) -> Iterable[Message]:
        return untrusted


class SummaryFedWhatRestsOnUntrustedText(TellsMore):
    """Believes an item that rests on an untrusted one. Seen in bug-ops/zeph#5916."""

    breaks = "CTX-12.2"

    def told_too(self, untrusted: Sequence[Message], by_id: Mapping[str, Message]) -> Iterable[Message]:
        return (item for item in untrusted if own_trust(item) is not Trust.EXTERNAL_UNTRUSTED)


class SummaryFedWhatRestsTwiceRemoved(TellsMore):
    """Follows derivation for one step and no further. The record: trust is the lowest, transitively."""

    breaks = "CTX-12.2"

    def told_too(self, untrusted: Sequence[Message], by_id: Mapping[str, Message]) -> Iterable[Message]:
        for item in untrusted:
            near = [item, *(by_id[name] for name in item.derived_from if name in by_id)]
            if all(own_trust(one) is not Trust.EXTERNAL_UNTRUSTED for one in near):
                yield item


class SummaryFedErrorTexts(TellsMore):
    """Takes the text of a failed call for the runtime's own. Seen in bug-ops/mcp-execution#425."""

    breaks = "CTX-12.2"

    def told_too(self, untrusted: Sequence[Message], by_id: Mapping[str, Message]) -> Iterable[Message]:
        return (i for i in untrusted if isinstance(i, ToolResult) and i.status is ResultStatus.ERROR)


class PreviewInPointers(Faulty):
    """Shows the first words of what a pointer stands for, where it stands for `at_least` items."""

    at_least: ClassVar[int]

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        originals = {item.id: content(item) for item in inputs.log if isinstance(item, Message)}

        def preview(block: Block) -> Block:
            if block.type != CHECKPOINT or block.pointer is None or block.envelope is None:
                return block
            if len(block.pointer.references) < self.at_least:
                return block
            first = originals.get(block.pointer.references[0].item_id, "")[:120].replace("⟪", "")
            start = block.envelope.opening.end
            return replace_span(block, Extent(start=start, end=start), f"It began: {first}\n")

        return self.edited(context, inputs, super().build(context, plan, inputs), each(preview))


class PreviewOfAnElidedSpanInItsPointer(PreviewInPointers):
    """Shows the first words of what a pointer stands for. The record's "elide, never paraphrase"."""

    breaks = "CTX-12.2"
    at_least = 1


class PreviewWhereAPointerNamesMany(PreviewInPointers):
    """Shows the first words only where a pointer names several items. The record: never paraphrase."""

    breaks = "CTX-12.2"
    at_least = 3
