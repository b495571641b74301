"""The record's absolute caps (decision 6) and the budget derived from them.

Caps count content, item by item, summed, by the session model's tokenizer. Budgets count what is
sent. All figures are tokens unless their name says otherwise.
"""

from __future__ import annotations

from typing import Final

from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.contract.vocabulary import TokenClass

CAPS: Final[dict[TokenClass, int]] = {
    TokenClass.PLATFORM_POLICY: 2_000,
    TokenClass.FRAMING: 500,
    TokenClass.AGENT_INSTRUCTIONS: 4_000,
    TokenClass.TOOL_DEFINITIONS: 6_000,
    TokenClass.MEMORY_SNAPSHOT: 1_500,
    TokenClass.WORKING_STATE: 1_000,
    TokenClass.RECALL: 2_000,
    TokenClass.ENVIRONMENT: 500,
    TokenClass.MEMORY_CORRECTIONS: 1_500,
}
"""Tokens of content a class may hold; of framing, as rendered."""

MAX_TOOLS: Final = 30
MAX_MEMORY_ITEMS: Final = 40
MAX_CONSTRAINTS: Final = 20
MAX_TASKS: Final = 30
MAX_FACTS: Final = 40
MAX_QUESTIONS: Final = 20

#: Results may fill one part in four of the body.
TOOL_RESULTS_DIVISOR: Final = 4
#: A rendered summary may fill one part in four of the body.
SUMMARY_DIVISOR: Final = 4
#: What window − output reserve must leave at the least, and the body beside the largest prefix.
MIN_BODY: Final = 1_000
#: The estimator's safety margin: five per cent, as a ratio of integers.
MARGIN_NUMERATOR: Final = 105
MARGIN_DENOMINATOR: Final = 100
#: A truncation pointer beside its excerpt, source and reference; also the least result worth truncating.
POINTER_TOKENS: Final = 128
MAX_SUMMARY_DEPTH: Final = 2


class ContextBudget(Frozen):
    """The ten integers a plan fixes, all in tokens."""

    output_reserve_tokens: Count
    """Kept free for the answer."""
    platform_policy_tokens: Count
    """The cap on platform policy."""
    agent_instructions_tokens: Count
    """The cap on instructions."""
    tool_definitions_tokens: Count
    """The cap on tool definitions."""
    memory_snapshot_tokens: Count
    """The cap on the memory snapshot."""
    working_state_tokens: Count
    """The cap on working state."""
    retrieved_context_tokens: Count
    """The cap on recall."""
    tool_results_tokens: Count
    """What tool results may have: a quarter of the body."""
    history_tokens: Count
    """What is left of the body for history."""
    body_tokens: Count
    """The window less the output reserve less the prefix."""
