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
    """The model's name. `Request.model` repeats it."""
    provider: str = "example"
    """Who serves it."""
    endpoint: str = "default"
    """Where it is served."""
    reasoning_mode: str = "off"
    """How it is asked to reason."""
    tokenizer: TokenizerName
    """The tokenizer by which everything of this session is counted. The reverse call `count` counts by it."""
    window: Count
    """Tokens that the model takes, answer included."""
    output_reserve: Count
    """Tokens kept free for the answer: a request has at most `window` − `output_reserve`."""
    overhead_per_block: Count = 0
    """Tokens that the provider adds for each block sent. They belong to the block's class."""

    @property
    def limit(self) -> int:
        """Tokens a request may fill: window − output reserve (negative where the reserve is larger)."""
        return self.window - self.output_reserve


class CallContext(Frozen):
    """Passed with every call: where in a session it is made, and the model in force.

    ``epoch`` and ``request`` count from 1, ``turn`` from 0 (before the first user message).
    """

    session: Id
    """The session's name. The same in all of its calls; another session may be asked about in between."""
    epoch: Annotated[int, Field(ge=1)]
    """The epoch of the plan in force; 1 until the first rotation."""
    turn: Count
    """The turn: 0 before the first user message, then one more with each."""
    request: Count
    """The request being made, or made last; grows by one with each new request, not with a retry."""
    model: ModelSpec
    """The model in force: the plan's; the opening's where a session opens. Routing that is only just
    being changed stands in the change.
    """


class Opening(Frozen):
    """All a session is opened with. ``tools`` are as registered, ``permissions`` name those permitted.

    ``platform_secret`` is what envelope nonces are keyed with.
    """

    platform_secret: Annotated[str, Field(min_length=16)]
    """What nonces are keyed with. It never appears in a request."""
    model: ModelSpec
    """The model that the session opens with."""
    policy: Annotated[tuple[PlatformPolicy, ...], Field(min_length=1)]
    """Platform policy, in order."""
    instructions: tuple[AgentInstructions, ...] = ()
    """The operator's instructions, in order."""
    tools: tuple[ToolDefinition, ...] = ()
    """All tools registered, in the order of their sources. In a plan: the pinned ones alone."""
    permissions: tuple[str, ...] = ()
    """Names of the tools permitted now. Only these are pinned."""
    memory: tuple[MemoryItem, ...] = ()
    """The memory as it stands now: the snapshot of the session."""


class Live(Frozen):
    """What is so right now, and must not matter to the prefix."""

    clock: str
    """The time now: ISO 8601 with offset."""
    permissions: tuple[str, ...] = ()
    """Names of the tools permitted now."""
    tools: tuple[ToolDefinition, ...] = ()
    """The tools registered now, in the order in which their sources registered them."""
    memory: tuple[MemoryItem, ...] = ()
    """The memory as it stands now."""
    ids: Annotated[tuple[Id, ...], Field(min_length=1)]
    """Fresh ids, in order, for what an engine must name: a checkpoint, a denied result. Take the first."""
    attempt: Annotated[int, Field(ge=1)] = 1
    """1, or more where the same request is built again after a failed send."""


class PermissionsChanged(Frozen):
    """Soft grants and revocations: they take effect at call time, never in the prefix."""

    kind: Literal["permissions"] = "permissions"
    """Which change it is."""
    permissions: tuple[str, ...]
    """Names of all tools permitted from now on."""


class ToolsRegistered(Frozen):
    """A tool source connected, reconnected or went away."""

    kind: Literal["tools"] = "tools"
    """Which change it is."""
    tools: tuple[ToolDefinition, ...]
    """All tools registered from now on, in the order of their sources."""


class MemoryChanged(Frozen):
    """Memory was written or corrected."""

    kind: Literal["memory"] = "memory"
    """Which change it is."""
    memory: tuple[MemoryItem, ...]
    """All of the memory from now on."""


class ClockAdvanced(Frozen):
    """Time went on."""

    kind: Literal["clock"] = "clock"
    """Which change it is."""
    clock: str
    """The time now: ISO 8601 with offset."""


class RoutingChanged(Frozen):
    """The session is routed to another model, provider, endpoint or reasoning mode. Rotates."""

    kind: Literal["routing"] = "routing"
    """Which change it is."""
    model: ModelSpec
    """The model from now on, if the change is not refused."""


class ForcedRevocation(Frozen):
    """The operator withdraws a tool at once. Rotates where the tool is in the prefix."""

    kind: Literal["forced_revocation"] = "forced_revocation"
    """Which change it is."""
    tool: str
    """The name of the tool that is withdrawn."""


Change = Annotated[
    PermissionsChanged | ToolsRegistered | MemoryChanged | ClockAdvanced | RoutingChanged | ForcedRevocation,
    Field(discriminator="kind"),
]
"""Something that changed outside the engine; `apply` is told of every one."""
