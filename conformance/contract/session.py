"""What a session is opened with, what is live, and what can change outside the engine."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.contract.items import (
    AgentInstructions,
    MemoryItem,
    PlatformPolicy,
    ToolDefinition,
)
from contextproof.conformance.contract.tokenizers import TokenizerName


class ModelSpec(Frozen):
    """The model a session is routed to.

    A cache keys on all four of provider, endpoint, name and reasoning mode, so a change of any is a
    change of routing. ``window``, ``output_reserve`` and ``overhead_per_block`` are tokens.
    """

    name: Id
    provider: str = "example"
    endpoint: str = "default"
    reasoning_mode: str = "off"
    tokenizer: TokenizerName
    window: Count
    output_reserve: Count
    overhead_per_block: Count = 0

    @property
    def limit(self) -> int:
        """Tokens a request may fill: window − output reserve (negative where the reserve is larger)."""
        return self.window - self.output_reserve


class CallContext(Frozen):
    """Passed with every call: where in a session it is made, and the model in force.

    ``epoch`` and ``request`` count from 1, ``turn`` from 0 (before the first user message).
    """

    session: Id
    epoch: Annotated[int, Field(ge=1)]
    turn: Count
    request: Count
    model: ModelSpec


class Opening(Frozen):
    """All a session is opened with. ``tools`` are as registered, ``permissions`` name those permitted.

    ``platform_secret`` is what envelope nonces are keyed with.
    """

    platform_secret: Annotated[str, Field(min_length=16)]
    model: ModelSpec
    policy: Annotated[tuple[PlatformPolicy, ...], Field(min_length=1)]
    instructions: tuple[AgentInstructions, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    permissions: tuple[str, ...] = ()
    memory: tuple[MemoryItem, ...] = ()


class Live(Frozen):
    """What is so right now, and must not matter to the prefix.

    Attributes:
        clock: ISO 8601 time with offset.
        permissions: names of the tools permitted now.
        tools: the tools registered now, in the order their sources registered them.
        memory: the memory as it stands now.
        ids: fresh ids in order, for what an engine must name (a checkpoint, a denied result).
        attempt: 1, or more when the same request is built again after a failed send.
    """

    clock: str
    permissions: tuple[str, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    memory: tuple[MemoryItem, ...] = ()
    ids: Annotated[tuple[Id, ...], Field(min_length=1)]
    attempt: Annotated[int, Field(ge=1)] = 1


class PermissionsChanged(Frozen):
    """Soft grants and revocations: they take effect at call time, never in the prefix."""

    kind: Literal["permissions"] = "permissions"
    permissions: tuple[str, ...]


class ToolsRegistered(Frozen):
    """A tool source connected, reconnected or went away."""

    kind: Literal["tools"] = "tools"
    tools: tuple[ToolDefinition, ...]


class MemoryChanged(Frozen):
    """Memory was written or corrected."""

    kind: Literal["memory"] = "memory"
    memory: tuple[MemoryItem, ...]


class ClockAdvanced(Frozen):
    """Time went on."""

    kind: Literal["clock"] = "clock"
    clock: str


class RoutingChanged(Frozen):
    """The session is routed to another model, provider, endpoint or reasoning mode. Rotates."""

    kind: Literal["routing"] = "routing"
    model: ModelSpec


class ForcedRevocation(Frozen):
    """The operator withdraws a tool at once. Rotates where the tool is in the prefix."""

    kind: Literal["forced_revocation"] = "forced_revocation"
    tool: str


Change = Annotated[
    PermissionsChanged | ToolsRegistered | MemoryChanged | ClockAdvanced | RoutingChanged | ForcedRevocation,
    Field(discriminator="kind"),
]
"""Something that changed outside the engine; `apply` is told of every one."""
