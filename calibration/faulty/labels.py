"""Faults in labels and voices, which never claim too much (decision 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextproof.calibration.edits import replace_span
from contextproof.calibration.faulty import Altered, Faulty, each
from contextproof.conformance.contract.answers import BuildAnswer
from contextproof.conformance.contract.items import (
    MemoryCorrection,
    Message,
    RecallItem,
    ResultStatus,
    ToolResult,
    own_trust,
)
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import (
    ASSISTANT_MESSAGE,
    CHECKPOINT,
    ENVIRONMENT,
    MEMORY_CORRECTION,
    TOOL_RESULT,
    Region,
    Role,
    Slot,
    Trust,
    lowest,
)


class EditedBlocks(Faulty):
    """Every block of region B goes through `block`."""

    def block(self, block: Block, plan: Plan) -> Block:
        """The block as it is sent."""
        raise NotImplementedError

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def edit(block: Block) -> Block:
            return block if block.region is Region.A else self.block(block, plan)

        return self.edited(context, inputs, super().build(context, plan, inputs), each(edit))


# --- Labels (13.7) ------------------------------------------------------------------------------------


def labelled(block: Block, trust: Trust) -> Block:
    """The block with another label, which its opening and its pointer show too."""
    if block.envelope is None or trust is block.label:
        return block
    shown = replace_span(block, block.envelope.trust, trust.value)
    changes: dict[str, object] = {"label": trust}
    if shown.pointer is not None:
        changes["pointer"] = shown.pointer.model_copy(update={"trust": trust})
    return shown.model_copy(update=changes)


class Relabelled(Faulty):
    """Every item of the body that is rendered gets the label that `label` gives it."""

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        """The label of an item; ``known`` are all items of the body by id."""
        raise NotImplementedError

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        messages = (item for item in inputs.log if isinstance(item, Message))
        known = {item.id: item for item in (*messages, *inputs.corrections, *inputs.recall)}

        def relabel(block: Block) -> Block:
            item = known.get(block.item_id or "")
            if item is None or item.type != block.type:
                return block
            return labelled(block, self.label(item, block, known))

        return self.edited(context, inputs, super().build(context, plan, inputs), each(relabel))


class TrustRegainedAfterTwoSteps(Relabelled):
    """Looks at what an item derives from, and not at what that derives from. Seen in bug-ops/zeph#5916."""

    breaks = "CTX-13.7"

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        origins = [known[name] for name in getattr(item, "derived_from", ()) if name in known]
        return lowest(own_trust(item), *map(own_trust, origins))


class OnlyTheLastOriginCounts(Relabelled):
    """Of several origins looks at the one named last. Seen in bug-ops/zeph#5916: a tag that was lost."""

    breaks = "CTX-13.7"

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        last = known.get(item.derived_from[-1]) if item.derived_from else None
        return block.label if last is None else lowest(own_trust(item), own_trust(last))


class TaintForgottenWithTheTurn(Relabelled):
    """Labels what the model said by its type once the turn is over. Seen in bug-ops/zeph#5916."""

    breaks = "CTX-13.7"

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        is_over = block.slot is Slot.HISTORY and block.type == ASSISTANT_MESSAGE
        return own_trust(item) if is_over else block.label


class LabelLookedUpByCallId(Relabelled):
    """Labels a result as the first of its call id, and ids recur. Seen in QwenLM/qwen-code#5099."""

    breaks = "CTX-13.7"

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        if not isinstance(item, ToolResult):
            return block.label
        results = (other for other in known.values() if isinstance(other, ToolResult))
        return own_trust(next(other for other in results if other.call_id == item.call_id))


class ResultsTrustedUnlessFromTheWeb(Relabelled):
    """Keeps a list of untrusted sources and trusts the rest. Seen in NousResearch/hermes-agent#98587."""

    breaks = "CTX-13.7"

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        is_listed = not isinstance(item, ToolResult) or item.trust is not None or item.source == "web"
        return block.label if is_listed or item.derived_from else Trust.INTERNAL


class ErrorsTakenForTheRuntimesWords(Relabelled):
    """Believes the text of an error, which a tool wrote. Seen in NousResearch/hermes-agent#88376."""

    breaks = "CTX-13.7"

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        is_error = isinstance(item, ToolResult) and item.status is ResultStatus.ERROR
        return Trust.INTERNAL if is_error else block.label


class RecallTakenForMemory(Relabelled):
    """Labels what was recalled like memory. Seen in mnemosyne-oss/mnemosyne#109."""

    breaks = "CTX-13.7"

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        return Trust.INTERNAL if isinstance(item, RecallItem) else block.label


class RecallBelievedAboutItself(Relabelled):
    """Labels what was recalled as highly as its store says. Seen in pinpox/opencrow#61."""

    breaks = "CTX-13.7"

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        if not isinstance(item, RecallItem) or block.label is not Trust.INTERNAL:
            return block.label
        return lowest(Trust.USER, item.trust or Trust.INTERNAL)


class CorrectionsTakenForTheUsers(Relabelled):
    """Labels a correction of memory internal wherever it comes from. Seen in moorcheh-ai/memanto#1873."""

    breaks = "CTX-13.7"

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        return Trust.INTERNAL if isinstance(item, MemoryCorrection) else block.label


class UserLoweredByWhatCameBefore(Relabelled):
    """Mistrusts the user once a page was read, and so mutes them. The record's "never above"."""

    breaks = "CTX-13.7"

    def label(self, item: Any, block: Block, known: Mapping[str, Any]) -> Trust:
        if item.type != "user_message":
            return block.label
        earlier = list(known.values())[: list(known).index(item.id)]
        return lowest(block.label, *map(own_trust, earlier))


class PointersLabelledAsTheEnginesOwn(EditedBlocks):
    """Labels a truncation pointer internal, since the engine wrote it. The record's "typed pointer"."""

    breaks = "CTX-13.7"

    def block(self, block: Block, plan: Plan) -> Block:
        if block.pointer is None or block.type != TOOL_RESULT:
            return block
        return labelled(block, Trust.INTERNAL)


class StateTrustedLikeItsWriter(Altered):
    """Labels working state internal, whatever its entries rest on.

    Seen in buildingjoshbetter/TrueMemory#421: what was extracted from a transcript is believed.
    """

    breaks = "CTX-13.7"
    module = "standing"

    @staticmethod
    def alter(module: Any) -> None:
        by_trust = module.state_blocks
        module.state_blocks = lambda secret, state, _: by_trust(secret, state, _Believed())


class _Believed(dict[str, Trust]):
    """Trusts whatever is named."""

    def get(self, name: str, default: Any = None) -> Any:
        return Trust.INTERNAL


# --- Voices (13.8) ------------------------------------------------------------------------------------


class SummaryInASystemRole(EditedBlocks):
    """Sends the summary as a system message. Seen in bug-ops/zeph#5916."""

    breaks = "CTX-13.8"

    def block(self, block: Block, plan: Plan) -> Block:
        is_summary = block.type == CHECKPOINT and block.pointer is None
        return block.model_copy(update={"role": Role.SYSTEM}) if is_summary else block


class SummaryAtPlatformTrust(EditedBlocks):
    """Labels the summary as the platform's own words. Seen in elie222/inbox-zero#3250."""

    breaks = "CTX-13.8"

    def block(self, block: Block, plan: Plan) -> Block:
        is_summary = block.type == CHECKPOINT and block.pointer is None
        return labelled(block, Trust.PLATFORM) if is_summary else block


class RemindersInADeveloperRole(EditedBlocks):
    """Tells what the runtime tells in a developer's voice. Seen in anthropics/claude-code#75758."""

    breaks = "CTX-13.8"

    def block(self, block: Block, plan: Plan) -> Block:
        return block.model_copy(update={"role": Role.DEVELOPER}) if block.type == ENVIRONMENT else block


class CorrectionsJoinTheSystemPrompt(EditedBlocks):
    """Sends corrections of memory as system messages. Seen in NousResearch/hermes-agent#36063."""

    breaks = "CTX-13.8"

    def block(self, block: Block, plan: Plan) -> Block:
        return block.model_copy(update={"role": Role.SYSTEM}) if block.type == MEMORY_CORRECTION else block
