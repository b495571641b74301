"""Faults in what has to stay: what never yields, and everything else once (decision 8)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from contextproof.calibration.edits import replace_span
from contextproof.calibration.faulty import Altered, Faulty
from contextproof.conformance.contract.answers import BuildAnswer, CompactionNeeded
from contextproof.conformance.contract.items import LogItem, MemoryCorrection
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block, PointerKind
from contextproof.conformance.contract.session import CallContext

_LONG_MESSAGE = 400


class FirstCorrectionOfAMemoryWins(Faulty):
    """Sends the first correction of a memory item for ever. Last-write-wins is in JetBrains/koog#1671."""

    breaks = "CTX-08.3"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        first: dict[str, MemoryCorrection] = {}
        for correction in inputs.corrections:
            first.setdefault(correction.memory_id, correction)
        return super().build(context, plan, inputs.model_copy(update={"corrections": tuple(first.values())}))


class SupersededCorrectionsSentToo(Altered):
    """Sends every correction that a memory item ever had, and leaves it to the model which one holds.

    What is appended where it should replace is in spring-projects/spring-ai#7015.
    """

    breaks = "CTX-08.3"
    module = "standing"

    @staticmethod
    def alter(module: Any) -> None:
        """Where corrections are rendered, all of them are latest."""
        original, latest = module.render_standing, module.latest

        def render_standing(plan: Plan, inputs: BuildInputs, index: Any) -> Any:
            module.latest = tuple
            made = original(plan, inputs, index)
            module.latest = latest
            return made

        module.render_standing = render_standing


class LongRequestCut(Faulty):
    """Sends the head of a long message of the user's, as others do with pages.

    Seen in langchain-ai/deepagents#4682.
    """

    breaks = "CTX-13.3"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        return self.edited(context, inputs, answer, lambda blocks: map(_head, blocks))


def _head(block: Block) -> Block:
    if block.slot != "current" or block.envelope is None:
        return block
    interior = block.envelope.interior
    text = interior.of(block.text).decode()
    return replace_span(block, interior, text[:_LONG_MESSAGE]) if len(text) > _LONG_MESSAGE else block


class OnlyTheLastParallelResultIsActive(Altered):
    """Of several results of one message takes the last for active; the others yield as older ones do.

    A batch seen one by one is in TraderAlice/OpenAlice#55.
    """

    breaks = "CTX-08.3"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """Under pressure, the older results take in the active unit's, but for the last."""
        original = module._older_results_truncated

        def with_siblings(draft: Any) -> Any:
            selection = draft.selection
            results = (*selection.older_results(), *selection.active_results()[:-1])
            wider = SimpleNamespace(older_results=lambda: results, current=selection.current)
            return replace(original(replace(draft, selection=wider)), selection=selection)

        module._older_results_truncated = with_siblings


class OldestTurnsDroppedUnderPressure(Faulty):
    """Forgets the oldest turns instead of asking for compaction. Seen in HKUDS/nanobot#4568."""

    breaks = "CTX-08.8"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        while isinstance(answer, CompactionNeeded):
            shorter = _without_first_turn(inputs.log)
            if len(shorter) == len(inputs.log):
                return answer
            inputs = inputs.model_copy(update={"log": shorter, "checkpoint": None})
            answer = super().build(context, plan, inputs)
        return answer


def _without_first_turn(log: tuple[LogItem, ...]) -> tuple[LogItem, ...]:
    """The log from its second user message on, or all of it where there is no second."""
    starts = [n for n, item in enumerate(log) if item.type == "user_message"]
    return log[starts[1] :] if len(starts) > 1 else log


class RepeatedMessagesSentOnce(Faulty):
    """Takes a message that the user wrote twice for a retry, and sends the later one alone.

    Duplicates made by retries, the reason given for such cures, are in HKUDS/nanobot#4079.
    """

    breaks = "CTX-08.8"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        return self.edited(context, inputs, super().build(context, plan, inputs), _without_repeated)


def _without_repeated(blocks: tuple[Block, ...]) -> Iterator[Block]:
    last = {b.text: b.item_id for b in blocks if b.type == "user_message"}
    return (b for b in blocks if b.type != "user_message" or last[b.text] == b.item_id)


class OlderPointersLeftOutOfTheRequest(Faulty):
    """Shows the checkpoint's latest elision pointer alone: nothing leads back to what the others held.

    Records that the next request lost are in google/adk-python#3465.
    """

    breaks = "CTX-08.8"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        return self.edited(context, inputs, answer, _with_latest_pointer)


def _with_latest_pointer(blocks: tuple[Block, ...]) -> Iterator[Block]:
    elided = [n for n, b in enumerate(blocks) if b.pointer and b.pointer.kind is PointerKind.ELISION]
    return (block for n, block in enumerate(blocks) if n not in elided[:-1])
