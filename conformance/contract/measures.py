"""What an opening measures against the record's caps (decision 6): content, item by item, summed.

All figures are tokens of the session model's tokenizer unless their unit says items.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from contextproof.conformance.contract.caps import CAPS, MAX_MEMORY_ITEMS, MAX_TOOLS, MIN_BODY
from contextproof.conformance.contract.items import PrefixItem, RenderedItem, ToolDefinition, content
from contextproof.conformance.contract.session import ModelSpec, Opening
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.contract.vocabulary import TokenClass


class Measure(NamedTuple):
    """What a class holds, and what it may hold."""

    token_class: TokenClass
    measured: int
    cap: int
    unit: Literal["tokens", "items"] = "tokens"

    @property
    def is_over(self) -> bool:
        """Whether it holds more than it may."""
        return self.measured > self.cap

    def __str__(self) -> str:
        return f"{self.token_class} {self.measured} of {self.cap} {self.unit}"


def tokens_of(tokenizer: TokenizerName, items: Iterable[RenderedItem]) -> int:
    """Content of some items."""
    return sum(count(tokenizer, content(item)) for item in items)


def permitted(opening: Opening) -> tuple[ToolDefinition, ...]:
    """The tools of an opening that are to be pinned."""
    return tuple(tool for tool in opening.tools if tool.name in opening.permissions)


def prefix_contents(opening: Opening) -> dict[TokenClass, tuple[PrefixItem, ...]]:
    """The items of an opening that belong in its prefix, by class; of the tools the permitted ones."""
    return {
        TokenClass.PLATFORM_POLICY: opening.policy,
        TokenClass.AGENT_INSTRUCTIONS: opening.instructions,
        TokenClass.TOOL_DEFINITIONS: permitted(opening),
        TokenClass.MEMORY_SNAPSHOT: opening.memory,
    }


def opening_measures(opening: Opening) -> tuple[Measure, ...]:
    """Every class of an opening that can be measured without an engine; only permitted tools."""
    by_class = prefix_contents(opening)
    tokenizer = opening.model.tokenizer
    tools, memory = TokenClass.TOOL_DEFINITIONS, TokenClass.MEMORY_SNAPSHOT
    return (
        *(Measure(name, tokens_of(tokenizer, items), CAPS[name]) for name, items in by_class.items()),
        Measure(tools, len(by_class[tools]), MAX_TOOLS, "items"),
        Measure(memory, len(by_class[memory]), MAX_MEMORY_ITEMS, "items"),
    )


def over_cap(opening: Opening) -> tuple[Measure, ...]:
    """What is over its cap in an opening."""
    return tuple(measure for measure in opening_measures(opening) if measure.is_over)


def ceiling(model: ModelSpec) -> int:
    """What the whole prefix may take: all that the output reserve leaves, less the smallest body."""
    return model.limit - MIN_BODY
