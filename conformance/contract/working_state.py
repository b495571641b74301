"""Working state: what a run keeps before its eyes, bounded and written only by typed updates.

Decision 14. Entries are text with a provenance; the bounds are in `caps`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Literal

from contextproof.conformance.contract.base import Frozen, Id


class Entry(Frozen):
    """One line of working state. ``derived_from`` names the items it says it rests on."""

    id: Id
    """The entry's id. Writing an entry of a known id replaces that entry."""
    text: str
    """The line."""
    derived_from: tuple[Id, ...] = ()
    """Ids of the items that it says it rests on."""


class Constraint(Entry):
    """What the user or the platform demands. Never evicted; only they may change it."""


class TaskStatus(StrEnum):
    """Where a task stands. Done and cancelled tasks do not cross a turn boundary."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    CANCELLED = "cancelled"


class Task(Entry):
    """A step of the plan."""

    status: TaskStatus = TaskStatus.PENDING
    """Where it stands."""

    @property
    def is_over(self) -> bool:
        """Whether it is done or cancelled."""
        return self.status in (TaskStatus.DONE, TaskStatus.CANCELLED)


class Fact(Entry):
    """Something established. Its provenance always includes the call that wrote it."""


class OpenQuestion(Entry):
    """Something still to be found out. Resolved questions do not cross a turn boundary."""

    resolved: bool = False
    """Whether it was answered."""


class WorkingState(Frozen):
    """The state as it stands now; each field in order of first writing."""

    constraints: tuple[Constraint, ...] = ()
    """What is demanded."""
    tasks: tuple[Task, ...] = ()
    """The plan."""
    established_facts: tuple[Fact, ...] = ()
    """What was found out."""
    open_questions: tuple[OpenQuestion, ...] = ()
    """What is not yet known."""

    def entries(self) -> Iterator[Entry]:
        """Every entry, field by field, each field in its order."""
        yield from self.constraints
        yield from self.tasks
        yield from self.established_facts
        yield from self.open_questions


class StateUpdate(Frozen):
    """A change of working state: entries to add or, where the id is known, to replace.

    It is applied whole or not at all. Constraints leave by ``remove_constraints``; an id there that
    names nothing removes nothing.
    """

    constraints: tuple[Constraint, ...] = ()
    """Constraints to add or replace."""
    tasks: tuple[Task, ...] = ()
    """Tasks to add or replace."""
    established_facts: tuple[Fact, ...] = ()
    """Facts to add or replace."""
    open_questions: tuple[OpenQuestion, ...] = ()
    """Questions to add or replace."""
    remove_constraints: tuple[Id, ...] = ()
    """Ids of constraints to remove."""


class WriteOrigin(Frozen):
    """Who writes: the model by a call (``item_id`` is that call's item), the user, or the runtime."""

    by: Literal["model", "user", "runtime"]
    """Who writes."""
    item_id: Id | None = None
    """The item of the call, where the model writes; null for others."""
