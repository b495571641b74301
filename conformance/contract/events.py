"""The six event types. Every answer of an engine carries the events it caused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.contract.request import YieldStep


class _Event(Frozen):
    session: Id
    epoch: Annotated[int, Field(ge=1)]
    turn: Count
    request: Count


class PlanCreated(_Event):
    """A session opened. ``prefix_tokens`` is exact."""

    type: Literal["context.plan.created"] = "context.plan.created"
    prefix_sha256: str
    prefix_tokens: Count


class EpochRotated(_Event):
    """The prefix was replaced. ``epoch`` is the new one."""

    type: Literal["context.epoch.rotated"] = "context.epoch.rotated"
    cause: Literal["routing", "forced_revocation"]
    from_epoch: Annotated[int, Field(ge=1)]
    to_epoch: Annotated[int, Field(ge=1)]
    from_sha256: str
    to_sha256: str


class YieldApplied(_Event):
    """Items gave way in one step of a build, for one cause."""

    type: Literal["context.yield.applied"] = "context.yield.applied"
    step: YieldStep
    cause: Literal["pressure", "cap"]
    item_ids: Annotated[tuple[Id, ...], Field(min_length=1)]


class CompactionCompleted(_Event):
    """A checkpoint was written."""

    type: Literal["context.compaction.completed"] = "context.compaction.completed"
    checkpoint_id: Id
    depth: Count
    covers: Count
    elided_bytes: Count


class CompactionEscalated(_Event):
    """A run must go on in a child run: a deeper summary could not be verified."""

    type: Literal["context.compaction.escalated"] = "context.compaction.escalated"
    depth: Count


class UsageReconciled(_Event):
    """An estimate was compared with what the response reported, in tokens."""

    type: Literal["context.usage.reconciled"] = "context.usage.reconciled"
    model: Id
    estimated: Count
    reported: Count


Event = Annotated[
    PlanCreated | EpochRotated | YieldApplied | CompactionCompleted | CompactionEscalated | UsageReconciled,
    Field(discriminator="type"),
]
