"""Items for hand-written traces, each with sensible defaults; other fields by keyword."""

from __future__ import annotations

from contextproof.conformance.contract import items as i
from contextproof.conformance.contract.request import Yielded, YieldStep
from contextproof.conformance.contract.vocabulary import Trust

TOOL = i.ToolDefinition(
    id="tool:search",
    name="search",
    description="Search the web.",
    parameters_json="{}",
    source="builtin",
)
STATE_TOOL = i.ToolDefinition(
    id="tool:state",
    name=i.WORKING_STATE_TOOL,
    description="Write working state.",
    parameters_json="{}",
    source="platform",
)


def memory(item_id: str, text: str = "The user likes trains.", **more: object) -> i.MemoryItem:
    """A memory item."""
    return i.MemoryItem.model_validate({"id": item_id, "text": text, **more})


def user(item_id: str, text: str = "Where to?", **more: object) -> i.UserMessage:
    """A user message."""
    return i.UserMessage.model_validate({"id": item_id, "text": text, **more})


def assistant(item_id: str, text: str = "Let me see.", **more: object) -> i.AssistantMessage:
    """An assistant message."""
    return i.AssistantMessage.model_validate({"id": item_id, "text": text, **more})


def call(item_id: str, message_id: str, *, call_id: str = "", **more: object) -> i.ToolCall:
    """A call of the search tool; its call id is the item's id unless given."""
    fields = {"name": TOOL.name, "arguments": "{}", **more}
    return i.ToolCall.model_validate(
        {"id": item_id, "message_id": message_id, "call_id": call_id or item_id, **fields}
    )


def result(
    item_id: str, call_id: str, text: str = "Found it.", *, status: str = "ok", **more: object
) -> i.ToolResult:
    """A result, unlabelled and so untrusted unless a trust is given."""
    fields = {"source": "tool:search", **more}
    return i.ToolResult.model_validate(
        {
            "id": item_id,
            "call_id": call_id,
            "text": text,
            "status": i.ResultStatus(status),
            **fields,
        }
    )


def recall(item_id: str, text: str = "An old note.", **more: object) -> i.RecallItem:
    """A recalled item, trusted unless said otherwise."""
    fields = {"source": "notes", "trust": Trust.INTERNAL, **more}
    return i.RecallItem.model_validate({"id": item_id, "text": text, **fields})


def correction(item_id: str, memory_id: str, text: str = "Now by bus.", **more: object) -> i.MemoryCorrection:
    """A correction of a memory item."""
    return i.MemoryCorrection.model_validate({"id": item_id, "memory_id": memory_id, "text": text, **more})


def environment(item_id: str, text: str = "It is Friday.") -> i.EnvironmentItem:
    """What the runtime tells."""
    return i.EnvironmentItem(id=item_id, text=text)


def gave_way(
    item_id: str,
    *,
    step: YieldStep = YieldStep.TOOL_RESULT,
    cause: str = "pressure",
    epoch: int = 1,
) -> Yielded:
    """An entry of a yielded list."""
    return Yielded.model_validate({"step": step, "item_id": item_id, "epoch": epoch, "cause": cause})
