"""Faults in measuring the prefix, estimating the body, and learning from usage (decision 11)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from contextproof.calibration.faulty import Altered, Faulty
from contextproof.conformance.contract.answers import Estimated, PlanAnswer, Reconciled, Refused
from contextproof.conformance.contract.plan import Calibration, Plan
from contextproof.conformance.contract.request import Block, Estimate
from contextproof.conformance.contract.session import CallContext, Change, ForcedRevocation, Live, ModelSpec
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Region, TokenClass

_SPECIAL = re.compile(r"<\|\w+\|>")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_BYTES_PER_TOKEN = 4


class RevokedToolStillMeasured(Faulty):
    """Keeps the old measure where a revocation takes a tool out of the prefix.

    Schemas counted that nobody sends are in dust-tt/dust#28817.
    """

    breaks = "CTX-11.1"

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> PlanAnswer:
        answer = super().apply(context, plan, change, live)
        if isinstance(answer, Refused) or not isinstance(change, ForcedRevocation):
            return answer
        measured = answer.plan.model_copy(update={"prefix_tokens": plan.prefix_tokens})
        return answer.model_copy(update={"plan": measured})


class ToolSchemasUncounted(Altered):
    """Measures the prefix without the tools in it. Seen in langchain-ai/langchainjs#9982."""

    breaks = "CTX-11.1"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        """A tool definition costs nothing."""
        original = module.by_class

        def by_class(model: ModelSpec, blocks: Any) -> dict[TokenClass, int]:
            return {**original(model, blocks), TokenClass.TOOL_DEFINITIONS: 0}

        module.by_class = by_class


class MarginLostOnceCalibrated(Altered):
    """Takes a calibration for the truth, and drops the margin from the first reported usage on.

    An accurate total mixed with a low sum is in earendil-works/pi#2562.
    """

    breaks = "CTX-11.2"
    module = "estimator"

    @staticmethod
    def alter(module: Any) -> None:
        """A learned ratio is never quite one, and stands in for the margin."""
        original, learn = module.conservative, module.reconcile

        def conservative(exact: int, ratio: int) -> int:
            one: int = module.ONE
            return int(original(exact, ratio)) if ratio == one else -(-exact * ratio // one)

        def reconcile(context: CallContext, calibration: Calibration, estimated: Any, usage: int) -> Any:
            answer = learn(context, calibration, estimated, usage)
            models = tuple(
                m.model_copy(update={"values": (max(m.values[0], module.ONE + 1),)})
                for m in answer.calibration.models
            )
            return answer.model_copy(update={"calibration": Calibration(models=models)})

        module.conservative, module.reconcile = conservative, reconcile


class CheckpointWithoutMargin(Altered):
    """Takes its own summary's size for known, and adds no margin to it.

    The record puts the whole body under the margin.
    """

    breaks = "CTX-11.2"
    module = "estimator"

    @staticmethod
    def alter(module: Any) -> None:
        """The checkpoint's entry is its exact count."""
        original = module.itemized

        def itemized(exact: Mapping[TokenClass, int], prefix_tokens: int, ratio: int) -> Any:
            known = exact.get(TokenClass.CHECKPOINT, 0)
            return tuple(
                entry.model_copy(update={"tokens": known})
                if entry.token_class is TokenClass.CHECKPOINT
                else entry
                for entry in original(exact, prefix_tokens, ratio)
            )

        module.itemized = itemized


class OverheadOfABlockForgotten(Altered):
    """Counts the texts of a body, and not what its provider adds to each of them.

    What is sent and not counted is the matter of langchain-ai/langchain#34664.
    """

    breaks = "CTX-11.2"
    module = "estimator"

    @staticmethod
    def alter(module: Any) -> None:
        """A body block costs its text alone."""
        original = module.block_tokens

        def block_tokens(model: ModelSpec, block: Block) -> Any:
            overhead = model.overhead_per_block if block.region is Region.B else 0
            return original(model, block) - overhead

        module.block_tokens = block_tokens


class EveryModelSharesOneCalibration(Altered):
    """Learns one ratio, from whichever model reported last, for all of them.

    By the record each model is calibrated by what its own responses report.
    """

    breaks = "CTX-11.3"
    module = "estimator"

    @staticmethod
    def alter(module: Any) -> None:
        """Whichever model is asked for, the latest entry answers."""
        original = module.ratio_of

        def ratio_of(calibration: Calibration, model: str) -> Any:
            latest = [entry.model for entry in calibration.models[-1:]]
            return original(calibration, *(latest or [model]))

        module.ratio_of = ratio_of


class ModelsOfOneFamilyCalibratedTogether(Altered):
    """Finds a calibration by how a model's name begins: a variant inherits what its elder learned.

    By the record each model is calibrated by what its own responses report.
    """

    breaks = "CTX-11.3"
    module = "estimator"

    @staticmethod
    def alter(module: Any) -> None:
        """A model without an entry of its own has that of a shorter name."""
        original = module.ratio_of

        def ratio_of(calibration: Calibration, model: str) -> Any:
            family = [entry.model for entry in calibration.models if model.startswith(entry.model)]
            return original(calibration, max(family, key=len, default=model))

        module.ratio_of = ratio_of


class OverrunReportedAndForgotten(Faulty):
    """Tells of every usage, and learns from none.

    The record has the estimate follow what is reported.
    """

    breaks = "CTX-11.4"

    def reconcile(
        self, context: CallContext, calibration: Calibration, estimate: Estimate, usage: int
    ) -> Reconciled:
        answer = super().reconcile(context, calibration, estimate, usage)
        return answer.model_copy(update={"calibration": calibration})


class OverrunLearnedByHalves(Altered):
    """Goes half of the way from the old ratio to the one that was needed, to "smooth" what is a limit.

    The record asks that the same overrun not happen again.
    """

    breaks = "CTX-11.4"
    module = "estimator"

    @staticmethod
    def alter(module: Any) -> None:
        """The needed ratio is averaged with the old one where it is the higher."""
        original = module._needed_ratio

        def needed_ratio(estimated: Estimate, ratio: int, usage: int) -> Any:
            needed = original(estimated, ratio, usage)
            return (needed + ratio) // 2 if needed > ratio else needed

        module._needed_ratio = needed_ratio


class OverrunBeyondAHalfTakenForAnOutlier(Altered):
    """Learns from small overruns, and cuts off at half as much again whatever a provider reports.

    The record has the estimate follow what is reported, however far off it was.
    """

    breaks = "CTX-11.4"
    module = "estimator"

    @staticmethod
    def alter(module: Any) -> None:
        """No ratio is above one and a half."""
        original = module._needed_ratio
        most = module.ONE * 3 // 2
        module._needed_ratio = lambda estimated, ratio, usage: min(most, original(estimated, ratio, usage))


class MarginOfAThird(Altered):
    """Estimates a third more than it counts. Inflated numbers are in Kilo-Org/kilocode#13340."""

    breaks = "CTX-11.5"
    module = "estimator"

    @staticmethod
    def alter(module: Any) -> None:
        """The margin is a third and a little."""
        module.MARGIN_NUMERATOR, module.MARGIN_DENOMINATOR = 135, 100


class SpecialTokensEstimatedAsOneEach(Faulty):
    """Estimates ``<|endoftext|>`` as the one token that it would be if it were sent as such.

    Texts that look like special tokens are in RooCodeInc/Roo-Code#7539; what they cost is more.
    """

    breaks = "CTX-11.6"

    def estimate(
        self, context: CallContext, calibration: Calibration, blocks: tuple[Block, ...]
    ) -> Estimated:
        return super().estimate(context, calibration, tuple(_replaced(b, _SPECIAL, "x") for b in blocks))


class ControlCharactersStrippedBeforeCounting(Faulty):
    """Estimates a text as a terminal would show it, and sends it as it is.

    Output full of such characters is in nanocoai/nanoclaw#889.
    """

    breaks = "CTX-11.6"

    def estimate(
        self, context: CallContext, calibration: Calibration, blocks: tuple[Block, ...]
    ) -> Estimated:
        control = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]+")
        return super().estimate(context, calibration, tuple(_replaced(b, control, "") for b in blocks))


def _replaced(block: Block, what: re.Pattern[str], by: str) -> Block:
    return block.model_copy(update={"text": what.sub(by, block.text)})


class AnythingButAsciiByAQuarterOfItsBytes(Altered):
    """Counts English exactly, and Chinese, Japanese, Korean and emoji as a quarter of their bytes.

    Seen in openclaw/openclaw#70052.
    """

    breaks = "CTX-11.2"
    module = "estimator"

    @staticmethod
    def alter(module: Any) -> None:
        """A body block's text is counted in two parts."""
        original = module.block_tokens

        def block_tokens(model: ModelSpec, block: Block) -> Any:
            if block.region is Region.A or block.text.isascii():
                return original(model, block)
            others = sum(len(run.encode()) for run in _NOT_ASCII.findall(block.text))
            plain = count(model.tokenizer, _NOT_ASCII.sub("", block.text))
            return plain + others // _BYTES_PER_TOKEN + model.overhead_per_block

        module.block_tokens = block_tokens


class BodyEstimatedTwiceOver(Altered):
    """Adds the margin of a worst case to everything, and uses less than half of the window.

    Estimates of several times what was sent are in markusylisiurunen/tau#452.
    """

    breaks = "CTX-11.7"
    module = "estimator"

    @staticmethod
    def alter(module: Any) -> None:
        """The margin is more than as much again."""
        module.MARGIN_NUMERATOR, module.MARGIN_DENOMINATOR = 210, 100


class UsageToldOnlyWhenItExceeded(Faulty):
    """Tells of a usage where it was above the estimate, and of no other.

    The record wants drift seen while it is still small.
    """

    breaks = "CTX-11.8"

    def reconcile(
        self, context: CallContext, calibration: Calibration, estimate: Estimate, usage: int
    ) -> Reconciled:
        answer = super().reconcile(context, calibration, estimate, usage)
        return answer if usage > estimate.total else answer.model_copy(update={"events": ()})


class UsageToldOfTheBodyAlone(Faulty):
    """Tells the estimate without the prefix beside a usage that has it, as if it had drifted by that.

    Two figures that do not count the same are in Kilo-Org/kilocode#13340.
    """

    breaks = "CTX-11.8"

    def reconcile(
        self, context: CallContext, calibration: Calibration, estimate: Estimate, usage: int
    ) -> Reconciled:
        answer = super().reconcile(context, calibration, estimate, usage)
        body = estimate.total - estimate.prefix_tokens
        return answer.model_copy(
            update={"events": tuple(e.model_copy(update={"estimated": body}) for e in answer.events)}
        )
