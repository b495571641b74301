"""Faults in working state (decision 14)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from contextproof.calibration.faulty import Altered, Faulty
from contextproof.conformance.contract.answers import BuildAnswer, Rejected, UpdateAnswer, Updated
from contextproof.conformance.contract.items import AssistantMessage, LogItem, ToolResult
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import WORKING_STATE
from contextproof.conformance.contract.working_state import (
    StateUpdate,
    WorkingState,
    WriteOrigin,
)

# --- Who writes (14.1) --------------------------------------------------------------------------------


class ProseWritesState(Altered):
    """Takes JSON in what a model says for an update. Seen in anthropics/claude-code#58227."""

    breaks = "CTX-14.1"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        after = module._after  # noqa: SLF001

        def _after(carried: Any, item: LogItem) -> Any:
            carried = after(carried, item)
            return _written_by(module, carried, item.text) if isinstance(item, AssistantMessage) else carried

        module._after = _after  # noqa: SLF001


class ToolTextWritesState(Altered):
    """Takes JSON in what a tool returns for an update. Seen in anomalyco/opencode#30782."""

    breaks = "CTX-14.1"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        after = module._after  # noqa: SLF001

        def _after(carried: Any, item: LogItem) -> Any:
            carried = after(carried, item)
            return _written_by(module, carried, item.text) if isinstance(item, ToolResult) else carried

        module._after = _after  # noqa: SLF001


def _written_by(module: Any, carried: Any, text: str) -> Any:
    """What was carried, with the update that stands in a text, if one does."""
    try:
        update = StateUpdate.from_json(json.dumps(json.loads(text)))
    except ValueError:
        return carried
    state = module._accepted(carried.state, update, WriteOrigin(by="runtime"))  # noqa: SLF001
    return replace(carried, state=state)


# --- Bounds (14.2, 14.3, 14.8) ------------------------------------------------------------------------


class StateTokensNotCounted(Altered):
    """Counts entries and not their tokens. The record's two bounds."""

    breaks = "CTX-14.2"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        module.STATE_CAP = 10**6


class OneTokenTooMany(Altered):
    """Accepts a state of one token more than there may be. The record's bound, off by one."""

    breaks = "CTX-14.2"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        module.STATE_CAP += 1


class LongerReplacementsNotCounted(Faulty):
    """Counts tokens of new entries alone, so that a known one may grow. The record's bound on the whole."""

    breaks = "CTX-14.2"

    def update(
        self, context: CallContext, state: WorkingState, update: StateUpdate, origin: WriteOrigin
    ) -> UpdateAnswer:
        known = {entry.id for entry in state.entries()}
        short = update.model_copy(
            update={
                name: tuple(e.model_copy(update={"text": ""}) if e.id in known else e for e in entries)
                for name, entries in update
                if name in ("tasks", "established_facts", "open_questions")
            }
        )
        answer = super().update(context, state, short, origin)
        return answer if isinstance(answer, Rejected) else _with_its_texts(answer, update)


def _with_its_texts(answer: Updated, update: StateUpdate) -> UpdateAnswer:
    """An accepted update, with the texts that it really has."""
    texts = {entry.id: entry.text for name in WorkingState.model_fields for entry in getattr(update, name)}
    changed = {
        name: tuple(e.model_copy(update={"text": texts.get(e.id, e.text)}) for e in entries)
        for name, entries in answer.state
    }
    return answer.model_copy(update={"state": WorkingState.model_validate(changed)})


class FactsOfOneUpdateNotBounded(Altered):
    """Evicts older facts alone, so that one update can bring more than there may be. The record's bound."""

    breaks = "CTX-14.2"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        bounded = module._bounded  # noqa: SLF001

        def _bounded(field: str, cap: int, before: Any, written: Any, *rest: Any) -> Any:
            most = max(cap, len(written)) if field == "established_facts" else cap
            return bounded(field, most, before, written, *rest)

        module._bounded = _bounded  # noqa: SLF001


class OneConstraintTooMany(Altered):
    """Fails at the cap only once it was passed. The record's bound, off by one."""

    breaks = "CTX-14.3"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        module.MAX_CONSTRAINTS += 1


class ConstraintPastTheCapDropped(Faulty):
    """Leaves out a constraint that is one too many, and says that all went well.

    Seen in NousResearch/hermes-agent#84718: policy pruned in silence.
    """

    breaks = "CTX-14.3"

    def update(
        self, context: CallContext, state: WorkingState, update: StateUpdate, origin: WriteOrigin
    ) -> UpdateAnswer:
        answer = super().update(context, state, update, origin)
        while isinstance(answer, Rejected) and answer.field == "constraints" and answer.cap is not None:
            update = update.model_copy(update={"constraints": update.constraints[:-1]})
            answer = super().update(context, state, update, origin)
        return answer


class ConstraintCapNotNamed(Faulty):
    """Fails at the cap on constraints, and names the cap on tokens. The record's visible failure."""

    breaks = "CTX-14.3"

    def update(
        self, context: CallContext, state: WorkingState, update: StateUpdate, origin: WriteOrigin
    ) -> UpdateAnswer:
        answer = super().update(context, state, update, origin)
        if isinstance(answer, Rejected) and answer.field == "constraints" and answer.cap is not None:
            return answer.model_copy(update={"field": "tokens", "cap": 1_000})
        return answer


class LastConstraintRefused(Altered):
    """Refuses the constraint that meets the cap exactly. The record's bound, off by one."""

    breaks = "CTX-14.8"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        module.MAX_CONSTRAINTS -= 1


class TokenCapMetExactlyRefused(Altered):
    """Refuses a state of exactly as many tokens as there may be. The record's bound, off by one."""

    breaks = "CTX-14.8"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        module.STATE_CAP -= 1


class NothingIsEverEvicted(Altered):
    """Refuses a fact past the cap where the oldest could go. The record's eviction."""

    breaks = "CTX-14.8"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        module._always = module._never  # noqa: SLF001


class ModelMayNotDemand(Faulty):
    """Lets the model add no constraint at all, which the record leaves it: only changing one is barred."""

    breaks = "CTX-14.8"

    def update(
        self, context: CallContext, state: WorkingState, update: StateUpdate, origin: WriteOrigin
    ) -> UpdateAnswer:
        if origin.by == "model" and update.constraints:
            return Rejected(field="constraints", cap=None, reason="the model makes no demands")
        return super().update(context, state, update, origin)


# --- Constraints (14.4) -------------------------------------------------------------------------------


class ModelRewordsConstraints(Altered):
    """Guards constraints against removal by the model, and not against other words.

    Seen in anomalyco/opencode#16372: a read-only agent that starts to write.
    """

    breaks = "CTX-14.4"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        def touches(state: WorkingState, change: StateUpdate) -> bool:
            return any(c.id in change.remove_constraints for c in state.constraints)

        module._touches_constraints = touches  # noqa: SLF001
        module._new_constraints = lambda _, change, __: change.constraints  # noqa: SLF001


class ModelRemovesConstraints(Altered):
    """Guards constraints against new words, not against removal. Seen in anthropics/claude-code#59309."""

    breaks = "CTX-14.4"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        touches = module._touches_constraints  # noqa: SLF001
        module._touches_constraints = lambda state, change: touches(  # noqa: SLF001
            state, change.model_copy(update={"remove_constraints": ()})
        )


# --- Updates (14.6) and rendering (14.7) --------------------------------------------------------------


class ReplacedEntriesMoveToTheEnd(Altered):
    """Writes a replaced entry behind the rest, so that a plan loses its order. The record's "replaces"."""

    breaks = "CTX-14.6"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        bounded = module._bounded  # noqa: SLF001

        def _bounded(field: str, cap: int, before: Any, written: Any, *rest: Any) -> Any:
            new = {entry.id for entry in written}
            return bounded(field, cap, [e for e in before if e.id not in new], written, *rest)

        module._bounded = _bounded  # noqa: SLF001


class FinishedTasksMoveToTheEnd(Altered):
    """Moves a task behind the rest once it is over. The record's "replaces"."""

    breaks = "CTX-14.6"
    module = "working_state"

    @staticmethod
    def alter(module: Any) -> None:
        bounded = module._bounded  # noqa: SLF001

        def _bounded(field: str, cap: int, before: Any, written: Any, *rest: Any) -> Any:
            over = {entry.id for entry in written if field == "tasks" and entry.is_over}
            return bounded(field, cap, [e for e in before if e.id not in over], written, *rest)

        module._bounded = _bounded  # noqa: SLF001


class StateLeftOutAfterCompaction(Faulty):
    """Keeps the plan in its store, and does not show it once history was compacted.

    Seen in anomalyco/opencode#5934 and anthropics/claude-code#30961.
    """

    breaks = "CTX-12.8"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if inputs.checkpoint is None:
            return answer
        return self.edited(
            context, inputs, answer, lambda blocks: (b for b in blocks if b.type != WORKING_STATE)
        )


class NewestEntriesShownFirst(Altered):
    """Shows entries in reverse, the last step of a plan first. Seen in juicesharp/rpiv-mono#222."""

    breaks = "CTX-14.7"
    module = "rendering"

    @staticmethod
    def alter(module: Any) -> None:
        block = module._state_block  # noqa: SLF001
        module._state_block = lambda secret, label, entries: block(secret, label, entries[::-1])  # noqa: SLF001
