"""The six event types. Every answer of an engine carries the events it caused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.contract.request import YieldStep


class _Event(Frozen):
    session: Id
    """As the context has it."""
    epoch: Annotated[int, Field(ge=1)]
    """The epoch in force after what happened."""
    turn: Count
    """As the context has it."""
    request: Count
    """As the context has it."""


class PlanCreated(_Event):
    """A session opened. ``prefix_tokens`` is exact."""

    type: Literal["context.plan.created"] = "context.plan.created"
    """Which event it is."""
    prefix_sha256: str
    """The new plan's hash."""
    prefix_tokens: Count
    """The new plan's exact tokens."""


class EpochRotated(_Event):
    """The prefix was replaced. ``epoch`` is the new one."""

    type: Literal["context.epoch.rotated"] = "context.epoch.rotated"
    """Which event it is."""
    cause: Literal["routing", "forced_revocation"]
    """What made it necessary."""
    from_epoch: Annotated[int, Field(ge=1)]
    """The epoch that ended."""
    to_epoch: Annotated[int, Field(ge=1)]
    """The epoch that began: one more."""
    from_sha256: str
    """The hash before."""
    to_sha256: str
    """The hash after; the same where the text is."""


class YieldApplied(_Event):
    """Items gave way in one step of a build, for one cause."""

    type: Literal["context.yield.applied"] = "context.yield.applied"
    """Which event it is."""
    step: YieldStep
    """The step."""
    cause: Literal["pressure", "cap"]
    """Why it was taken."""
    item_ids: Annotated[tuple[Id, ...], Field(min_length=1)]
    """What gave way."""


class CompactionCompleted(_Event):
    """A checkpoint was written."""

    type: Literal["context.compaction.completed"] = "context.compaction.completed"
    """Which event it is."""
    checkpoint_id: Id
    """The checkpoint."""
    depth: Count
    """Its depth."""
    covers: Count
    """What it covers."""
    elided_bytes: Count
    """Bytes of content newly elided."""


class CompactionEscalated(_Event):
    """A run must go on in a child run: a deeper summary could not be verified."""

    type: Literal["context.compaction.escalated"] = "context.compaction.escalated"
    """Which event it is."""
    depth: Count
    """The depth that was not allowed."""


class UsageReconciled(_Event):
    """An estimate was compared with what the response reported, in tokens."""

    type: Literal["context.usage.reconciled"] = "context.usage.reconciled"
    """Which event it is."""
    model: Id
    """The model's name."""
    estimated: Count
    """Tokens that were estimated."""
    reported: Count
    """Tokens that the response reported."""


Event = Annotated[
    PlanCreated | EpochRotated | YieldApplied | CompactionCompleted | CompactionEscalated | UsageReconciled,
    Field(discriminator="type"),
]
