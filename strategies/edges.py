"""Openings at the caps: each class at cap − 1, cap, cap + 1, by the model's own tokenizer.

The combined ceiling is met exactly through ``body_tokens``: the window is then reserve + the builder's
own prefix + body, so a body of 1,000 tokens puts the prefix at the ceiling, and 999 one over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from contextproof.conformance.contract.caps import CAPS, MAX_MEMORY_ITEMS, MAX_TOOLS, MIN_BODY
from contextproof.conformance.contract.items import tool_content
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.play.scenario import (
    LabelledItem,
    Scenario,
    ScenarioModel,
    ScenarioOpening,
    ScenarioTool,
    Text,
    TextItem,
)
from contextproof.strategies import changes, turns
from contextproof.strategies.author import Author, Move
from contextproof.strategies.openings import SCHEMAS, TOKENIZERS, TOOL_NAMES, TRUSTS, control_tool
from contextproof.strategies.sizes import text_of_tokens, tool_of_tokens

_T = TypeVar("_T")


_BASES = ("", "Obey the user.", "<|im_start|>system", "的確", "😀👍🏽", "شكرا", "\x00\x1b[0m")
_SHORT_POLICY = TextItem(id="p1", text="Do no harm.")

Limits = tuple[int | None, int | None, int | None]
"""Window, body, and what the reserve leaves of the window, in tokens; one of the first two is None."""


class Edge(NamedTuple):
    """What an opening is near to: one edge at a time, since one refusal hides every other.

    ``distances`` are how far from its cap a class is, in tokens, None where it is nowhere near.
    """

    distances: tuple[int | None, ...] = (None,)
    tools: tuple[int, ...] = (1, 0, 2, 3)
    memories: tuple[int, ...] = (0, 1, 3)
    limits: tuple[Limits, ...] = ((100_000, None, None), (1_000_000, None, None), (None, 5_000, None))


def _left(*tokens: int) -> tuple[Limits, ...]:
    """Reserves that leave so much of a small window and of a large one."""
    return tuple((window, None, left) for left in tokens for window in (8_000, 128_000))


def _bodies(*tokens: int) -> tuple[Limits, ...]:
    return tuple((None, body, None) for body in tokens)


EDGES: dict[str, Edge] = {
    "nowhere near any": Edge(),
    "classes at their caps": Edge(distances=(None, 0, None, -1)),
    "classes over their caps": Edge(distances=(1, None, 0)),
    "numbers at their caps": Edge(
        tools=(MAX_TOOLS, 1, MAX_TOOLS - 1), memories=(MAX_MEMORY_ITEMS, 1, MAX_MEMORY_ITEMS - 1)
    ),
    "numbers over their caps": Edge(
        tools=(MAX_TOOLS + 1, 1, MAX_TOOLS + 5), memories=(0, MAX_MEMORY_ITEMS + 1)
    ),
    "the ceiling": Edge(limits=_bodies(MIN_BODY - 1, MIN_BODY, MIN_BODY + 1, MIN_BODY - 1, 400, 700)),
    "the reserve": Edge(limits=_left(MIN_BODY - 1, MIN_BODY, MIN_BODY + 1, 0, -1)),
    "several at once": Edge(
        distances=(None, None, None, 0, 1, -1),
        tools=(1, 0, 2, MAX_TOOLS, MAX_TOOLS + 1),
        memories=(0, 1, MAX_MEMORY_ITEMS, MAX_MEMORY_ITEMS + 1),
        limits=(*_bodies(5_000, MIN_BODY - 1, MIN_BODY, 1_100), *_left(MIN_BODY - 1), (32_000, None, None)),
    ),
}


def _model(tokenizer: TokenizerName, limits: Limits) -> ScenarioModel:
    window, body, left = limits
    reserve = 1_000 if window is None or left is None else window - left
    return ScenarioModel(
        name="m1", tokenizer=tokenizer, window=window, body_tokens=body, output_reserve=reserve
    )


#: Those that can be missed in several ways are drawn twice as often.
_TWICE = ("classes over their caps", "numbers over their caps", "the ceiling")
_EDGE = st.sampled_from((*EDGES.values(), *(EDGES[name] for name in _TWICE)))
_TOKENIZER = st.sampled_from(TOKENIZERS)
_BASE = st.sampled_from(_BASES)
#: How many of the tools are not permitted; where there are not so many, all but some are permitted.
_BARRED = st.sampled_from((0, 0, 0, 1, 2, 30))
_TRUST = st.sampled_from(TRUSTS)
_FIRST_SCHEMA = st.integers(0, len(SCHEMAS) - 1)
_SOMETIMES = st.booleans()
_SHARED_BY = st.integers(1, 3)


@cache
def _one_of(some: tuple[_T, ...]) -> SearchStrategy[_T]:
    return st.sampled_from(some)


@st.composite
def _opening(draw: DrawFn) -> ScenarioOpening:
    edge, tokenizer, base = draw(_EDGE), draw(_TOKENIZER), draw(_BASE)
    tools = _tools(draw, edge, tokenizer)
    return ScenarioOpening(
        model=_model(tokenizer, draw(_one_of(edge.limits))),
        policy=_items(draw, "p", edge, tokenizer, TokenClass.PLATFORM_POLICY, base) or (_SHORT_POLICY,),
        instructions=_items(draw, "i", edge, tokenizer, TokenClass.AGENT_INSTRUCTIONS, base),
        tools=tools,
        permissions=tuple(tool.name for tool in tools[: len(tools) - draw(_BARRED)]),
        memory=_memory(draw, edge, tokenizer),
    )


def _items(
    draw: DrawFn, letter: str, edge: Edge, tokenizer: TokenizerName, token_class: TokenClass, base: str
) -> tuple[TextItem, ...]:
    """A class near its cap, in one to three items, or none of it."""
    distance = draw(_one_of(edge.distances))
    if distance is None:
        return ()
    said = _shares(tokenizer, CAPS[token_class] + distance, draw(_SHARED_BY), base)
    return tuple(TextItem(id=f"{letter}{number}", text=text) for number, text in enumerate(said, 1))


def _shares(tokenizer: TokenizerName, tokens: int, items: int, base: str = "") -> list[Text]:
    """Texts of so many tokens together; all but the last are short."""
    short = [text_of_tokens(tokenizer, 2) for _ in range(items - 1)]
    return [*short, text_of_tokens(tokenizer, tokens - 2 * (items - 1), base)]


def _memory(draw: DrawFn, edge: Edge, tokenizer: TokenizerName) -> tuple[LabelledItem, ...]:
    number = draw(_one_of(edge.memories))
    if not number:
        return ()
    distance, trust = draw(_one_of(edge.distances)), draw(_TRUST)
    said: Sequence[Text] = ["x"] * number
    if distance is not None:
        said = _shares(tokenizer, CAPS[TokenClass.MEMORY_SNAPSHOT] + distance, number)
    return tuple(LabelledItem(id=f"m{n}", text=text, trust=trust) for n, text in enumerate(said, 1))


def _tools(draw: DrawFn, edge: Edge, tokenizer: TokenizerName) -> tuple[ScenarioTool, ...]:
    """Tools of different names and schemas; the first may be filled up until all are near the cap."""
    number = draw(_one_of(edge.tools))
    if not number:
        return ()
    first, with_control = draw(_FIRST_SCHEMA), draw(_SOMETIMES)
    tools = [_tool(n, first) for n in range(number)]
    if with_control:
        tools[-1] = control_tool(number)
    distance = draw(_one_of(edge.distances))
    if distance is not None and not (with_control and number == 1):
        others = sum(tool_tokens(tokenizer, tool) for tool in tools[1:])
        wanted = CAPS[TokenClass.TOOL_DEFINITIONS] + distance - others
        tools[0] = tool_of_tokens(tokenizer, wanted, tools[0])
    return tuple(tools)


@cache
def _tool(n: int, first: int) -> ScenarioTool:
    name = TOOL_NAMES[n] if n < len(TOOL_NAMES) else f"tool_{n}"
    return ScenarioTool(
        id=f"t{n + 1}",
        name=name,
        description="Does it.",
        parameters_json=SCHEMAS[(first + n) % len(SCHEMAS)],
    )


@cache
def tool_tokens(tokenizer: TokenizerName, tool: ScenarioTool) -> int:
    """Tokens of a definition whose texts are literal."""
    assert isinstance(tool.name, str)
    assert isinstance(tool.description, str)
    return count(tokenizer, tool_content(tool.name, tool.description, tool.parameters_json))


# --- What follows the opening -------------------------------------------------------------------------


def _nothing(author: Author) -> None:
    """The session is only opened."""


def _one_request(author: Author) -> None:
    author.user("Hello.")
    author.request()


def _after(change: Move) -> Move:
    def move(author: Author) -> None:
        change(author)
        _one_request(author)

    return move


@cache
def _sequels() -> SearchStrategy[Move]:
    """Nothing, a request, or a rotation and a request: to another tokenizer, or without a tool."""
    return st.one_of(
        st.sampled_from((_nothing, _one_request)),
        changes.routes(("tokenizer", "provider")).map(_after),
        changes.forces().map(_after),
        turns.works("plain", most=2),
    )


@st.composite
def openings(draw: DrawFn) -> Scenario:
    """Openings at every edge that an opening has, and a step or two."""
    author = Author(draw(_opening()))
    draw(_sequels())(author)
    return author.scenario("openings")
