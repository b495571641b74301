"""Items: entries of the prefix, of the standing body, and of the append-only log.

`content`, `source` and `own_trust` are part of the contract: the same for every builder, whatever
its envelopes look like.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, field_validator

from contextproof.conformance.contract.base import Count, Frozen, Id, canonical_json, parse_json_object
from contextproof.conformance.contract.vocabulary import Trust, declaration, lowest
from contextproof.conformance.contract.working_state import StateUpdate, WriteOrigin

#: The control tool by which a model writes working state (decision 14).
WORKING_STATE_TOOL = "context.update_working_state"


class _Item(Frozen):
    id: Id
    """The item's id, given from outside. It never recurs within a session."""


class _Derived(_Item):
    derived_from: tuple[Id, ...] = ()
    """Ids of earlier items that it says it derives from; one that is unknown counts as untrusted."""


class PlatformPolicy(_Item):
    """Text of the platform's own policy. Never blank."""

    type: Literal["platform_policy"] = "platform_policy"
    """Which item it is."""
    text: Annotated[str, Field(pattern=r"\S")]
    """The policy's text."""


class AgentInstructions(_Item):
    """The operator's instructions to the agent."""

    type: Literal["agent_instructions"] = "agent_instructions"
    """Which item it is."""
    text: str
    """The instructions' text."""


class ToolDefinition(_Item):
    """A tool as its source registered it.

    ``parameters_json`` is the JSON text of the schema with the key order of its source, so that a
    source that reconnects and orders keys otherwise can be told from one that does not.
    """

    type: Literal["tool_definition"] = "tool_definition"
    """Which item it is."""
    name: Annotated[str, Field(min_length=1)]
    """The name by which the model calls it."""
    description: str
    """What the model is told of it."""
    parameters_json: str
    """JSON text of the parameters' schema: an object, in the key order of its source."""
    source: str
    """Where it was registered from."""

    @field_validator("parameters_json")
    @classmethod
    def _must_be_an_object(cls, text: str) -> str:
        parse_json_object(text)
        return text


class MemoryItem(_Derived):
    """A memory as it stood when the session opened. Unlabelled means internal."""

    type: Literal["memory_snapshot"] = "memory_snapshot"
    """Which item it is."""
    text: str
    """What is remembered."""
    trust: Trust | None = None
    """Its label; null means internal."""


class MemoryCorrection(_Derived):
    """A correction, written since, of one memory item. The latest of an item wins."""

    type: Literal["memory_correction"] = "memory_correction"
    """Which item it is."""
    memory_id: Id
    """The memory item that it corrects."""
    text: str
    """What is so instead."""
    trust: Trust | None = None
    """Its label; null means internal."""


class RecallItem(_Derived):
    """Something retrieved for this turn, in order of rank. Unlabelled means untrusted."""

    type: Literal["recall"] = "recall"
    """Which item it is."""
    text: str
    """What was retrieved."""
    source: str
    """Where from."""
    trust: Trust | None = None
    """Its label; null means external_untrusted, and more than internal counts as internal."""


class EnvironmentItem(_Item):
    """What the runtime tells: the date, a notice."""

    type: Literal["environment"] = "environment"
    """Which item it is."""
    text: str
    """What the runtime tells."""


class UserMessage(_Derived):
    """What the user wrote. Starts a turn."""

    type: Literal["user_message"] = "user_message"
    """Which item it is."""
    text: str
    """What the user wrote."""


class AssistantMessage(_Derived):
    """The text of a model's response. Starts a pairing unit; may be empty before calls."""

    type: Literal["assistant_message"] = "assistant_message"
    """Which item it is."""
    text: str
    """What the model wrote; may be empty."""


class ToolCall(_Derived):
    """A call the model made. ``arguments`` are the bytes it wrote, valid JSON or not.

    ``call_id`` is the provider's and may recur in later messages and turns; ``id`` never recurs.
    """

    type: Literal["tool_call"] = "tool_call"
    """Which item it is."""
    message_id: Id
    """The assistant message that it belongs to."""
    call_id: str
    """The provider's id of the call; may recur in later messages."""
    name: Annotated[str, Field(min_length=1)]
    """The tool's name as the model wrote it."""
    arguments: str
    """The bytes that the model wrote, valid JSON or not."""


class ResultStatus(StrEnum):
    """How a call ended; each of the four closes it."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    INTERRUPTED = "interrupted"


class ToolResult(_Derived):
    """The result that closes a call. Unlabelled means untrusted.

    Denied and interrupted results are written by the runtime: internal, and never truncated.
    """

    type: Literal["tool_result"] = "tool_result"
    """Which item it is."""
    call_id: str
    """The call that it closes, of the assistant message before it; of equal ids the first still open."""
    status: ResultStatus
    """How the call ended."""
    text: str
    """What the tool answered."""
    source: str
    """The tool, or what it read from."""
    trust: Trust | None = None
    """Its label; null means external_untrusted, and more than internal counts as internal."""

    @property
    def can_truncate(self) -> bool:
        """Whether a truncation pointer may ever stand in for it."""
        return self.status in (ResultStatus.OK, ResultStatus.ERROR)


class WorkingStateWritten(_Item):
    """Log only: the user or the runtime changed working state, and the change was accepted."""

    type: Literal["working_state_update"] = "working_state_update"
    """Which entry it is."""
    origin: WriteOrigin
    """Who wrote."""
    update: StateUpdate
    """What was written."""


class UsageRecorded(_Item):
    """Log only: what a response reported, in tokens."""

    type: Literal["usage"] = "usage"
    """Which entry it is."""
    request: Count
    """The request that was answered."""
    tokens: Count
    """Input tokens that the provider reported for it."""


class CompactionRecorded(_Item):
    """Log only: how a compaction ended."""

    type: Literal["compaction"] = "compaction"
    """Which entry it is."""
    outcome: Literal["completed", "nothing_to_gain", "failed", "escalated"]
    """How it ended."""
    checkpoint_id: Id | None = None
    """The checkpoint written; null where none was."""


class SessionClosed(_Item):
    """Log only: the session boundary, at which facts are offered to formation."""

    type: Literal["session_closed"] = "session_closed"
    """Which entry it is."""


class UndeclaredItem(_Item):
    """A log entry of a type that nothing declares. An engine must refuse to place it."""

    type: Annotated[str, Field(min_length=1)]
    """A type that nothing declares."""
    text: str = ""
    """Anything."""

    @field_validator("type")
    @classmethod
    def _must_be_undeclared(cls, name: str) -> str:
        if declaration(name) is not None:
            raise ValueError(f"{name!r} is a declared type and has a shape of its own")
        return name


DeclaredLogItem = Annotated[
    UserMessage
    | AssistantMessage
    | ToolCall
    | ToolResult
    | WorkingStateWritten
    | UsageRecorded
    | CompactionRecorded
    | SessionClosed,
    Field(discriminator="type"),
]
LogItem = Annotated[DeclaredLogItem | UndeclaredItem, Field(union_mode="left_to_right")]
"""An entry of the append-only log."""

Message = UserMessage | AssistantMessage | ToolCall | ToolResult
PrefixItem = PlatformPolicy | AgentInstructions | ToolDefinition | MemoryItem
RenderedItem = PrefixItem | Message | MemoryCorrection | RecallItem | EnvironmentItem


def content(item: RenderedItem) -> str:
    """What an item holds, before escaping and envelope.

    Texts are their own content. A tool definition is the RFC 8785 JSON of its name, description and
    parameters. A call is the RFC 8785 JSON of its name and, as one string, its original arguments.
    """
    match item:
        case ToolDefinition():
            return tool_content(item.name, item.description, item.parameters_json)
        case ToolCall():
            return canonical_json({"name": item.name, "arguments": item.arguments}).decode()
        case _:
            return item.text


def tool_content(name: str, description: str, parameters_json: str) -> str:
    """RFC 8785 JSON of a tool's name, description and parameters."""
    parameters = parse_json_object(parameters_json)
    return canonical_json({"name": name, "description": description, "parameters": parameters}).decode()


def source(item: RenderedItem) -> str:
    """Where an item comes from, as its envelope must say it (before any escaping)."""
    match item:
        case ToolDefinition() | RecallItem() | ToolResult():
            return item.source
        case MemoryItem():
            return f"memory:{item.id}"
        case MemoryCorrection():
            return f"memory:{item.memory_id}"
        case _:
            return _SOURCES[item.type]


_SOURCES = {
    "platform_policy": "platform",
    "agent_instructions": "operator",
    "environment": "runtime",
    "user_message": "user",
    "assistant_message": "assistant",
    "tool_call": "assistant",
}


def own_trust(item: RenderedItem) -> Trust:
    """The trust of an item by itself: its label, but never more than its type can have.

    A result or recall item without a label is untrusted; other items without one have their type's.
    Denied and interrupted results are the runtime's own words.
    """
    declared = declaration(item.type)
    assert declared is not None, item.type
    if isinstance(item, ToolResult) and not item.can_truncate:
        return Trust.INTERNAL
    label = getattr(item, "trust", None)
    if label is None:
        return Trust.EXTERNAL_UNTRUSTED if isinstance(item, ToolResult | RecallItem) else declared.trust
    return lowest(label, declared.trust)
