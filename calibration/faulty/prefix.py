"""Faults that break the one prefix, or the record of it (decision 3)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from contextproof.calibration.edits import replace_span, with_blocks
from contextproof.calibration.faulty import Altered, Faulty, each
from contextproof.conformance.contract.answers import BuildAnswer, Built, PlanAnswer, Planned
from contextproof.conformance.contract.items import UserMessage
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block, Extent, prefix_sha256
from contextproof.conformance.contract.session import CallContext, Change, ForcedRevocation, Live, Opening
from contextproof.conformance.contract.vocabulary import (
    AGENT_INSTRUCTIONS,
    MEMORY_SNAPSHOT,
    PLATFORM_POLICY,
    TOOL_DEFINITION,
    USER_MESSAGE,
)

#: A session has to grow as long for its last fault to show.
_LATE = 30


def sorted_within(
    blocks: tuple[Block, ...], item_type: str, key: Callable[[Block], Any]
) -> tuple[Block, ...]:
    """The blocks with those of one type sorted among themselves."""
    ranked = iter(sorted((block for block in blocks if block.type == item_type), key=key))
    return tuple(next(ranked) if block.type == item_type else block for block in blocks)


class TimestampInThePrefix(Faulty):
    """Tells the time at the head of the policy. Seen in goruck/home-generative-agent#617."""

    breaks = "CTX-03.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def stamp(block: Block) -> Block:
            if block.type != "platform_policy":
                return block
            return block.model_copy(update={"text": f"It is {inputs.live.clock}.\n{block.text}"})

        return self.edited(context, inputs, super().build(context, plan, inputs), each(stamp))


class ToolsSortedInsideTheHashOnly(Faulty):
    """Hashes the tools in order of name, and sends them in another. The record's own argument."""

    breaks = "CTX-03.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, Built):
            return answer
        names = [tool.name for tool in inputs.live.tools]
        first = next((n for n, b in enumerate(answer.request.blocks) if b.type == TOOL_DEFINITION), 0)
        tools = sorted(
            (b for b in answer.request.blocks if b.type == TOOL_DEFINITION),
            key=lambda b: _rank(b, names),
        )
        rest = [b for b in answer.request.blocks if b.type != TOOL_DEFINITION]
        sent = with_blocks(answer, (*rest[:first], *tools, *rest[first:]))
        request = sent.request.model_copy(update={"prefix_sha256": answer.request.prefix_sha256})
        return sent.model_copy(update={"request": request})


def _rank(block: Block, names: list[str]) -> int:
    """Where the first of these names stands that the block mentions."""
    return next((n for n, name in enumerate(names) if f'"name":"{name}"' in block.text), len(names))


class MemoryRefreshedInThePrefix(Faulty):
    """Shows the memory as it is now in the snapshot. Seen in langchain-ai/deepagents#2070."""

    breaks = "CTX-03.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        now = plan.opening.model_copy(update={"memory": inputs.live.memory})
        opened = self.open_session(context, now)
        if isinstance(opened, Planned):
            plan = opened.plan.model_copy(update={"epoch": plan.epoch})
        return super().build(context, plan, inputs)


class HashOfTheOpeningInsteadOfThePrefix(Faulty):
    """Records a hash of the configuration, not of what is sent. The record's own argument."""

    breaks = "CTX-03.1"

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        answer = super().open_session(context, opening)
        if not isinstance(answer, Planned):
            return answer
        wrong = prefix_sha256(answer.plan.blocks[:1])
        return answer.model_copy(update={"plan": answer.plan.model_copy(update={"prefix_sha256": wrong})})


class HashOfNormalizedText(Altered):
    """Hashes the prefix in normal form, and sends it as it is. It shows where the two differ.

    The record's own argument: what counts is the bytes as sent.
    """

    breaks = "CTX-03.1"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        def normalized(blocks: tuple[Block, ...]) -> str:
            texts = (unicodedata.normalize("NFC", block.text) for block in blocks)
            return prefix_sha256(
                tuple(b.model_copy(update={"text": t}) for b, t in zip(blocks, texts, strict=True))
            )

        module.prefix_sha256 = normalized


class HashKeptThroughARevocation(Faulty):
    """Takes the hash of the epoch before along, where a tool left the prefix. The record's argument.

    The event agrees with the plan; the bytes agree with neither.
    """

    breaks = "CTX-03.1"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, plan, change, live)
        if not isinstance(answer, Planned) or not isinstance(change, ForcedRevocation):
            return answer
        kept = plan.prefix_sha256
        return answer.model_copy(
            update={
                "plan": answer.plan.model_copy(update={"prefix_sha256": kept}),
                "events": tuple(e.model_copy(update={"to_sha256": kept}) for e in answer.events),
            }
        )


class DateInTheInstructions(Faulty):
    """Ends the instructions with the day's date: one change at midnight. Seen in can1357/oh-my-pi#7324."""

    breaks = "CTX-03.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def dated(block: Block) -> Block:
            if block.type != AGENT_INSTRUCTIONS or block.envelope is None:
                return block
            end = Extent(start=block.envelope.closing.start, end=block.envelope.closing.start)
            return replace_span(block, end, f"Today is {inputs.live.clock[:10]}.\n")

        return self.edited(context, inputs, super().build(context, plan, inputs), each(dated))


class MessageCountInThePolicy(Faulty):
    """Tells in the policy how many messages there were. Seen in letta-ai/letta-code#4562."""

    breaks = "CTX-03.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        messages = sum(item.type == USER_MESSAGE for item in inputs.log)

        def counted(block: Block) -> Block:
            told = f"{block.text}\nMessages so far: {messages}."
            return block.model_copy(update={"text": told} if block.type == PLATFORM_POLICY else {})

        return self.edited(context, inputs, super().build(context, plan, inputs), each(counted))


class MemoryRankedForTheMessage(Faulty):
    """Orders the snapshot by what the user just asked. Seen in open-webui/open-webui#30239."""

    breaks = "CTX-03.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        asked = [item.text for item in inputs.log if isinstance(item, UserMessage)][-1:]
        wanted = set(re.findall(r"\w+", " ".join(asked)))

        def distance(block: Block) -> tuple[int, str]:
            return -len(wanted & set(re.findall(r"\w+", block.text))), block.text[-40:]

        return self.edited(
            context,
            inputs,
            super().build(context, plan, inputs),
            lambda blocks: sorted_within(blocks, MEMORY_SNAPSHOT, distance),
        )


class SnapshotRereadLateInTheSession(Faulty):
    """Reads the snapshot anew, in another order, after thirty turns: no short session shows it.

    Seen, as a full recompile in mid-session, in letta-ai/letta-code#4562.
    """

    breaks = "CTX-03.3"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if context.turn <= _LATE:
            return answer
        places = {item.id: -n for n, item in enumerate(plan.opening.memory)}
        return self.edited(
            context,
            inputs,
            answer,
            lambda blocks: sorted_within(blocks, MEMORY_SNAPSHOT, lambda b: places[b.item_id or ""]),
        )
