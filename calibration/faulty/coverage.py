"""Faults in what a compaction covers: what comes back, what it must spare, and what is lost (decision 12)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final

from contextproof.calibration.faulty import Altered, Faulty
from contextproof.calibration.faulty.compaction import OtherCheckpoint, TellsOtherwise
from contextproof.conformance.contract.answers import BuildAnswer
from contextproof.conformance.contract.items import (
    Message,
    ResultStatus,
    ToolCall,
    ToolResult,
    UserMessage,
    content,
)
from contextproof.conformance.contract.plan import BuildInputs, Checkpoint, Plan
from contextproof.conformance.contract.ports import Summarize, Summary, SummaryPart
from contextproof.conformance.contract.session import CallContext

#: Characters of a message that are told; the rest is cut off.
_TOLD: Final = 200
#: Characters that a message must have to be told at all.
_WORTH_TELLING: Final = 16


class AnsweredMessageBroughtBack(OtherCheckpoint):
    """Passes over the user message before this one, covered or not. Seen in openai/codex#10346.

    Only over an earlier checkpoint is that a fault: until then nothing told of the message.
    """

    breaks = "CTX-12.7"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        said = [item.id for item in inputs.log[: new.covers] if isinstance(item, UserMessage)]
        earlier = [name for name in said if name not in new.passed_over][-1:]
        if inputs.checkpoint is None:
            return new
        return new.model_copy(update={"passed_over": (*earlier, *new.passed_over)})


class CoverageCutToTheLatestTurns(OtherCheckpoint):
    """Takes a window's start for what is covered, where it covered more. Seen in cline/cline#13419."""

    breaks = "CTX-12.7"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        starts = [n for n, item in enumerate(inputs.log) if isinstance(item, UserMessage)]
        old = inputs.checkpoint
        if old is None or not starts or starts[-1] >= old.covers:
            return new
        return new.model_copy(update={"covers": starts[-1], "passed_over": ()})


class CoverageReachesPastTheLog(OtherCheckpoint):
    """Covers the entry that the compaction itself will be logged as. Seen in RooCodeInc/Roo-Code#10379."""

    breaks = "CTX-12.7"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        standing = [item.id for item in inputs.log[new.covers :] if isinstance(item, Message)]
        passed = (*new.passed_over, *standing)
        return new.model_copy(update={"covers": len(inputs.log) + 1, "passed_over": passed})


class CurrentMessageCompactedAway(Altered):
    """Covers the task that it is to go on with. Seen in brcampidelli/chimera-agent#60."""

    breaks = "CTX-12.8"
    module = "compactor"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module._checkpoint

        def checkpoint(scope: Any, design: Any, summary: str, inputs: BuildInputs) -> Checkpoint:
            made: Checkpoint = whole(scope, design, summary, inputs)
            current = scope.draft.selection.current
            left = tuple(name for name in made.passed_over if name != current.item.id)
            covers = max(made.covers, current.position + 1)
            return made.model_copy(update={"passed_over": left, "covers": covers})

        module._checkpoint = checkpoint


class OnlyTheLastParallelPairSpared(OtherCheckpoint):
    """Spares of calls made side by side the last, with its result. Seen in langchain-ai/langchain#38352."""

    breaks = "CTX-09.3"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        rest = [item for item in inputs.log[new.covers :] if isinstance(item, Message)]
        calls = [item for item in rest if isinstance(item, ToolCall)]
        active = [call.call_id for call in calls if call.message_id == calls[-1].message_id]
        taken = set(active[:-1]) - set(active[-1:])
        if not taken or any(isinstance(item, UserMessage) for item in rest):
            return new
        spared = [i.id for i in rest if not (isinstance(i, ToolCall | ToolResult) and i.call_id in taken)]
        passed = (*new.passed_over, *spared)
        return new.model_copy(update={"covers": len(inputs.log), "passed_over": passed})


class LeavesOutOverACheckpoint(Faulty):
    """Builds over a checkpoint without some of what it is handed: `left_out` is how that looks."""

    left_out: ClassVar[dict[str, Any]]

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        over_a_summary = inputs.checkpoint is not None and bool(inputs.checkpoint.summary)
        handed = inputs.model_copy(update=self.left_out) if over_a_summary else inputs
        return super().build(context, plan, handed)


class CorrectionsLeftToTheSummary(LeavesOutOverACheckpoint):
    """Sends no corrections once there is a summary. Seen in anthropics/claude-code#59309, of rules."""

    breaks = "CTX-12.8"
    left_out: ClassVar[dict[str, Any]] = {"corrections": ()}


class EnvironmentLeftToTheSummary(LeavesOutOverACheckpoint):
    """Sends no notices once there is a summary. Seen in anomalyco/opencode#16372, of a mode."""

    breaks = "CTX-12.8"
    left_out: ClassVar[dict[str, Any]] = {"environment": ()}


class OpenTasksLeftToTheSummary(Faulty):
    """Sends the plan without its tasks once there is a summary. Seen in anomalyco/opencode#5934."""

    breaks = "CTX-14.7"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        if inputs.checkpoint is not None and inputs.checkpoint.summary:
            state = inputs.working_state.model_copy(update={"tasks": ()})
            inputs = inputs.model_copy(update={"working_state": state})
        return super().build(context, plan, inputs)


class OnlyTheFirstCallSummarized(TellsOtherwise):
    """Asks the summarizer once and drops what did not fit. Seen in Kilo-Org/kilocode#12769."""

    breaks = "CTX-12.10"

    def compact(self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize) -> Any:
        first: list[Summary] = []

        def once(parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
            if not first:
                first.append(summarize(parts, max_tokens))
            return first[0]

        return Faulty.compact(self, context, plan, inputs, once)


class TellsParts(TellsOtherwise):
    """Gives the summarizer other parts: `told` says which."""

    def tell(
        self,
        plan: Plan,
        inputs: BuildInputs,
        parts: Sequence[SummaryPart],
        max_tokens: int,
        summarize: Summarize,
    ) -> Summary:
        by_id = {item.id: item for item in inputs.log if isinstance(item, Message)}
        told = tuple(
            other
            for part in parts
            for other in (
                [part] if part.item_ids[0] not in by_id else self.told(part, by_id[part.item_ids[0]])
            )
        )
        return summarize(told, max_tokens)

    def told(self, part: SummaryPart, item: Message) -> Iterable[SummaryPart]:
        """What is told of an item."""
        raise NotImplementedError


class LongMessagesCutBeforeSummarizing(TellsParts):
    """Tells the summarizer the beginning of each message. Seen in anthropics/claude-code#22376."""

    breaks = "CTX-12.10"

    def told(self, part: SummaryPart, item: Message) -> Iterable[SummaryPart]:
        return [part.model_copy(update={"text": part.text[:_TOLD]})]


class ShortMessagesNotSummarized(TellsParts):
    """Takes a short message for small talk. The record: all that is covered is accounted for."""

    breaks = "CTX-12.10"

    def told(self, part: SummaryPart, item: Message) -> Iterable[SummaryPart]:
        return [part] if len(content(item)) >= _WORTH_TELLING else []


class DenialsNotSummarized(TellsParts):
    """Tells the summarizer of no call that was denied. Seen in OpenHands/software-agent-sdk#432."""

    breaks = "CTX-12.10"

    def told(self, part: SummaryPart, item: Message) -> Iterable[SummaryPart]:
        is_denial = isinstance(item, ToolResult) and item.status is ResultStatus.DENIED
        return [] if is_denial else [part]


class CallsSummarizedByNameAlone(TellsParts):
    """Tells the summarizer which tool was called and not with what. Seen in dotnet/extensions#6890."""

    breaks = "CTX-12.10"

    def told(self, part: SummaryPart, item: Message) -> Iterable[SummaryPart]:
        is_call = isinstance(item, ToolCall)
        return [part.model_copy(update={"text": part.text.splitlines()[0]}) if is_call else part]


class OlderSummaryNeitherKeptNorGiven(OtherCheckpoint):
    """Puts the new summary in place of the older one. Seen in langchain-ai/langmem#118."""

    breaks = "CTX-12.10"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        old = inputs.checkpoint
        if old is None or not old.summary or not new.summary.startswith(f"{old.summary}\n\n"):
            return new
        written = new.summary.removeprefix(f"{old.summary}\n\n")
        return new.model_copy(update={"summary": written, "depth": 1})


class OneCallForAllOfIt(Altered):
    """Hands the summarizer more than a window holds. Seen in google-gemini/gemini-cli#16516."""

    breaks = "CTX-12.10"
    module = "summary"

    @staticmethod
    def alter(module: Any) -> None:
        module.chunks = lambda _model, parts: (tuple(parts),)


class TrustedResultsElided(Altered):
    """Elides every result alike, where trusted ones could be told. The record: only untrusted spans are."""

    breaks = "CTX-12.10"
    module = "scope"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module.part_tokens

        def part_tokens(model: Any, part: SummaryPart) -> int:
            is_result = part.text.startswith("tool result")
            return model.limit + 1 if is_result else int(whole(model, part))

        module.part_tokens = part_tokens


class SpanNamedByAnOlderPointerAndANewOne(OtherCheckpoint):
    """Merges older pointers and keeps them beside what they became. Seen in langchain-ai/langmem#118."""

    breaks = "CTX-12.10"

    def rewritten(self, new: Checkpoint, inputs: BuildInputs) -> Checkpoint:
        old = inputs.checkpoint
        if old is None or not old.pointers:
            return new
        return new.model_copy(update={"pointers": (old.pointers[0], *new.pointers)})
