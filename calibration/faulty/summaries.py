"""Faults in summaries: how deep and how long they are, and what passes for one (decisions 10 and 12)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from contextproof.calibration.faulty import Altered, Faulty
from contextproof.calibration.faulty.compaction import OtherCheckpoint, TellsOtherwise
from contextproof.conformance.contract.answers import (
    BudgetExhausted,
    BuildAnswer,
    CompactAnswer,
    CompactionNeeded,
    Escalated,
    NothingToGain,
)
from contextproof.conformance.contract.caps import MAX_SUMMARY_DEPTH
from contextproof.conformance.contract.events import CompactionCompleted
from contextproof.conformance.contract.items import AssistantMessage
from contextproof.conformance.contract.plan import BuildInputs, Checkpoint, Plan
from contextproof.conformance.contract.ports import Summarize, SummarizerError, Summary, SummaryPart
from contextproof.conformance.contract.request import Block, ClassTokens, Estimate
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import CHECKPOINT, Place, Trust

#: More tokens than any history has.
_ANY_NUMBER: Final = 10**9


class OtherCompactor(Altered):
    """Compacts in another way."""

    module = "compactor"


class KeptSummaryToldAsDeeper(OtherCheckpoint):
    """Counts compactions, not summaries: keeping one word for word adds a level. The record: depth."""

    breaks = "CTX-12.5"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        old = inputs.checkpoint
        deeper = min(MAX_SUMMARY_DEPTH, old.depth + 1 if old is not None else 1)
        return new.model_copy(update={"depth": max(new.depth, deeper)})


class DepthForgottenOverASummary(OtherCheckpoint):
    """Tells every summary as the first. Seen in adolfousier/opencrabs#1649, where they nest unnoticed."""

    breaks = "CTX-12.5"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        return new.model_copy(update={"depth": min(1, new.depth)})


class DepthOneWithNothingSummarized(OtherCheckpoint):
    """Tells a checkpoint of pointers alone as a summary. The record: depth counts summaries."""

    breaks = "CTX-12.5"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        return new.model_copy(update={"depth": max(1, new.depth)})


class SummariesNestedWithoutEnd(OtherCompactor):
    """Never escalates, and tells any depth beyond two as two. Seen in adolfousier/opencrabs#1649."""

    breaks = "CTX-12.5"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module._depth
        module._depth = lambda scope, design: min(MAX_SUMMARY_DEPTH, whole(scope, design))


class EscalatedOverDepthOne(OtherCompactor):
    """Hands over to a child run one summary too early. The record: in place of depth three."""

    breaks = "CTX-12.5"

    @staticmethod
    def alter(module: Any) -> None:
        module.MAX_SUMMARY_DEPTH = 1


class EscalatedWithoutAnEvent(Faulty):
    """Ends a run and tells nobody but the caller. The record: an escalation is announced."""

    breaks = "CTX-12.5"

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        answer = super().compact(context, plan, inputs, summarize)
        return answer.model_copy(update={"events": ()}) if isinstance(answer, Escalated) else answer


class CheckpointWrittenWhateverItCosts(OtherCompactor):
    """Compacts three short messages into more than they were. Seen in google-gemini/gemini-cli#3574."""

    breaks = "CTX-12.6"

    @staticmethod
    def alter(module: Any) -> None:
        module._history_tokens = lambda _draft: _ANY_NUMBER


class GainJudgedWithoutPointers(OtherCompactor):
    """Forgets what pointers cost when it reckons the gain. Seen in Kilo-Org/kilocode#2037, of a summary."""

    breaks = "CTX-12.6"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module.checkpoint_tokens
        module.checkpoint_tokens = lambda draft, summary, _pointers: whole(draft, summary, ())


class OlderCheckpointCountedTwiceInTheGain(OtherCompactor):
    """Reckons a second compaction's gain from too high a start. Seen in google-gemini/gemini-cli#8586."""

    breaks = "CTX-12.6"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module._history_tokens

        def history_tokens(draft: Any) -> int:
            older = draft.standing[Place.CHECKPOINT]
            return int(whole(draft)) + sum(len(block.text) for block in older)

        module._history_tokens = history_tokens


class NothingToGainToldAsCompleted(Faulty):
    """Announces a checkpoint that it did not write. Seen in OpenHands/OpenHands#10873."""

    breaks = "CTX-12.6"

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        answer = super().compact(context, plan, inputs, summarize)
        if not isinstance(answer, NothingToGain):
            return answer
        event = CompactionCompleted(
            session=plan.session,
            epoch=plan.epoch,
            turn=context.turn,
            request=context.request,
            checkpoint_id=inputs.live.ids[0],
            depth=0,
            covers=0,
            elided_bytes=0,
        )
        return NothingToGain(events=(event,))


class CompactionAskedForInVain(Faulty):
    """Asks for compaction where only the prefix could be smaller. Seen in MoonshotAI/kimi-code#2498."""

    breaks = "CTX-08.5"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, BudgetExhausted) or answer.needed <= plan.opening.model.limit:
            return answer
        rest = ClassTokens(token_class=answer.token_class, tokens=answer.needed - plan.prefix_tokens)
        estimate = Estimate(by_class=(*plan.tokens, rest), prefix_tokens=plan.prefix_tokens)
        return CompactionNeeded(estimate=estimate)


class SummaryWithoutBound(OtherCompactor):
    """Stores what the summarizer wrote, as long as it fits. Seen in adolfousier/opencrabs#1649."""

    breaks = "CTX-12.9"

    @staticmethod
    def alter(module: Any) -> None:
        module._bound = lambda _draft: _ANY_NUMBER


class BoundCountedAnewOverAnOlderSummary(OtherCompactor):
    """Bounds the new text alone where it keeps an older one. Seen in adolfousier/opencrabs#1649."""

    breaks = "CTX-12.9"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module._bound
        module._bound = lambda draft: whole(draft) * (2 if draft.standing[Place.CHECKPOINT] else 1)


class SummaryMadeUpWhereNoneCame(TellsOtherwise):
    """Writes a sentence of its own for an empty summary. Seen in langchain-ai/langchain#39261."""

    breaks = "CTX-12.9"

    def tell(
        self,
        plan: Plan,
        inputs: BuildInputs,
        parts: Sequence[SummaryPart],
        max_tokens: int,
        summarize: Summarize,
    ) -> Summary:
        summary = summarize(parts, max_tokens)
        blank = summary.complete and not summary.text.strip()
        return Summary(text="Nothing of note.") if blank else summary


class LastReplyTakenForTheSummary(TellsOtherwise):
    """Takes the conversation's own last reply for an empty summary. Seen in docker/docker-agent#3470."""

    breaks = "CTX-12.9"

    def tell(
        self,
        plan: Plan,
        inputs: BuildInputs,
        parts: Sequence[SummaryPart],
        max_tokens: int,
        summarize: Summarize,
    ) -> Summary:
        summary = summarize(parts, max_tokens)
        if summary.text.strip() or not summary.complete:
            return summary
        told = {item_id for part in parts for item_id in part.item_ids}
        said = [i.text for i in inputs.log if isinstance(i, AssistantMessage) and i.id in told]
        return Summary(text=next((text for text in reversed(said) if text.strip()), ""))


class SummaryRenderedUnescaped(Altered):
    """Renders a summary as it came, delimiters and all. Seen in open-webui/open-webui#29308."""

    breaks = "CTX-13.2"
    module = "rendering"

    @staticmethod
    def alter(module: Any) -> None:
        def summary_block(secret: str, checkpoint_id: str, summary: str) -> Block:
            nonce = module.nonce_of(secret, CHECKPOINT, module.ENGINE, summary)
            sealed = module.wrap(nonce, CHECKPOINT, Trust.INTERNAL, module.ENGINE, summary)
            block = module._sealed_block(sealed, checkpoint_id, CHECKPOINT, Trust.INTERNAL, module.ENGINE)
            return Block.model_validate(block)

        module.summary_block = summary_block


class ErrorTextTakenForTheSummary(TellsOtherwise):
    """Stores the provider's error as the summary. Seen in langchain-ai/langchain#38867."""

    breaks = "CTX-10.6"

    def tell(
        self,
        plan: Plan,
        inputs: BuildInputs,
        parts: Sequence[SummaryPart],
        max_tokens: int,
        summarize: Summarize,
    ) -> Summary:
        try:
            return summarize(parts, max_tokens)
        except SummarizerError as error:
            return Summary(text=f"Error generating summary: {error}")


class HalfASummaryStored(TellsOtherwise):
    """Takes a summary that was cut short for a whole one. Seen in langchain-ai/langchain#38867, of errors."""

    breaks = "CTX-10.6"

    def tell(
        self,
        plan: Plan,
        inputs: BuildInputs,
        parts: Sequence[SummaryPart],
        max_tokens: int,
        summarize: Summarize,
    ) -> Summary:
        return summarize(parts, max_tokens).model_copy(update={"complete": True})


class FailedLaterCallLeftOut(Faulty):
    """Makes do with earlier calls, where a later one fails. Seen in s2b-dev/smart-second-brain#435."""

    breaks = "CTX-10.6"

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        written: list[Summary] = []

        def lenient(parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
            try:
                summary = summarize(parts, max_tokens)
            except SummarizerError:
                if not written:
                    raise
                return written[-1]
            written.append(summary)
            return summary

        return super().compact(context, plan, inputs, lenient)
