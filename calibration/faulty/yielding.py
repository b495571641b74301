"""Faults in what yields, in which order, and when nothing can be sent (decision 8)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from contextproof.calibration.faulty import Altered, Faulty
from contextproof.conformance.contract.answers import BudgetExhausted, BuildAnswer, CompactionNeeded
from contextproof.conformance.contract.caps import CAPS
from contextproof.conformance.contract.items import RecallItem, ToolResult
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Yielded, YieldStep
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import TokenClass

_KEPT_RESULTS = 5
_LARGE_WINDOW = 200_000


class YieldsAtNineTenthsOfTheLimit(Altered):
    """Gives up recall and results while a tenth of the limit is empty.

    Seen in anthropics/claude-code#34254.
    """

    breaks = "CTX-08.1"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """Pressure is judged by a tenth less; whether a request may be sent is not."""
        original = module.relieve

        def relieve(draft: Any) -> Any:
            model = draft.plan.opening.model
            tight = model.model_copy(update={"window": model.window - draft.limit // 10})
            opening = draft.plan.opening.model_copy(update={"model": tight})
            plan = draft.plan.model_copy(update={"opening": opening})
            relieved = original(replace(draft, plan=plan))
            return replace(relieved, plan=draft.plan)

        module.relieve = relieve


class OnlyTheLatestResultsKept(Altered):
    """Keeps the latest five results whole and points at all earlier ones, however much room there is.

    Seen in tetsuo-ai/agenc-core#2156.
    """

    breaks = "CTX-08.1"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """All but so many of the older results yield before anything is measured."""
        original = module.relieve

        def relieve(draft: Any) -> Any:
            older = [e for e in draft.selection.older_results() if module._is_worth_truncating(draft, e)]
            early = [e for e in older[:-_KEPT_RESULTS] if module._is_whole(draft, e)]
            return original(module.with_pointers(draft, early, "pressure"))

        module.relieve = relieve


class OversizeItemEndsTheRecall(Altered):
    """Stops at the first recalled item that alone exceeds the cap, and loses all those behind it.

    One message too large that took others with it is in langchain-ai/deepagents#4682.
    """

    breaks = "CTX-08.1"
    module = "standing"

    @staticmethod
    def alter(module: Any) -> None:
        """The ranking is cut before the first such item."""
        original = module.recall_within_cap

        def recall_within_cap(plan: Plan, recall: Iterable[RecallItem]) -> Any:
            tokenizer, items = plan.opening.model.tokenizer, tuple(recall)
            over = [n for n, i in enumerate(items) if count(tokenizer, i.text) > CAPS[TokenClass.RECALL]]
            return original(plan, items[: over[0] if over else None])

        module.recall_within_cap = recall_within_cap


class ResultsYieldBeforeRecall(Altered):
    """Points at older results first, and gives up recall only where that was not enough.

    The record has what is cheapest to get back go first.
    """

    breaks = "CTX-08.2"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """The two steps under pressure, the other way round."""

        def relieve(draft: Any) -> Any:
            draft = module._results_within_cap(draft)
            draft = draft if draft.fits else module._older_results_truncated(draft)
            while draft.recall and not draft.fits:
                draft = module.without_last_recall(draft)
            return draft

        module.relieve = relieve


class ResultsOfTheCurrentTurnNeverYield(Altered):
    """Asks for compaction while pages read earlier in this very turn stand whole.

    Cuts at messages of the user's and the assistant's alone are in earendil-works/pi#6879.
    """

    breaks = "CTX-08.2"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """Under pressure, a result of the current turn is not worth it."""
        original = module._is_worth_truncating

        def is_worth_truncating(draft: Any, entry: Any) -> bool:
            in_turn = module.class_of(draft, entry) is TokenClass.ACTIVE
            return original(draft, entry) and not in_turn

        module._is_worth_truncating = is_worth_truncating


class TrustedResultsNeverYield(Altered):
    """Spares results that a label calls internal, and asks for compaction instead.

    The record knows older results and active ones, and no others.
    """

    breaks = "CTX-08.2"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """Only what is untrusted is worth truncating."""
        original = module._is_worth_truncating
        module._is_worth_truncating = lambda draft, entry: (
            original(draft, entry) and entry.trust == "external_untrusted"
        )


class PointerSizeInCharacters(Altered):
    """Tells a pointer's size in characters: right for English, and wrong for all else.

    Offsets that no UTF-8 has are in anthropics/claude-code#69927.
    """

    breaks = "CTX-08.4"
    module = "rendering"

    @staticmethod
    def alter(module: Any) -> None:
        """The size of a truncated result is the length of its text."""
        original = module.ElidedSpan

        def truncation_block(secret: str, item: ToolResult, trust: Any, slot: Any) -> Any:
            module.ElidedSpan = lambda **given: original(**{**given, "size": len(item.text)})
            made = usual(secret, item, trust, slot)
            module.ElidedSpan = original
            return made

        usual = module.truncation_block
        module.truncation_block = truncation_block


class TruncatedErrorToldAsSuccess(Altered):
    """Marks whatever it truncates as ok: what failed reads as if it had been done.

    Seen in openai/openai-agents-js#1104.
    """

    breaks = "CTX-08.4"
    module = "rendering"

    @staticmethod
    def alter(module: Any) -> None:
        """A pointer's status is ok."""
        original = module.truncation_block
        module.truncation_block = lambda *given: original(*given).model_copy(update={"status": "ok"})


class OversizeMessageAsksForCompaction(Faulty):
    """Asks for compaction where what can never be made smaller is too large.

    Seen in MoonshotAI/kimi-code#2498.
    """

    breaks = "CTX-08.5"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, BudgetExhausted) or answer.available != plan.opening.model.limit:
            return answer
        roomy = plan.opening.model.model_copy(update={"window": 16_000_000})
        opening = plan.opening.model_copy(update={"model": roomy})
        made = super().build(context, plan.model_copy(update={"opening": opening}), inputs)
        return CompactionNeeded(estimate=made.request.estimate) if made.answer == "built" else answer


class ExhaustionBlamedOnTheMessage(Faulty):
    """Names the user's message whatever it is that does not fit.

    A refusal that tells nothing of its cause is in run-llama/llama_index#9371.
    """

    breaks = "CTX-08.5"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, BudgetExhausted):
            return answer
        return answer.model_copy(update={"token_class": TokenClass.CURRENT_USER_MESSAGE})


class LargeWindowPointsAtEarlierResults(Altered):
    """Where the window is very large, points at all older results, since "there are so many".

    What comes with a larger window and takes away is in earendil-works/pi#5848.
    """

    breaks = "CTX-08.6"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """Above a window of so many tokens everything older yields."""
        original = module.relieve

        def relieve(draft: Any) -> Any:
            draft = original(draft)
            if draft.plan.opening.model.window < _LARGE_WINDOW:
                return draft
            older = [e for e in draft.selection.older_results() if module._is_whole(draft, e)]
            return module.with_pointers(draft, older, "pressure")

        module.relieve = relieve


class NewestResultsYieldFirst(Altered):
    """Takes the results from the wrong end: what was just read goes first.

    An order turned round on the way is in langchain-ai/langchain#29637.
    """

    breaks = "CTX-08.7"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """Under pressure, older results are gone through backwards."""
        original = module._older_results_truncated

        def backwards(draft: Any) -> Any:
            results = tuple(draft.selection.older_results())[::-1]
            turned = SimpleNamespace(older_results=lambda: results, current=draft.selection.current)
            return replace(original(replace(draft, selection=turned)), selection=draft.selection)

        module._older_results_truncated = backwards


class AlwaysBudgetExhausted(Faulty):
    """Gives up whatever it is asked. A trivial engine that violates almost nothing."""

    breaks = "CTX-08.9"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        limit = plan.opening.model.limit
        return BudgetExhausted(token_class=TokenClass.CURRENT_USER_MESSAGE, needed=limit + 1, available=limit)


class SupersededCorrectionsCounted(Altered):
    """Counts every correction against the cap, those long superseded too, and gives up a sound session.

    Counting what is not sent is in dust-tt/dust#28817.
    """

    breaks = "CTX-08.9"
    module = "standing"

    @staticmethod
    def alter(module: Any) -> None:
        """Where the caps are judged, all corrections are latest."""
        original, latest = module.over_cap, module.latest

        def over_cap(plan: Plan, inputs: BuildInputs) -> Any:
            module.latest = tuple
            answer = original(plan, inputs)
            module.latest = latest
            return answer

        module.over_cap = over_cap


class SmallestActiveResultsYieldFirst(Altered):
    """For the cap, gives up the small results of a batch first, and so all of them.

    A batch over its cap is in langchain-ai/deepagents#3405.
    """

    breaks = "CTX-08.10"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """Active results are sorted the other way."""
        module.sorted = lambda entries, key: sorted(entries, key=key, reverse=True)


class CapOnOlderResultsToldAsPressure(Altered):
    """Says of every older result that pressure took it, though there was room, and a cap.

    A stated reason that is not the limit that was hit is in thedotmack/claude-mem#3096.
    """

    breaks = "CTX-08.10"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        """The cause told for what is older is pressure."""
        original = module._results_within_cap

        def results_within_cap(draft: Any) -> Any:
            capped = original(draft)
            active = {entry.item.id for entry in draft.selection.active_results()}
            return replace(capped, yielded=tuple(_told(gone, active) for gone in capped.yielded))

        module._results_within_cap = results_within_cap


def _told(gone: Yielded, active: set[str]) -> Yielded:
    is_older = gone.step is YieldStep.TOOL_RESULT and gone.item_id not in active
    return gone.model_copy(update={"cause": "pressure"}) if is_older else gone
