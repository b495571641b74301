"""Openings at the caps: each class at cap − 1, cap, cap + 1, by the model's own tokenizer.

The combined ceiling is met exactly through ``body_tokens``: the window is then reserve + the builder's
own prefix + body, so a body of 1,000 tokens puts the prefix at the ceiling, and 999 one over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

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

#: How far a class is from its cap, in tokens; None where it is nowhere near.
_DISTANCES = (None, None, None, 0, 1, -1)
_TOOL_COUNTS = (1, 0, 2, 3, 2, 1, MAX_TOOLS, MAX_TOOLS + 1, MAX_TOOLS - 1, MAX_TOOLS + 5)
_MEMORY_COUNTS = (0, 1, 3, 2, 1, MAX_MEMORY_ITEMS, MAX_MEMORY_ITEMS + 1, MAX_MEMORY_ITEMS - 1)
_BASES = ("", "Obey the user.", "<|im_start|>system", "的確", "😀👍🏽", "شكرا", "\x00\x1b[0m")

_WINDOWS = (100_000, 1_000_000, 32_000, 16_000)
_BODIES = (5_000, MIN_BODY, MIN_BODY - 1, MIN_BODY + 1, 1_100)
_LEFT = (MIN_BODY - 1, MIN_BODY, MIN_BODY + 1, 0, -1, 2_500)


def sizes() -> SearchStrategy[ScenarioModel]:
    """Windows from small to a million, bodies around the ceiling, reserves that leave too little."""
    return st.one_of(
        st.builds(_model, st.sampled_from(TOKENIZERS), window=st.sampled_from(_WINDOWS)),
        st.builds(_model, st.sampled_from(TOKENIZERS), body=st.sampled_from(_BODIES)),
        st.builds(
            _model,
            st.sampled_from(TOKENIZERS),
            window=st.sampled_from((8_000, 128_000)),
            left=st.sampled_from(_LEFT),
        ),
    )


def _model(
    tokenizer: TokenizerName, window: int | None = None, body: int | None = None, left: int | None = None
) -> ScenarioModel:
    reserve = 1_000 if window is None or left is None else window - left
    return ScenarioModel(
        name="m1", tokenizer=tokenizer, window=window, body_tokens=body, output_reserve=reserve
    )


_SIZES = sizes()
_BASE = st.sampled_from(_BASES)
#: How many of the tools are not permitted; where there are not so many, all but some are permitted.
_BARRED = st.sampled_from((0, 0, 0, 1, 2, 30))
_DISTANCE = st.sampled_from(_DISTANCES)
_TRUST = st.sampled_from(TRUSTS)
_TOOL_COUNT = st.sampled_from(_TOOL_COUNTS)
_MEMORY_COUNT = st.sampled_from(_MEMORY_COUNTS)
_FIRST_SCHEMA = st.integers(0, len(SCHEMAS) - 1)
_SOMETIMES = st.booleans()


@st.composite
def _opening(draw: DrawFn) -> ScenarioOpening:
    model = draw(_SIZES)
    tokenizer = model.tokenizer
    base = draw(_BASE)
    tools = _tools(draw, tokenizer)
    return ScenarioOpening(
        model=model,
        policy=_items("p", draw(_filled(tokenizer, TokenClass.PLATFORM_POLICY)), base) or (_SHORT_POLICY,),
        instructions=_items("i", draw(_filled(tokenizer, TokenClass.AGENT_INSTRUCTIONS)), base),
        tools=tools,
        permissions=tuple(tool.name for tool in tools[: len(tools) - draw(_BARRED)]),
        memory=_memory(draw, tokenizer),
    )


_SHORT_POLICY = TextItem(id="p1", text="Do no harm.")

Fill = tuple[TokenizerName, int, int]
"""Tokenizer, tokens of a whole class, and the number of items that share them."""


@cache
def _filled(tokenizer: TokenizerName, token_class: TokenClass) -> SearchStrategy[Fill | None]:
    """A class near its cap, in one to three items, or not at all."""
    cap = CAPS[token_class]
    distances = st.sampled_from(_DISTANCES)
    return st.builds(
        lambda distance, items: None if distance is None else (tokenizer, cap + distance, items),
        distances,
        st.integers(1, 3),
    )


def _items(letter: str, fill: Fill | None, base: str) -> tuple[TextItem, ...]:
    if fill is None:
        return ()
    return tuple(
        TextItem(id=f"{letter}{number}", text=text) for number, text in enumerate(_shares(fill, base), 1)
    )


def _shares(fill: Fill, base: str) -> list[Text]:
    """Texts of so many tokens together; all but the last are short."""
    tokenizer, tokens, items = fill
    short = [text_of_tokens(tokenizer, 2) for _ in range(items - 1)]
    return [*short, text_of_tokens(tokenizer, tokens - 2 * (items - 1), base)]


def _memory(draw: DrawFn, tokenizer: TokenizerName) -> tuple[LabelledItem, ...]:
    number = draw(_MEMORY_COUNT)
    distance = draw(_DISTANCE) if number else None
    trust = draw(_TRUST) if number else None
    if distance is None:
        said: Sequence[Text] = ["x"] * number
    else:
        said = _shares((tokenizer, CAPS[TokenClass.MEMORY_SNAPSHOT] + distance, number), "")
    return tuple(LabelledItem(id=f"m{n}", text=text, trust=trust) for n, text in enumerate(said, 1))


def _tools(draw: DrawFn, tokenizer: TokenizerName) -> tuple[ScenarioTool, ...]:
    """Tools of different names and schemas; the first may be filled up until all are near the cap."""
    number = draw(_TOOL_COUNT)
    if not number:
        return ()
    first, with_control = draw(_FIRST_SCHEMA), draw(_SOMETIMES)
    tools = [_tool(n, first) for n in range(number)]
    if with_control:
        tools[-1] = control_tool(number)
    distance = draw(_DISTANCE)
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
