"""Faults of purity: what a build depends on, changes, or writes (decision 10)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from contextproof.calibration.faulty import Altered, Faulty
from contextproof.calibration.faulty.prefix import sorted_within
from contextproof.conformance.contract.answers import (
    BuildAnswer,
    Built,
    CompactAnswer,
    Compacted,
    CompactionFailed,
    CompactionNeeded,
    InvalidInput,
    InvalidKind,
)
from contextproof.conformance.contract.events import CompactionCompleted
from contextproof.conformance.contract.items import ToolResult
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.ports import Summarize, SummarizerError, Summary, SummaryPart
from contextproof.conformance.contract.request import Block, Yielded
from contextproof.conformance.contract.session import CallContext, ModelSpec
from contextproof.conformance.contract.vocabulary import TOOL_DEFINITION, Slot

# --- The same inputs ------------------------------------------------------------------------------


class AttemptCountedAsARequest(Faulty):
    """Numbers a retry as another request. The record's own argument: a retry is the same request."""

    breaks = "CTX-10.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, Built):
            return answer
        number = context.request + inputs.live.attempt - 1
        return answer.model_copy(update={"request": answer.request.model_copy(update={"request": number})})


class MessageSaidAgainByARetry(Faulty):
    """Puts the user's message into a retry once more. Seen in HKUDS/nanobot#4079."""

    breaks = "CTX-10.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def again(blocks: tuple[Block, ...]) -> Iterable[Block]:
            said = [block for block in blocks if block.slot is Slot.CURRENT]
            return (*blocks, *said) if inputs.live.attempt > 1 else blocks

        return self.edited(context, inputs, super().build(context, plan, inputs), again)


class YieldsReportedOnce(Faulty):
    """Remembers what it reported as given way, and reports it no second time.

    It shows where a build under pressure is made twice. Seen, as a memory of clearings that lives in
    the process, in tetsuo-ai/agenc-core#2156.
    """

    breaks = "CTX-10.1"

    def __init__(self) -> None:
        self._reported: set[tuple[str, int, int, Yielded]] = set()

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, Built):
            return answer
        place = plan.prefix_sha256, context.request, len(inputs.log)
        keys = {gone: (*place, gone) for gone in answer.yielded}
        new = tuple(gone for gone in answer.yielded if keys[gone] not in self._reported)
        self._reported.update(keys.values())
        return answer.model_copy(update={"yielded": new})


class SupersededCorrectionsTakenFromTheCaller(Faulty):
    """Removes corrections that a later one replaces from its caller's own list.

    It shows where one memory was corrected twice. Seen in 567-labs/instructor#2437.
    """

    breaks = "CTX-10.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        latest = {correction.memory_id: correction for correction in inputs.corrections}
        kept = tuple(c for c in inputs.corrections if latest[c.memory_id] is c)
        object.__setattr__(inputs, "corrections", kept)
        return answer


class YieldsAddedToTheCallersList(Faulty):
    """Adds what gave way to its caller's own list. Seen in andrewyng/aisuite#403."""

    breaks = "CTX-10.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if isinstance(answer, Built):
            object.__setattr__(inputs, "yielded", (*inputs.yielded, *answer.yielded))
        return answer


class InstructionsTakenFromThePlan(Faulty):
    """Takes the instructions out of the opening in its caller's plan. Seen in andrewyng/aisuite#403."""

    breaks = "CTX-10.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        object.__setattr__(plan.opening, "instructions", ())
        return answer


# --- Circumstances ---------------------------------------------------------------------------------


class ToolsInHashOrder(Faulty):
    """Sends definitions in the order of a hash map. Seen in openai/codex#2611."""

    breaks = "CTX-10.3"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        return self.edited(
            context,
            inputs,
            super().build(context, plan, inputs),
            lambda blocks: sorted_within(blocks, TOOL_DEFINITION, lambda block: hash(block.text)),
        )


class NoncesKeyedToTheTemporaryFolder(Altered):
    """Keys nonces to the process's folder too: one prefix a process. Seen in anthropics/claude-code#27786."""

    breaks = "CTX-10.3"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        keyed: Callable[[str, str, str, str], str] = module.nonce_of

        def nonce_of(secret: str, item_type: str, source: str, content: str) -> str:
            return keyed(f"{secret} {tempfile.gettempdir()}", item_type, source, content)

        module.nonce_of = nonce_of


class YieldsKeptInMemoryOnly(Faulty):
    """Knows what gave way from its own memory, not from what it is handed; a resume starts without.

    Seen in claude-code-best/claude-code#356.
    """

    breaks = "CTX-10.1"

    def __init__(self) -> None:
        self._gone: dict[tuple[str, int], tuple[Yielded, ...]] = {}

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        handed = {gone.model_dump_json(): gone for gone in inputs.yielded}
        known = {gone for gones in self._gone.values() for gone in gones}
        kept = tuple(gone for gone in handed.values() if gone in known)
        answer = super().build(context, plan, inputs.model_copy(update={"yielded": kept}))
        if isinstance(answer, Built):
            self._gone[context.session, context.request] = answer.yielded
        return answer


# --- Writes ----------------------------------------------------------------------------------------


class CompactionToldByTheBuild(Faulty):
    """Tells of a compaction whenever it uses a checkpoint. The record's own argument: a build writes none."""

    breaks = "CTX-10.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        checkpoint = inputs.checkpoint
        if not isinstance(answer, Built) or checkpoint is None:
            return answer
        event = CompactionCompleted(
            session=plan.session,
            epoch=plan.epoch,
            turn=context.turn,
            request=context.request,
            checkpoint_id=checkpoint.id,
            depth=checkpoint.depth,
            covers=checkpoint.covers,
            elided_bytes=0,
        )
        return answer.model_copy(update={"events": (*answer.events, event)})


class CompactsInPassing(Faulty):
    """Compacts within the build, and anew each time. Seen in langchain-ai/deepagents#2876."""

    breaks = "CTX-10.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def tersely(parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
            return Summary(text=f"{len(parts)} earlier messages."[: 4 * max_tokens])

        answer = super().build(context, plan, inputs)
        if not isinstance(answer, CompactionNeeded):
            return answer
        compacted = self.compact(context, plan, inputs, tersely)
        if not isinstance(compacted, Compacted):
            return answer
        return super().build(context, plan, inputs.model_copy(update={"checkpoint": compacted.checkpoint}))


class SummaryTidiedByTheBuild(Faulty):
    """Strips the summary of blanks at its ends as it renders it. The record: as it was handed over."""

    breaks = "CTX-10.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        if inputs.checkpoint is not None:
            tidy = inputs.checkpoint.model_copy(update={"summary": inputs.checkpoint.summary.strip()})
            inputs = inputs.model_copy(update={"checkpoint": tidy})
        return super().build(context, plan, inputs)


class CheckpointForgottenWhereAllFits(Faulty):
    """Sends the whole log again where it fits without the checkpoint. Seen in vtemian/micode#8."""

    breaks = "CTX-10.5"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        whole = super().build(context, plan, inputs.model_copy(update={"checkpoint": None}))
        return whole if isinstance(whole, Built) else super().build(context, plan, inputs)


class DeadAfterACompactionInMidTurn(Faulty):
    """Takes pairs for torn where a compaction cut the turn they belong to, and refuses the log.

    Seen in openai/openai-agents-python#2727.
    """

    breaks = "CTX-09.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        checkpoint = inputs.checkpoint
        standing = inputs.log[checkpoint.covers :] if checkpoint and checkpoint.passed_over else ()
        torn = next((item for item in standing if isinstance(item, ToolResult)), None)
        if torn is not None:
            return InvalidInput(kind=InvalidKind.ORPHANED_RESULT, subject=torn.id)
        return super().build(context, plan, inputs)


class SummaryCutShortAccepted(Altered):
    """Takes a summary that ended short for a whole one. Seen, as one taken too early, in vtemian/micode#8."""

    breaks = "CTX-10.6"
    module = "summary"

    @staticmethod
    def alter(module: Any) -> None:
        careful = module.summarized

        def trusting(
            model: ModelSpec,
            calls: Sequence[tuple[SummaryPart, ...]],
            summarize: Summarize,
            max_tokens: int,
        ) -> str:
            def completed(parts: Sequence[SummaryPart], most: int) -> Summary:
                return summarize(parts, most).model_copy(update={"complete": True})

            text: str = careful(model, calls, completed, max_tokens)
            return text

        module.summarized = trusting


class FailureLeavesAPlaceholder(Faulty):
    """Writes a placeholder for a summary where the summarizer failed. Seen in anomalyco/opencode#17340."""

    breaks = "CTX-10.6"

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        def somehow(parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
            try:
                return summarize(parts, max_tokens)
            except SummarizerError:
                return Summary(text="(no summary)")

        return super().compact(context, plan, inputs, somehow)


class LaterPartsOfASummaryMayFail(Altered):
    """Keeps what it has where a later summarizer call fails. Seen in Kilo-Org/kilocode#12769."""

    breaks = "CTX-10.6"
    module = "summary"

    @staticmethod
    def alter(module: Any) -> None:
        careful = module._answers

        def lenient(*arguments: Any) -> Iterator[str]:
            told = 0
            try:
                for text in careful(*arguments):
                    told += 1
                    yield text
            except module.SummaryFailed:
                if not told:
                    raise

        module._answers = lenient


class FailureToldAsCompleted(Faulty):
    """Tells of a completed compaction where it failed. The record: a failure writes nothing."""

    breaks = "CTX-10.6"

    def compact(
        self, context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
    ) -> CompactAnswer:
        answer = super().compact(context, plan, inputs, summarize)
        if not isinstance(answer, CompactionFailed):
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
        return answer.model_copy(update={"events": (event,)})
