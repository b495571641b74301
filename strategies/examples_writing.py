"""How an explicit scenario is written: an opening, and a function that tells an author what happens."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypedDict, Unpack

from contextproof.conformance.contract.tokenizers import TokenizerName
from contextproof.conformance.play.scenario import (
    LabelledItem,
    Scenario,
    ScenarioModel,
    ScenarioOpening,
    ScenarioTool,
    Text,
    TextItem,
)
from contextproof.strategies.author import Author
from contextproof.strategies.openings import control_tool

EXAMPLES: dict[str, list[Callable[[], Scenario]]] = {}
"""What writes each explicit scenario, by the key of the strategy that it stands beside."""


class Opened(TypedDict, total=False):
    """What an explicit scenario opens with, where it is not the ordinary."""

    body: int
    window: int
    reserve: int
    tokenizer: TokenizerName
    policy: Text
    instructions: tuple[Text, ...]
    tools: tuple[ScenarioTool, ...]
    permitted: int
    memory: tuple[Text | LabelledItem, ...]


def tool(
    number: int, name: Text, description: Text = "Does it.", parameters_json: str = "{}"
) -> ScenarioTool:
    """A tool; its id is its number's."""
    return ScenarioTool(id=f"t{number}", name=name, description=description, parameters_json=parameters_json)


#: Reading, writing, and the working-state tool.
TOOLS = (tool(1, "read", "Reads a file."), tool(2, "write", "Writes a file."), control_tool(3))


def opening_of(**opened: Unpack[Opened]) -> ScenarioOpening:
    """An opening: 20,000 tokens of body and three tools, unless told otherwise."""
    window = opened.get("window")
    tools = opened.get("tools", TOOLS)
    return ScenarioOpening(
        model=ScenarioModel(
            name="m1",
            tokenizer=opened.get("tokenizer", "o200k_base"),
            window=window,
            body_tokens=opened.get("body", 20_000) if window is None else None,
            output_reserve=opened.get("reserve", 1_000),
        ),
        policy=(TextItem(id="p1", text=opened.get("policy", "Do no harm.")),),
        instructions=tuple(
            TextItem(id=f"i{n}", text=text) for n, text in enumerate(opened.get("instructions", ()), 1)
        ),
        tools=tools,
        permissions=tuple(each.name for each in tools[: opened.get("permitted", len(tools))]),
        memory=tuple(
            each if isinstance(each, LabelledItem) else LabelledItem(id=f"m{n}", text=each)
            for n, each in enumerate(opened.get("memory", ()), 1)
        ),
    )


def example(
    key: str, **opened: Unpack[Opened]
) -> Callable[[Callable[[Author], None]], Callable[[], Scenario]]:
    """Register a function as an explicit scenario of a key."""

    def register(tell: Callable[[Author], None]) -> Callable[[], Scenario]:
        @wraps(tell)
        def write() -> Scenario:
            author = Author(opening_of(**opened))
            tell(author)
            return author.scenario(tell.__name__, (tell.__doc__ or "").strip().split("\n")[0])

        EXAMPLES.setdefault(key, []).append(write)
        return write

    return register
