"""Faults in the reuse of the body (decision 16)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)
from __future__ import annotations

from typing import Any, Final

from contextproof.calibration.edits import replace_span, with_blocks
from contextproof.calibration.faulty import Altered, Faulty, each
from contextproof.conformance.contract.answers import BuildAnswer, Built
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block, Extent, PointerKind
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import Place, Slot
from contextproof.reference_impl.engine import ReferenceEngine

#: From so many tokens on a window counts as roomy.
_ROOMY: Final = 200_000


def _with_early(*early: Place) -> tuple[Place, ...]:
    """The reference's order, with some places moved before the checkpoint."""
    rest = tuple(place for place in ReferenceEngine.manifest.order if place not in early)
    at = rest.index(Place.CHECKPOINT)
    return (*rest[:at], *early, *rest[at:])


class OtherOrder(Faulty):
    """Declares another order, and keeps to it."""

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, Built):
            return answer
        places = {place: n for n, place in enumerate(self.manifest.order)}
        return with_blocks(answer, sorted(answer.request.blocks, key=lambda b: places[b.place]))


class VolatileClassesBeforeHistory(OtherOrder):
    """Puts what varies before what does not. Seen in anomalyco/opencode#23595. It warns only."""

    breaks = "CTX-16.4"
    manifest = ReferenceEngine.manifest.model_copy(
        update={
            "order": _with_early(
                Place.MEMORY_CORRECTION, Place.WORKING_STATE, Place.RECALL, Place.ENVIRONMENT
            )
        }
    )


class CorrectionsBesideTheSnapshot(OtherOrder):
    """Puts corrections next to the memory they correct. Seen in langchain-ai/deepagents#2070."""

    breaks = "CTX-16.4"
    manifest = ReferenceEngine.manifest.model_copy(update={"order": _with_early(Place.MEMORY_CORRECTION)})


class NoticesBeforeHistory(OtherOrder):
    """Puts the date and other notices first in the body. Seen in can1357/oh-my-pi#7324."""

    breaks = "CTX-16.4"
    manifest = ReferenceEngine.manifest.model_copy(update={"order": _with_early(Place.ENVIRONMENT)})


class TruncatedResultRestored(Altered):
    """Truncates anew with each request, and so restores results. Seen in QwenLM/qwen-code#8452."""

    breaks = "CTX-16.1"
    module = "draft"

    @staticmethod
    def alter(module: Any) -> None:
        module._listed = lambda _draft, _inputs, _index: []


class Respaced(Faulty):
    """Writes one space more into the opening of some messages: `is_respaced` says of which."""

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def respaced(block: Block) -> Block:
            if block.slot is None or block.envelope is None or not self.is_respaced(context, block):
                return block
            at = block.envelope.trust.end
            return replace_span(block, Extent(start=at, end=at), " ")

        return self.edited(context, inputs, super().build(context, plan, inputs), each(respaced))

    def is_respaced(self, context: CallContext, block: Block) -> bool:
        """Whether to write one more into this one."""
        raise NotImplementedError


class NewestMessagesShapedForTheCacheMarker(Respaced):
    """Gives the newest messages another shape than they have later. Seen in anomalyco/opencode#23595."""

    breaks = "CTX-13.4"

    def is_respaced(self, context: CallContext, block: Block) -> bool:
        return block.slot is Slot.ACTIVE


class HistoryShapedByTheWindow(Respaced):
    """Renders history otherwise where there is much room. The record: an item has one rendering."""

    breaks = "CTX-13.4"

    def is_respaced(self, context: CallContext, block: Block) -> bool:
        return block.slot is Slot.HISTORY and context.model.window >= _ROOMY


class PointersCountedFromTheNewest(Faulty):
    """Numbers pointers so that each new one changes all. Seen in tetsuo-ai/agenc-core#2156."""

    breaks = "CTX-16.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, Built):
            return answer
        pointers = [block.pointer for block in answer.request.blocks if block.pointer]
        cut = [pointer for pointer in pointers if pointer.kind is PointerKind.TRUNCATION]

        def numbered(block: Block) -> Block:
            if block.pointer is None or block.pointer not in cut:
                return block
            at = block.pointer.reference.end
            number = len(cut) - cut.index(block.pointer)
            return replace_span(block, Extent(start=at, end=at), f" (no. {number})")

        return self.edited(context, inputs, answer, each(numbered))


class TruncatesOnlyWhatTheMomentNeeds(Altered):
    """Stops truncating just where it fits, until the next result. Seen in QwenLM/qwen-code#8452."""

    breaks = "CTX-16.3"
    module = "yielding"

    @staticmethod
    def alter(module: Any) -> None:
        module._slack = lambda _draft: 0
