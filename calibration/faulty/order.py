"""Faults in the order of a request (decision 2)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from contextproof.calibration.faulty import Altered, Faulty, each
from contextproof.conformance.contract.answers import BuildAnswer
from contextproof.conformance.contract.items import RenderedItem, ToolDefinition
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import (
    CHECKPOINT,
    ENVIRONMENT,
    MEMORY_SNAPSHOT,
    TOOL_CALL,
    TOOL_RESULT,
    WORKING_STATE,
    Place,
    Slot,
)


def _behind(blocks: Iterable[Block], is_moved: Callable[[Block], bool], last: Place) -> tuple[Block, ...]:
    """The blocks with some of them moved behind all others up to a place."""
    every, ranks = tuple(blocks), list(Place)
    moved = [block for block in every if is_moved(block)]
    rest = [block for block in every if not is_moved(block)]
    end = sum(ranks.index(block.place) <= ranks.index(last) for block in rest)
    return (*rest[:end], *moved, *rest[end:])


class ReminderBehindTheUserMessage(Faulty):
    """Ends each request with the runtime's notices. Seen in anomalyco/opencode#23595."""

    breaks = "CTX-02.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def reminded(blocks: tuple[Block, ...]) -> Iterable[Block]:
            return _behind(blocks, lambda block: block.type == ENVIRONMENT, Place.CURRENT)

        return self.edited(context, inputs, super().build(context, plan, inputs), reminded)


class TurnInWireOrderUndeclared(Faulty):
    """Sends what a turn already holds behind its message, as wires do, and declares another order.

    It shows in the middle of a turn alone. The record's own argument: the order is total and declared.
    """

    breaks = "CTX-02.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def as_wired(blocks: tuple[Block, ...]) -> Iterable[Block]:
            return _behind(blocks, lambda block: block.slot is Slot.ACTIVE, Place.CURRENT)

        return self.edited(context, inputs, super().build(context, plan, inputs), as_wired)


class SnapshotBehindTheCheckpoint(Faulty):
    """Puts the memory snapshot behind the summary, once there is one.

    The prefix keeps its hash: its bytes are the same, only interrupted. Seen, as memory in the wrong
    place, in langchain-ai/deepagents#2070.
    """

    breaks = "CTX-02.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def interrupted(blocks: tuple[Block, ...]) -> Iterable[Block]:
            return _behind(blocks, lambda block: block.type == MEMORY_SNAPSHOT, Place.CHECKPOINT)

        return self.edited(context, inputs, super().build(context, plan, inputs), interrupted)


class StateBehindRecall(Faulty):
    """Puts working state behind recall, where a request has both. The record: one total order."""

    breaks = "CTX-02.3"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def swapped(blocks: tuple[Block, ...]) -> Iterable[Block]:
            return _behind(blocks, lambda block: block.type == WORKING_STATE, Place.RECALL)

        return self.edited(context, inputs, super().build(context, plan, inputs), swapped)


class CheckpointBehindWhatItLeft(Faulty):
    """Puts the summary behind the earlier turns that still stand, so that the past follows the present.

    It shows after a compaction with a turn since. The record: one total order.
    """

    breaks = "CTX-02.3"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def late(blocks: tuple[Block, ...]) -> Iterable[Block]:
            return _behind(blocks, lambda block: block.type == CHECKPOINT, Place.HISTORY)

        return self.edited(context, inputs, super().build(context, plan, inputs), late)


class PointerOfThisTurnSentAsHistory(Faulty):
    """Sends a result of the present turn, once truncated, under the slot of earlier turns.

    The record's own argument: a slot changes when the turn ends, and then alone.
    """

    breaks = "CTX-02.3"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def aged(block: Block) -> Block:
            is_active = block.pointer is not None and block.slot is Slot.ACTIVE
            return block.model_copy(update={"slot": Slot.HISTORY} if is_active else {})

        return self.edited(context, inputs, super().build(context, plan, inputs), each(aged))


class ResultsInTheOrderOfTheirCalls(Faulty):
    """Sorts parallel results as their calls were made, so that history is rewritten once they crossed.

    Seen, as order that depends on who finishes first, in coder/coder#24075.
    """

    breaks = "CTX-02.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def in_order_of_calls(blocks: tuple[Block, ...]) -> Iterable[Block]:
            made: list[str | None] = []
            for kind, run in groupby(blocks, lambda block: block.type):
                group = list(run)
                made = [block.call_id for block in group] if kind == TOOL_CALL else made
                is_sure = kind == TOOL_RESULT and sorted(map(str, made)) == sorted(set(map(str, made)))
                is_sure = is_sure and all(block.call_id in made for block in group)
                yield from sorted(group, key=lambda b: made.index(b.call_id)) if is_sure else group

        return self.edited(context, inputs, super().build(context, plan, inputs), in_order_of_calls)


class PassedOverMessagesBehindLaterTurns(Faulty):
    """Lets what a compaction passed over stand behind the turns that came after it.

    It shows a turn after a compaction in mid-turn. Seen, as a message that lost its place at that
    boundary, in anomalyco/opencode#41358.
    """

    breaks = "CTX-02.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        passed = set(inputs.checkpoint.passed_over) if inputs.checkpoint is not None else set()

        def late(blocks: tuple[Block, ...]) -> Iterable[Block]:
            return _behind(
                blocks, lambda block: block.slot is Slot.HISTORY and block.item_id in passed, Place.HISTORY
            )

        return self.edited(context, inputs, super().build(context, plan, inputs), late)


class ToolsAsRegistered(Altered):
    """Pins tools in the order in which they were registered. Seen in openai/codex#2611."""

    breaks = "CTX-02.5"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        module._tool_order = lambda _tool: ()


class NestedSchemaKeysAsTheyCame(Altered):
    """Sorts a schema's keys on the outermost level alone. Seen in stanfordnlp/dspy#10216."""

    breaks = "CTX-02.5"
    module = "rendering"

    @staticmethod
    def alter(module: Any) -> None:
        canonical: Callable[[RenderedItem], str] = module.content

        def content(item: RenderedItem) -> str:
            if not isinstance(item, ToolDefinition):
                return canonical(item)
            schema = dict(sorted(json.loads(item.parameters_json).items()))
            shown = {"description": item.description, "name": item.name, "parameters": schema}
            return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))

        module.content = content
