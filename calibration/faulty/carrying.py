"""Faults in what of working state crosses a turn boundary (decision 14)."""

from __future__ import annotations

from typing import Any

from contextproof.calibration.faulty import Altered
from contextproof.conformance.contract.working_state import TaskStatus, WorkingState


class AcrossTurns(Altered):
    """Something else crosses a turn boundary: `left` says what of the state before."""

    module = "working_state"

    @staticmethod
    def left(before: WorkingState, after: WorkingState) -> WorkingState:
        """What crosses, given the state before and what should cross."""
        raise NotImplementedError

    @classmethod
    def alter(cls, module: Any) -> None:
        rightly = module._across_turns  # noqa: SLF001
        module._across_turns = lambda state: cls.left(state, rightly(state))  # noqa: SLF001


class CancelledTasksCarried(AcrossTurns):
    """Drops tasks that are done and keeps those that were cancelled. Seen in kolega-ai/kolega-code#520."""

    breaks = "CTX-14.5"

    @staticmethod
    def left(before: WorkingState, after: WorkingState) -> WorkingState:
        kept = tuple(task for task in before.tasks if task.status is not TaskStatus.DONE)
        return after.model_copy(update={"tasks": kept})


class TasksInProgressLost(AcrossTurns):
    """Carries only what was not begun. Seen in anomalyco/opencode#5934."""

    breaks = "CTX-14.5"

    @staticmethod
    def left(before: WorkingState, after: WorkingState) -> WorkingState:
        del before
        kept = tuple(task for task in after.tasks if task.status is TaskStatus.PENDING)
        return after.model_copy(update={"tasks": kept})


class ResolvedQuestionsCarried(AcrossTurns):
    """Carries questions that are answered. The record's rule for each field."""

    breaks = "CTX-14.5"

    @staticmethod
    def left(before: WorkingState, after: WorkingState) -> WorkingState:
        return after.model_copy(update={"open_questions": before.open_questions})


class LongPlansCutAtTheTurn(AcrossTurns):
    """Carries the first ten tasks of a longer plan. Seen in code-yeongyu/oh-my-openagent#1481."""

    breaks = "CTX-14.5"

    @staticmethod
    def left(before: WorkingState, after: WorkingState) -> WorkingState:
        del before
        return after.model_copy(update={"tasks": after.tasks[:10]})


class FactsFromPagesNotCarried(AcrossTurns):
    """Carries only facts that rest on nothing but the call that wrote them. The record's "facts all"."""

    breaks = "CTX-14.5"

    @staticmethod
    def left(before: WorkingState, after: WorkingState) -> WorkingState:
        del before
        kept = tuple(fact for fact in after.established_facts if not fact.derived_from[1:])
        return after.model_copy(update={"established_facts": kept})
