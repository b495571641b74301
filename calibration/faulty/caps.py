"""Faults in the caps (decision 6)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from contextproof.calibration.faulty import Altered, Faulty
from contextproof.conformance.contract.answers import BuildAnswer
from contextproof.conformance.contract.caps import CAPS
from contextproof.conformance.contract.items import RecallItem
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import TokenClass

_SMALL_WINDOW = 16_000
_RECALL_CAP = CAPS[TokenClass.RECALL]


class EachResultWithinTheCapInsteadOfAll(Altered):
    """Holds every result to the cap by itself, and never sums them. Seen in langchain-ai/deepagents#3405."""

    breaks = "CTX-06.1"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """Only results that alone exceed the cap become pointers for it."""

        def held_one_by_one(draft: Any) -> Any:
            cap = draft.plan.budget.tool_results_tokens
            results = (*draft.selection.older_results(), *draft.selection.active_results())
            over = [e for e in results if e.result_tokens > cap and e.item.id not in draft.pointed]
            return module.with_pointers(draft, over, "cap")

        module._results_within_cap = held_one_by_one


class ErrorResultsUncounted(Altered):
    """Sums what tools answered well, so that pages of failure are free.

    Of three kinds of results one alone was known in OpenHands/software-agent-sdk#432.
    """

    breaks = "CTX-06.1"
    module = "log_index"

    @staticmethod
    def alter(module: Any) -> None:
        """An error is held to be of no tokens, and still is a result."""
        original = module._Growth._entry

        def entry(growth: Any, item: Any) -> Any:
            made = original(growth, item)
            failed = getattr(item, "status", None) == "error"
            return replace(made, result_tokens=0) if failed else made

        module._Growth._entry = entry


class ResultsCapOfTheFirstModel(Altered):
    """Keeps the first model's cap on tool results when routed to a model with a smaller body.

    A share of the wrong window, as in anthropics/claude-code#34254.
    """

    breaks = "CTX-06.1"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        """A change hands the cap on: never below what the epoch before had."""
        original = module.apply

        def apply(context: CallContext, plan: Plan, change: Any) -> Any:
            answer = original(context, plan, change)
            if not isinstance(answer, module.Planned):
                return answer
            caps = (plan.budget.tool_results_tokens, answer.plan.budget.tool_results_tokens)
            budget = answer.plan.budget.model_copy(update={"tool_results_tokens": max(caps)})
            return answer.model_copy(update={"plan": answer.plan.model_copy(update={"budget": budget})})

        module.apply = apply


class RecallKeepsTheItemThatCrossesItsCap(Altered):
    """Stops after the item that fills the cap up, not before it: whole items, against the record's cap."""

    breaks = "CTX-06.1"
    module = "standing"

    @staticmethod
    def alter(module: Any) -> None:
        """The cap is asked before an item is added, not after."""

        def leading(plan: Plan, fitting: Iterable[RecallItem]) -> tuple[RecallItem, ...]:
            kept: list[RecallItem] = []
            for item in fitting:
                if _tokens(plan, kept) >= _RECALL_CAP:
                    break
                kept.append(item)
            return tuple(kept)

        module.recall_within_cap = _of_fitting(leading)


def _tokens(plan: Plan, items: Iterable[RecallItem]) -> int:
    return sum(count(plan.opening.model.tokenizer, item.text) for item in items)


def _of_fitting(
    leading: Callable[[Plan, Iterable[RecallItem]], tuple[RecallItem, ...]],
) -> Callable[[Plan, Iterable[RecallItem]], tuple[RecallItem, ...]]:
    """What is kept of the items that the cap could hold one by one."""
    return lambda plan, recall: leading(
        plan, [item for item in recall if _tokens(plan, [item]) <= _RECALL_CAP]
    )


class OutputReserveForgotten(Faulty):
    """Fills the window and leaves no room to answer. Seen in crewAIInc/crewAI#2659."""

    breaks = "CTX-06.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        return super().build(*_without_reserve(context, plan), inputs)


class OutputReserveForgottenForTheSecondModel(Faulty):
    """Takes the reserve off the first model's window, and off no other's.

    The record takes it off every window; what comes of none is in crewAIInc/crewAI#2659.
    """

    breaks = "CTX-06.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        first = plan.epoch == 1
        return super().build(*((context, plan) if first else _without_reserve(context, plan)), inputs)


def _without_reserve(context: CallContext, plan: Plan) -> tuple[CallContext, Plan]:
    model = plan.opening.model.model_copy(update={"output_reserve": 0})
    opening = plan.opening.model_copy(update={"model": model})
    return context.model_copy(update={"model": model}), plan.model_copy(update={"opening": opening})


class ToolSchemasOutsideTheLimit(Altered):
    """Fits prompt and messages into the limit, with the tools on top.

    Seen in langchain-ai/langchain#35098.
    """

    breaks = "CTX-06.2"
    module = "draft"

    @staticmethod
    def alter(module: Any) -> None:
        """Tool definitions are left out where a total is held against the limit."""
        original = module.total_of

        def total_of(plan: Plan, exact: Any, ratio: int) -> Any:
            tools = [e.tokens for e in plan.tokens if e.token_class is TokenClass.TOOL_DEFINITIONS]
            return original(plan, exact, ratio) - sum(tools)

        module.total_of = total_of


class RecallCapSharesTheWindow(Altered):
    """Gives recall a twentieth of the window, and says nothing of what that leaves out.

    A budget in per cent of a window that was not meant is in Kilo-Org/kilocode#13340.
    """

    breaks = "CTX-06.3"
    module = "standing"

    @staticmethod
    def alter(module: Any) -> None:
        """What the absolute cap holds is cut again, to a share."""
        original = module.recall_within_cap

        def recall_within_cap(plan: Plan, recall: Iterable[RecallItem]) -> tuple[RecallItem, ...]:
            kept: tuple[RecallItem, ...] = original(plan, recall)
            while _tokens(plan, kept) * 20 > plan.opening.model.window:
                kept = kept[:-1]
            return kept

        module.recall_within_cap = recall_within_cap


class CorrectionsNewestFirstInASmallWindow(Altered):
    """Where the window is small, lists the newest correction first, "to be on the safe side".

    The record lets nothing but history depend on the window.
    """

    breaks = "CTX-06.3"
    module = "standing"

    @staticmethod
    def alter(module: Any) -> None:
        """Corrections are turned round below sixteen thousand tokens."""
        original = module.render_standing

        def render_standing(plan: Plan, inputs: BuildInputs, index: Any) -> Any:
            made = original(plan, inputs, index)
            small = plan.opening.model.window < _SMALL_WINDOW
            place = module.Place.MEMORY_CORRECTION
            turned = {**made.blocks, place: made.blocks[place][:: -1 if small else 1]}
            return module.Standing(blocks=turned, trust=made.trust)

        module.render_standing = render_standing


class RecallPackedWithWhatStillFits(Altered):
    """Goes on down the ranking for items small enough to fill the cap, past better ones that are not.

    The record drops recall from the end of its ranking, whole.
    """

    breaks = "CTX-06.4"
    module = "standing"

    @staticmethod
    def alter(module: Any) -> None:
        """An item that does not fit is passed over, and does not end the ranking."""

        def packed(plan: Plan, fitting: Iterable[RecallItem]) -> tuple[RecallItem, ...]:
            kept: list[RecallItem] = []
            for item in fitting:
                if _tokens(plan, [*kept, item]) <= _RECALL_CAP:
                    kept.append(item)
            return tuple(kept)

        module.recall_within_cap = _of_fitting(packed)


class BestRecallYieldsFirst(Altered):
    """Under pressure gives up recall from the top of its ranking, and keeps what matters least.

    A queue that is emptied at its head, like the oldest turns of HKUDS/nanobot#4568.
    """

    breaks = "CTX-06.4"
    module = "draft"

    @staticmethod
    def alter(module: Any) -> None:
        """The step that drops the last item is shown the ranking upside down."""
        original = module.without_last_recall

        def without_first_recall(draft: Any) -> Any:
            turned = module.replace(draft, recall=draft.recall[::-1])
            left = original(turned)
            return module.replace(left, recall=left.recall[::-1])

        module.without_last_recall = without_first_recall
