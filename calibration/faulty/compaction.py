"""Faults in compaction (decision 12)."""

from __future__ import annotations

from collections.abc import Sequence

from contextproof.calibration.edits import replace_span
from contextproof.calibration.faulty import Faulty, each
from contextproof.conformance.contract.answers import BuildAnswer, CompactAnswer
from contextproof.conformance.contract.items import Message, content
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.ports import Summarize, Summary, SummaryPart
from contextproof.conformance.contract.request import Block, Extent
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.trust import log_trust, opening_trust
from contextproof.conformance.contract.vocabulary import Trust


class SummaryFedUntrustedText(Faulty):
    """Gives the summarizer everything alike. Seen in bug-ops/zeph#5916; the record's own argument."""

    breaks = "CTX-12.2"

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        trust = log_trust(inputs.log, opening_trust(plan.opening))
        untrusted = tuple(
            SummaryPart(item_ids=(item.id,), text=content(item)[:400])
            for item in inputs.log
            if isinstance(item, Message) and trust[item.id] is Trust.EXTERNAL_UNTRUSTED
        )

        def everything(parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
            return summarize((*parts, *untrusted), max_tokens)

        return super().compact(context, plan, inputs, everything)


class PreviewOfAnElidedSpanInItsPointer(Faulty):
    """Shows the first words of what a pointer stands for. The record's "elide, never paraphrase"."""

    breaks = "CTX-12.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        originals = {item.id: content(item) for item in inputs.log if isinstance(item, Message)}

        def preview(block: Block) -> Block:
            if block.type != "checkpoint" or block.pointer is None or block.envelope is None:
                return block
            first = originals.get(block.pointer.references[0].item_id, "")[:120].replace("⟪", "")
            start = block.envelope.opening.end
            return replace_span(block, Extent(start=start, end=start), f"It began: {first}\n")

        return self.edited(context, inputs, super().build(context, plan, inputs), each(preview))
