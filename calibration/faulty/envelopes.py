"""Faults in envelopes: what they are made of, and what gets out of them (decision 13)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from contextproof.calibration.edits import replace_span
from contextproof.calibration.faulty import Altered, Faulty, each
from contextproof.calibration.faulty.labels import EditedBlocks
from contextproof.conformance.contract.answers import BuildAnswer
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block, Extent
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import (
    MEMORY_CORRECTION,
    RECALL,
    TOOL_CALL,
    TOOL_RESULT,
    USER_MESSAGE,
    Trust,
    declaration,
)
from contextproof.reference_impl.engine import ReferenceEngine
from contextproof.reference_impl.envelope import DELIMITERS, OPENING

# --- What an envelope is made of (13.1) -------------------------------------------------------------


def unwrapped(block: Block) -> Block:
    """What stands in a block's envelope, without the envelope."""
    if block.envelope is None:
        return block
    interior = block.envelope.interior
    changes: dict[str, object] = {"text": interior.of(block.text).decode(), "envelope": None}
    if block.pointer is not None:
        reference, start = block.pointer.reference, interior.start
        earlier = Extent(start=reference.start - start, end=reference.end - start)
        changes["pointer"] = block.pointer.model_copy(update={"reference": earlier})
    return block.model_copy(update=changes)


class RecallPastedBare(EditedBlocks):
    """Pastes what was recalled into the request, without an envelope. Seen in crewAIInc/crewAI#5057."""

    breaks = "CTX-13.1"

    def block(self, block: Block, plan: Plan) -> Block:
        return unwrapped(block) if block.type == RECALL else block


class TruncationPointerWithoutEnvelope(EditedBlocks):
    """Takes a pointer for its own words and sends it bare. Seen in openclaw/openclaw#26851."""

    breaks = "CTX-13.1"

    def block(self, block: Block, plan: Plan) -> Block:
        return unwrapped(block) if block.pointer is not None and block.type == TOOL_RESULT else block


class WrappedAlreadyTakenAtItsWord(EditedBlocks):
    """Sends content as it is that begins like an envelope. Seen in NousResearch/hermes-agent#56172."""

    breaks = "CTX-13.1"

    def block(self, block: Block, plan: Plan) -> Block:
        if block.type != TOOL_RESULT or block.pointer is not None:
            return block
        bare = unwrapped(block)
        original = self.manifest.codec(block.type).decode(bare.text)
        return bare.model_copy(update={"text": original}) if original.startswith(OPENING) else block


class ClosingRepeatsHalfTheNonce(EditedBlocks):
    """Closes with the first half of the nonce, which is easier to guess. The record's own form."""

    breaks = "CTX-13.1"

    def block(self, block: Block, plan: Plan) -> Block:
        if block.envelope is None:
            return block
        closing = block.envelope.closing_nonce
        return replace_span(block, closing, closing.of(block.text).decode()[:8])


class OpeningShowsTheTrustOfTheType(EditedBlocks):
    """Labels a block rightly, and writes the most that its type can have into it.

    The other way round, trust kept in text alone was seen in bug-ops/zeph#5916.
    """

    breaks = "CTX-13.1"

    def block(self, block: Block, plan: Plan) -> Block:
        declared = declaration(block.type)
        if block.envelope is None or declared is None:
            return block
        return replace_span(block, block.envelope.trust, declared.trust.value)


class LongSourcesCut(Altered):
    """Shows only the beginning of a source, so that two tools look like one. The record's own attributes."""

    breaks = "CTX-13.1"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        quote = module.quote
        module.quote = lambda text: quote(text[:12])


# --- Content that leaves its envelope (13.2) ----------------------------------------------------------


class EnvelopeNotEscaped(Faulty):
    """Puts content into its envelope as it came. Seen in NousResearch/hermes-agent#56172."""

    breaks = "CTX-13.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def unescape(block: Block) -> Block:
            if block.envelope is None or block.pointer is not None:
                return block
            interior = block.envelope.interior
            rendered = interior.of(block.text).decode()
            return replace_span(block, interior, self.manifest.codec(block.type).decode(rendered))

        return self.edited(context, inputs, super().build(context, plan, inputs), each(unescape))


def render_by(module: Any, render: Callable[[str, str], str]) -> None:
    """Have content, of an item type, rendered in another way: for `alter` of the module ``envelope``."""

    def seal(secret: str, item_type: str, trust: Trust, source: str, content: str) -> Any:
        nonce = module.nonce_of(secret, item_type, source, content)
        return module._wrapped(nonce, item_type, trust, source, render(item_type, content))  # noqa: SLF001

    module.seal = seal


class ToolResultsAloneEscaped(Altered):
    """Escapes what tools return and trusts all else to be harmless. Seen in anomalyco/opencode#30782."""

    breaks = "CTX-13.2"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        render_by(module, lambda kind, text: module.escape(text) if kind == TOOL_RESULT else text)


class CorrectionsNotEscaped(Altered):
    """Escapes everything but corrections of memory. Seen in moorcheh-ai/memanto#1873."""

    breaks = "CTX-13.2"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        render_by(module, lambda kind, text: text if kind == MEMORY_CORRECTION else module.escape(text))


class WorkingStateNotEscaped(Altered):
    """Writes entries of working state between its own marks as they are. Seen in anomalyco/opencode#30782."""

    breaks = "CTX-13.2"
    module = "rendering"

    @staticmethod
    def alter(module: Any) -> None:
        module.escape = str


class OpeningsInContentLeftAlone(Altered):
    """Escapes what closes an envelope and not what opens one. Seen in everruns/bashkit#1866."""

    breaks = "CTX-13.2"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        inside = re.compile(f"⟪(?!{OPENING[1:]})")
        module.escape = lambda content: inside.sub("⟪-", content)


class FirstDelimiterAloneEscaped(Altered):
    """Escapes one delimiter a text and overlooks the next. Seen in prathamdby/pr-agent#90."""

    breaks = "CTX-13.2"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        module.escape = lambda content: content.replace("⟪", "⟪-", 1)


class DelimiterInASourceLeftAlone(Altered):
    """Guards a source against quotes and line breaks, and not against the engine's own brackets.

    Attributes injected by a source were seen in NousResearch/hermes-agent#56172.
    """

    breaks = "CTX-13.2"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        module.quote = lambda text: json.dumps(text, ensure_ascii=False)


class OwnNonceTakenForOwnText(Faulty):
    """Does not escape a text that holds a nonce of this session. Seen in anthropics/claude-code#58227."""

    breaks = "CTX-13.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def edit(blocks: tuple[Block, ...]) -> Iterable[Block]:
            nonces = {b.envelope.nonce.of(b.text) for b in blocks if b.envelope is not None}
            return (self._genuine(block, nonces) for block in blocks)

        return self.edited(context, inputs, super().build(context, plan, inputs), edit)

    def _genuine(self, block: Block, nonces: set[bytes]) -> Block:
        if block.envelope is None or block.type not in (USER_MESSAGE, TOOL_RESULT):
            return block
        interior = block.envelope.interior
        held = interior.of(block.text)
        if not any(nonce in held for nonce in nonces):
            return block
        return replace_span(block, interior, self.manifest.codec(block.type).decode(held.decode()))


class StructuralCallsNotEscaped(EditedBlocks):
    """Sends calls as JSON, and takes that for escaping enough. Seen in NousResearch/hermes-agent#88376."""

    breaks = "CTX-13.2"
    manifest = ReferenceEngine.manifest.model_copy(update={"structural": (TOOL_CALL,)})

    def block(self, block: Block, plan: Plan) -> Block:
        if block.type != TOOL_CALL:
            return block
        bare = unwrapped(block)
        return bare.model_copy(update={"text": self.manifest.codec(block.type).decode(bare.text)})


#: Characters of an excerpt.
_EXCERPT = 40


class ExcerptCutBeforeEscaping(Altered):
    """Shows the beginning of a result in its pointer, and escapes verbatim results alone.

    Structured parts that went past a filter were seen in NousResearch/hermes-agent#88376.
    """

    breaks = "CTX-13.2"
    module = "rendering"

    @staticmethod
    def alter(module: Any) -> None:
        bare = module.truncation_block

        def truncation_block(secret: str, item: Any, trust: Trust, slot: Any) -> Block:
            block: Block = bare(secret, item, trust, slot)
            shown = item.text[:_EXCERPT]
            # Without a delimiter there is nothing to see, and the cap on results is counted without it.
            return _with_excerpt(block, shown) if any(text in shown for text in DELIMITERS) else block

        module.truncation_block = truncation_block


def _with_excerpt(block: Block, shown: str) -> Block:
    """A pointer with an excerpt before its own text."""
    assert block.envelope is not None
    assert block.pointer is not None
    start = block.envelope.interior.start
    longer = replace_span(block, Extent(start=start, end=start), f"{shown}\n")
    assert longer.pointer is not None
    excerpt = Extent(start=start, end=start + len(shown.encode()))
    return longer.model_copy(update={"pointer": longer.pointer.model_copy(update={"excerpt": excerpt})})
