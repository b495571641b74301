"""Measures of classes against the record's caps (decision 6): content, item by item, summed.

All figures are tokens of the session model's tokenizer unless their unit says items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from contextproof.conformance.contract.caps import (
    CAPS,
    MAX_MEMORY_ITEMS,
    MAX_TOOLS,
    TOOL_RESULTS_DIVISOR,
)
from contextproof.conformance.contract.items import RecallItem, RenderedItem, ToolResult, content
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.measures import Measure, tokens_of
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import ModelSpec, Opening
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.contract.vocabulary import FRAMING, Place, TokenClass
from contextproof.conformance.play.trace import RecordedInputs
from contextproof.conformance.requirements.oracles_log import latest_corrections
from contextproof.conformance.requirements.oracles_text import excerpt
from contextproof.conformance.requirements.oracles_views import Made, prefix_items

#: Above any envelope, in tokens; far above, so that what is over this bound is certainly over.
ENVELOPE_BOUND = 300
#: Above what escaping and a cautious estimate make of content, likewise.
CONTENT_FACTOR = 8


def prefix_bound(opening: Opening) -> int:
    """More tokens than any engine's prefix of this opening takes."""
    return bound(opening.model.tokenizer, prefix_items(opening)) + CAPS[TokenClass.FRAMING] + ENVELOPE_BOUND


def recall_within_cap(ranking: Iterable[RecallItem], tokenizer: TokenizerName) -> tuple[RecallItem, ...]:
    """The longest leading part of a ranking that its cap holds, once items over it are removed."""
    kept: list[RecallItem] = []
    held = 0
    for item in ranking:
        tokens = count(tokenizer, content(item))
        if tokens > CAPS[TokenClass.RECALL]:
            continue
        held += tokens
        if held > CAPS[TokenClass.RECALL]:
            break
        kept.append(item)
    return tuple(kept)


def bound(tokenizer: TokenizerName, items: Iterable[RenderedItem]) -> int:
    """More tokens than any engine's rendering of these items takes, by its own estimate."""
    return sum(CONTENT_FACTOR * count(tokenizer, content(item)) + ENVELOPE_BOUND for item in items)


def body_limit(model: ModelSpec, prefix_tokens: int) -> int:
    """What is left for the body: window − output reserve − prefix."""
    return max(0, model.limit - prefix_tokens)


def results_cap(model: ModelSpec, prefix_tokens: int) -> int:
    """What tool results may hold: a quarter of the body."""
    return body_limit(model, prefix_tokens) // TOOL_RESULTS_DIVISOR


def request_measures(
    manifest: Manifest, made: Made, items: Mapping[tuple[str, str], RenderedItem], prefix_tokens: int
) -> tuple[Measure, ...]:
    """Every capped class of a request, by the items that its blocks render."""
    by_place: dict[str, list[Block]] = {}
    for block in made.blocks:
        by_place.setdefault(block.type, []).append(block)

    def of(item_type: str) -> int:
        blocks = by_place.get(item_type, [])
        return sum(_held(manifest, made.model.tokenizer, block, items) for block in blocks)

    tokenizer = made.model.tokenizer
    tools, memory = by_place.get("tool_definition", []), by_place.get("memory_snapshot", [])
    return (
        *(
            Measure(name, of(place.value), CAPS[name])
            for place, name in _CAPPED.items()
            if place is not Place.WORKING_STATE
        ),
        Measure(
            TokenClass.FRAMING,
            sum(count(tokenizer, block.text) for block in by_place.get(FRAMING, [])),
            CAPS[TokenClass.FRAMING],
        ),
        Measure(
            TokenClass.WORKING_STATE,
            state_tokens(made.build.inputs, tokenizer),
            CAPS[TokenClass.WORKING_STATE],
        ),
        Measure(TokenClass.TOOL_RESULTS, of("tool_result"), results_cap(made.model, prefix_tokens)),
        Measure(TokenClass.TOOL_DEFINITIONS, len(tools), MAX_TOOLS, "items"),
        Measure(TokenClass.MEMORY_SNAPSHOT, len(memory), MAX_MEMORY_ITEMS, "items"),
    )


_CAPPED = {
    Place.PLATFORM_POLICY: TokenClass.PLATFORM_POLICY,
    Place.AGENT_INSTRUCTIONS: TokenClass.AGENT_INSTRUCTIONS,
    Place.TOOL_DEFINITION: TokenClass.TOOL_DEFINITIONS,
    Place.MEMORY_SNAPSHOT: TokenClass.MEMORY_SNAPSHOT,
    Place.MEMORY_CORRECTION: TokenClass.MEMORY_CORRECTIONS,
    Place.RECALL: TokenClass.RECALL,
    Place.ENVIRONMENT: TokenClass.ENVIRONMENT,
}


def _held(
    manifest: Manifest,
    tokenizer: TokenizerName,
    block: Block,
    items: Mapping[tuple[str, str], RenderedItem],
) -> int:
    """Content that a block holds: an item's, or only an excerpt of it; runtime results are free."""
    item = items.get((block.type, block.item_id or ""))
    if item is None or (isinstance(item, ToolResult) and not item.can_truncate):
        return 0
    if block.pointer is None:
        return count(tokenizer, content(item))
    return count(tokenizer, excerpt(manifest, block) or "")


def state_tokens(inputs: RecordedInputs, tokenizer: TokenizerName) -> int:
    """Content of working state."""
    return sum(count(tokenizer, entry.text) for entry in inputs.working_state.entries())


def standing_measures(inputs: RecordedInputs, tokenizer: TokenizerName) -> Iterator[Measure]:
    """The classes that a build is handed, has to send, and cannot make smaller."""
    held = {
        TokenClass.WORKING_STATE: state_tokens(inputs, tokenizer),
        TokenClass.MEMORY_CORRECTIONS: tokens_of(tokenizer, latest_corrections(inputs.corrections)),
        TokenClass.ENVIRONMENT: tokens_of(tokenizer, inputs.environment),
    }
    for name, measured in held.items():
        yield Measure(name, measured, CAPS[name])
