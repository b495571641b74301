"""Faults in budget, yielding and pairs (decisions 6 to 9), and in the reuse of the body."""

from __future__ import annotations

from contextproof.calibration.edits import with_blocks
from contextproof.calibration.faulty import Faulty
from contextproof.conformance.contract.answers import (
    BudgetExhausted,
    BuildAnswer,
    Built,
    CompactionNeeded,
    InvalidInput,
)
from contextproof.conformance.contract.items import LogItem
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import Place, TokenClass
from contextproof.reference_impl.engine import ReferenceEngine


class OutputReserveForgotten(Faulty):
    """Fills the window and leaves no room to answer. Seen in crewAIInc/crewAI#2659."""

    breaks = "CTX-06.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        model = plan.opening.model.model_copy(update={"output_reserve": 0})
        opening = plan.opening.model_copy(update={"model": model})
        return super().build(
            context.model_copy(update={"model": model}),
            plan.model_copy(update={"opening": opening}),
            inputs,
        )


class AlwaysBudgetExhausted(Faulty):
    """Gives up whatever it is asked. A trivial engine that violates almost nothing."""

    breaks = "CTX-08.9"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        limit = plan.opening.model.limit
        return BudgetExhausted(token_class=TokenClass.CURRENT_USER_MESSAGE, needed=limit + 1, available=limit)


class OldestTurnsDroppedUnderPressure(Faulty):
    """Forgets the oldest turns instead of asking for compaction. Seen in HKUDS/nanobot#4568."""

    breaks = "CTX-08.8"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        while isinstance(answer, CompactionNeeded):
            shorter = _without_first_turn(inputs.log)
            if len(shorter) == len(inputs.log):
                return answer
            inputs = inputs.model_copy(update={"log": shorter, "checkpoint": None})
            answer = super().build(context, plan, inputs)
        return answer


def _without_first_turn(log: tuple[LogItem, ...]) -> tuple[LogItem, ...]:
    """The log from its second user message on, or all of it where there is no second."""
    starts = [n for n, item in enumerate(log) if item.type == "user_message"]
    return log[starts[1] :] if len(starts) > 1 else log


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


_STANDING = (Place.MEMORY_CORRECTION, Place.WORKING_STATE, Place.RECALL, Place.ENVIRONMENT)
_REST = tuple(place for place in Place if place not in _STANDING)
_VOLATILE_FIRST = (
    *_REST[: _REST.index(Place.CHECKPOINT)],
    *_STANDING,
    *_REST[_REST.index(Place.CHECKPOINT) :],
)


class VolatileClassesBeforeHistory(Faulty):
    """Puts what varies before what does not. Seen in anomalyco/opencode#23595. It warns only."""

    breaks = "CTX-16.4"
    manifest = ReferenceEngine.manifest.model_copy(update={"order": _VOLATILE_FIRST})

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, Built):
            return answer
        places = {place: n for n, place in enumerate(_VOLATILE_FIRST)}
        return with_blocks(answer, sorted(answer.request.blocks, key=lambda b: places[b.place]))
