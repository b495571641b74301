"""Faults in the pairs of tool calls and results (decision 9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from contextproof.calibration.faulty import Altered, Faulty
from contextproof.conformance.contract.answers import (
    BuildAnswer,
    InvalidInput,
    InvalidKind,
    Validated,
    Violation,
)
from contextproof.conformance.contract.items import LogItem, ToolCall, ToolResult, UserMessage
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block, Request
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import ASSISTANT_MESSAGE, TOOL_CALL, TOOL_RESULT


class ResultsZippedWithCallsByPosition(Faulty):
    """Gives the first result the first call's id, the second the second's, whatever came back first.

    A pointer keeps its own. Parallel results that return out of order are in TraderAlice/OpenAlice#55.
    """

    breaks = "CTX-09.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        return self.edited(context, inputs, super().build(context, plan, inputs), _zipped)


def _zipped(blocks: tuple[Block, ...]) -> Iterator[Block]:
    waiting: list[str | None] = []
    for block in blocks:
        if block.type == TOOL_CALL:
            waiting.append(block.call_id)
        if block.pointer is not None and block.call_id in waiting:
            waiting.remove(block.call_id)
            yield block
        elif block.type == TOOL_RESULT:
            yield block.model_copy(update={"call_id": waiting.pop(0)})
        else:
            yield block


class LaterResultOfAnIdReplacesTheEarlier(Faulty):
    """Looks results up by call id over the whole session: where an id recurs, the latest is sent for all.

    Seen in QwenLM/qwen-code#5099.
    """

    breaks = "CTX-09.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        return self.edited(context, inputs, super().build(context, plan, inputs), _by_id)


def _by_id(blocks: tuple[Block, ...]) -> Iterator[Block]:
    latest = {block.call_id: block for block in blocks if block.type == TOOL_RESULT}
    for block in blocks:
        if block.type != TOOL_RESULT:
            yield block
        else:
            yield latest[block.call_id].model_copy(update={"slot": block.slot})


class DeniedResultsFilteredOut(Faulty):
    """Sends what tools answered, and not what a policy did: the denied call stands alone.

    Seen in OpenHands/software-agent-sdk#432.
    """

    breaks = "CTX-09.1"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        return self.edited(
            context, inputs, answer, lambda blocks: (b for b in blocks if b.status != "denied")
        )


class ValidatorComparesSetsOfIds(Faulty):
    """Accepts a request as soon as every call id occurs among the results', anywhere, in any order.

    Seen in langchain-ai/langchain#38352.
    """

    breaks = "CTX-09.2"

    def validate(self, context: CallContext, request: Request) -> Validated:
        calls = {block.call_id for block in request.blocks if block.type == TOOL_CALL}
        results = {block.call_id for block in request.blocks if block.type == TOOL_RESULT}
        return super().validate(context, request) if calls != results else Validated()


class ValidatorTakesRecurringIdsForDuplicates(Faulty):
    """Rejects a sound request in which a later message used a call id again.

    Seen in openclaw/openclaw#109447.
    """

    breaks = "CTX-09.2"

    def validate(self, context: CallContext, request: Request) -> Validated:
        often = Counter(block.call_id for block in request.blocks if block.type == TOOL_RESULT)
        twice = (b for b in request.blocks if b.type == TOOL_RESULT and often[b.call_id] > 1)
        return Validated(violations=(*super().validate(context, request).violations, *map(_duplicate, twice)))


def _duplicate(block: Block) -> Violation:
    return Violation(kind=InvalidKind.DUPLICATE_RESULT, subject=block.item_id or "")


class ValidatorLooksAtTheFirstMessageOnly(Faulty):
    """Checks the head of the list, where cutting did harm last time, and nothing behind it.

    Seen in microsoft/autogen#7955.
    """

    breaks = "CTX-09.2"

    def validate(self, context: CallContext, request: Request) -> Validated:
        starts = [n for n, block in enumerate(request.blocks) if block.type == ASSISTANT_MESSAGE]
        head = request.blocks[: starts[1]] if len(starts) > 1 else request.blocks
        return super().validate(context, request.model_copy(update={"blocks": head}))


class AnsweredCallCoveredWhileItsSiblingIsOpen(Altered):
    """Compacts the answered one of two calls of a message while the other is still open.

    A compaction between a call and its result is in openai/openai-agents-python#2317.
    """

    breaks = "CTX-09.3"
    module = "selection"

    @staticmethod
    def alter(module: Any) -> None:
        """Of an active unit that is not closed, what is answered counts as older."""
        original = module.Selection.is_active_pair

        def is_active_pair(selection: Any, entry: Any) -> bool:
            items = [e.item for e in selection.active if original(selection, e)]
            answered = {item.call_id for item in items if isinstance(item, ToolResult)}
            is_closed = all(i.call_id in answered for i in items if isinstance(i, ToolCall))
            is_answered = getattr(entry.item, "call_id", None) in answered
            return original(selection, entry) and (is_closed or not is_answered)

        module.Selection.is_active_pair = is_active_pair


class CutBetweenTheCallsOfAMessage(Altered):
    """Keeps the last call of a message and its result, and compacts the calls made beside it.

    A cut that looks at one pair only is in microsoft/semantic-kernel#12708.
    """

    breaks = "CTX-09.3"
    module = "selection"

    @staticmethod
    def alter(module: Any) -> None:
        """Of the active unit, only the latest call's id is active."""
        original = module.Selection.is_active_pair

        def is_active_pair(selection: Any, entry: Any) -> bool:
            calls = [e.item for e in selection.active if isinstance(e.item, ToolCall)]
            call_id = getattr(entry.item, "call_id", None)
            return original(selection, entry) and call_id in (None, calls[-1].call_id)

        module.Selection.is_active_pair = is_active_pair


class OrphanRepairedInSilence(Faulty):
    """Leaves a call without a result out of the request. Seen in Estudely/riftor#115."""

    breaks = "CTX-09.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        while isinstance(answer, InvalidInput):
            kept = tuple(item for item in inputs.log if item.id != answer.subject)
            if len(kept) == len(inputs.log):
                return answer
            inputs = inputs.model_copy(update={"log": kept})
            answer = super().build(context, plan, inputs)
        return answer


class LateResultMovedBackToItsCall(Faulty):
    """Fetches a result from behind the user's next message, as if it had come in time.

    A repair that looks for an answer further on is in Estudely/riftor#115.
    """

    breaks = "CTX-09.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        return super().build(context, plan, inputs.model_copy(update={"log": _in_time(inputs.log)}))


def _in_time(log: tuple[LogItem, ...]) -> tuple[LogItem, ...]:
    """The log with each late result before the user's message that it came after."""
    moved: list[LogItem] = []
    users: list[int] = []
    for item in log:
        unit_has_call = any(_calls(other, item) for other in moved[users[-1] :]) if users else True
        if isinstance(item, UserMessage):
            users.append(len(moved))
        if isinstance(item, ToolResult) and not unit_has_call:
            moved.insert(users[-1], item)
        else:
            moved.append(item)
    return tuple(moved)


def _calls(call: LogItem, result: LogItem) -> bool:
    return isinstance(call, ToolCall) and isinstance(result, ToolResult) and call.call_id == result.call_id


class OpenCallNamedByItsCallId(Faulty):
    """Refuses a log with an open call, and names it as the provider does, by an id that recurs.

    Ids that do not say which call is meant are in NousResearch/hermes-agent#102629.
    """

    breaks = "CTX-09.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, InvalidInput):
            return answer
        ids = {item.id: item.call_id for item in inputs.log if isinstance(item, ToolCall)}
        return answer.model_copy(update={"subject": ids.get(answer.subject, answer.subject)})


class InterruptedCallTakenForOpen(Faulty):
    """Does not take the runtime's own word for a result, and refuses a log whose calls are all closed.

    Outcomes that closed nothing are in vercel/ai#14428.
    """

    breaks = "CTX-09.4"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        stopped = next(_stopped(inputs.log), None)
        if stopped is None or isinstance(answer, InvalidInput):
            return answer
        return InvalidInput(kind=InvalidKind.UNANSWERED_CALL, subject=stopped)


def _stopped(log: Iterable[LogItem]) -> Iterator[str]:
    return (item.id for item in log if isinstance(item, ToolResult) and item.status == "interrupted")
