"""Openings and standing classes at a cap, or one past it, are so to the token."""

from __future__ import annotations

import pytest

from contextproof import scenarios
from contextproof.conformance.contract.caps import CAPS, MAX_MEMORY_ITEMS, MAX_TOOLS
from contextproof.conformance.contract.items import tool_content
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.play import scenario as s
from scripted import resolved, steps_of


def measured(opening: s.ScenarioOpening) -> dict[TokenClass, int]:
    """Content tokens by class, after the filter."""
    tokenizer = opening.model.tokenizer
    permitted = set(map(resolved, opening.permissions))
    tools = [
        tool_content(resolved(tool.name), resolved(tool.description), tool.parameters_json)
        for tool in opening.tools
        if resolved(tool.name) in permitted
    ]
    by_class: dict[TokenClass, list[str]] = {
        TokenClass.PLATFORM_POLICY: [resolved(item.text) for item in opening.policy],
        TokenClass.AGENT_INSTRUCTIONS: [resolved(item.text) for item in opening.instructions],
        TokenClass.TOOL_DEFINITIONS: tools,
        TokenClass.MEMORY_SNAPSHOT: [resolved(item.text) for item in opening.memory],
    }
    return {name: sum(count(tokenizer, text) for text in found) for name, found in by_class.items()}


AT = {
    "policy": TokenClass.PLATFORM_POLICY,
    "instructions": TokenClass.AGENT_INSTRUCTIONS,
    "tools": TokenClass.TOOL_DEFINITIONS,
    "memory": TokenClass.MEMORY_SNAPSHOT,
}


@pytest.mark.parametrize("over", [0, 1])
@pytest.mark.parametrize("name", [*AT, "policy_cl100k"])
def test_an_opening_is_at_its_cap_or_one_token_over_it(name: str, over: int) -> None:
    what, _, tokenizer = name.partition("_")
    stem = f"{what}_{'over' if over else 'at'}_cap" + (f"_{tokenizer}" if tokenizer else "")
    opening = scenarios.load(f"openings/{stem}").opening
    tokens = measured(opening)
    assert tokens.pop(AT[what]) == CAPS[AT[what]] + over
    assert all(size <= CAPS[other] for other, size in tokens.items())
    assert opening.model.tokenizer == ("cl100k_base" if tokenizer else "o200k_base")


def test_everything_at_cap_is_just_that() -> None:
    opening = scenarios.load("openings/everything_at_cap").opening
    assert measured(opening) == {token_class: CAPS[token_class] for token_class in AT.values()}


@pytest.mark.parametrize(
    ("stem", "number"),
    [
        ("tools_30", MAX_TOOLS),
        ("tools_31", MAX_TOOLS + 1),
        ("tools_45_of_which_30_permitted", MAX_TOOLS),
        ("memory_of_40_items", MAX_MEMORY_ITEMS),
        ("memory_of_41_items", MAX_MEMORY_ITEMS + 1),
    ],
)
def test_an_opening_has_as_many_items_as_it_says_and_few_tokens(stem: str, number: int) -> None:
    opening = scenarios.load(f"openings/{stem}").opening
    assert len(opening.memory if stem.startswith("memory") else opening.permissions) == number
    assert all(tokens <= CAPS[token_class] for token_class, tokens in measured(opening).items())


def test_tools_over_the_cap_are_within_it_once_they_are_filtered() -> None:
    opening = scenarios.load("openings/tools_over_cap_of_which_few_permitted").opening
    everybody = opening.model_copy(update={"permissions": tuple(tool.name for tool in opening.tools)})
    cap = CAPS[TokenClass.TOOL_DEFINITIONS]
    assert measured(opening)[TokenClass.TOOL_DEFINITIONS] <= cap
    assert measured(everybody)[TokenClass.TOOL_DEFINITIONS] > cap


def test_standing_classes_of_short_sessions_are_exactly_at_their_caps_and_one_over() -> None:
    """Environment, corrections (the latest of an item wins), and recall."""
    environment = steps_of(s.SetEnvironment, scenarios.load("environment_over_cap"))
    assert [_tokens(step.items) for step in environment[:2]] == [500, 501]
    one, two, three, _ = steps_of(s.CorrectMemory, scenarios.load("corrections_over_cap"))
    assert _tokens((one, two)) == CAPS[TokenClass.MEMORY_CORRECTIONS]
    assert two.memory_id == three.memory_id
    assert _tokens((one, three)) == CAPS[TokenClass.MEMORY_CORRECTIONS] + 1
    recalls = steps_of(s.Recall, scenarios.load("recall_over_cap"))
    cap = CAPS[TokenClass.RECALL]
    assert [_tokens(recalls[0].items), _tokens(recalls[1].items[:4]), _tokens(recalls[3].items)] == [cap] * 3
    assert _tokens(recalls[2].items[1:2]) == cap + 1


def _tokens(items: tuple[s.TextItem, ...]) -> int:
    return sum(count("o200k_base", resolved(item.text)) for item in items)
