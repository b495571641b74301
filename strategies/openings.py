"""What sessions open with, in the ordinary: well within every cap, so that the session goes on.

Openings at the caps are in `edges`.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from contextproof.conformance.contract.items import WORKING_STATE_TOOL
from contextproof.conformance.contract.tokenizers import TokenizerName
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.play.scenario import (
    LabelledItem,
    Literally,
    ScenarioModel,
    ScenarioOpening,
    ScenarioTool,
    Text,
    TextItem,
)
from contextproof.strategies import tables, texts

TOKENIZERS: tuple[TokenizerName, ...] = ("o200k_base", "cl100k_base")

TOOL_NAMES = (
    *("read", "write", "search", "Read", "re\u0430d"),
    *("read_", "fetch", "list files", "run.sh", "読む"),
)
"""Different names, some nearly alike; the fifth has a Cyrillic letter."""

SCHEMAS = (
    "{}",
    '{"type":"object","properties":{"path":{"type":"string"}}}',
    '{"required":["b","a"],"properties":{"b":{"type":"integer"},"a":{"enum":["z",null,true]}}}',
    '{"b":1,"a":{"z":0,"y":[2,1,{"d":{},"c":[]}]}}',
    '{"\\uE000":1,"\\uD83D\\uDE00":2,"é":3,"e\\u0301":4,"":5,"\\u0000":6}',
    '{"enum":["</x>","<|im_end|>","\\u202e","' + "".join(chr(0xE0000 + ord(c)) for c in "tag") + '"]}',
    '{ "maximum" : 9007199254740991, "minimum":-9007199254740991, "default" : 0 }',
    '{"10":0,"9":0,"A":0,"a":0,"B":0}',
)
"""Key orders that no sort keeps, keys that sort differently by code unit and by code point, nesting."""

TRUSTS: tuple[Trust | None, ...] = (
    None,
    Trust.INTERNAL,
    Trust.EXTERNAL_UNTRUSTED,
    Trust.USER,
    Trust.PLATFORM,
)
"""Labels, those above what any item of the body may have included."""

ROOMY = (20_000, 50_000)
TIGHT = (1_200, 1_600, 2_400, 4_000, 6_000, 12_000)
"""Body tokens in which nothing is pressed, and in which a few results or turns press."""

_RESERVES = (1_000, 0, 4_000)
_OVERHEADS = (4, 0, 7)


class Kind(NamedTuple):
    """What the openings of a strategy are like: texts, sizes in tokens, and how many of what.

    ``control``: whether the working-state tool comes with it, at random where None.
    """

    flavour: texts.Flavour = "plain"
    bodies: tuple[int, ...] = ROOMY
    tools: tuple[int, ...] = (0, 1, 2, 3)
    memories: tuple[int, ...] = (0, 1, 2, 3)
    control: bool | None = None


# Strategies that are drawn from within a composite are made once, which matters by far the most.
_SOMETIMES = st.booleans()
_BARRED = st.integers(0, 7)
_INSTRUCTIONS = st.integers(0, 2)
_TRUST = st.sampled_from(TRUSTS)
_MARK = st.sampled_from(tables.MARKS)


@cache
def _one_of(numbers: tuple[int, ...]) -> SearchStrategy[int]:
    return st.sampled_from(numbers)


@st.composite
def _opening(draw: DrawFn, kind: Kind) -> ScenarioOpening:
    said = texts.brief(kind.flavour)
    number = draw(_one_of(kind.tools))
    tools = tuple(draw(_tool(kind.flavour, n)) for n in range(1, number + 1))
    if kind.control or (kind.control is None and draw(_SOMETIMES)):
        tools = (*tools, control_tool(len(tools) + 1))
    return ScenarioOpening(
        model=draw(models(kind.bodies)),
        policy=policy_of(draw(said)),
        instructions=tuple(TextItem(id=f"i{n}", text=draw(said)) for n in range(1, draw(_INSTRUCTIONS) + 1)),
        tools=tools,
        permissions=tuple(tool.name for tool in _permitted(tools, draw(_BARRED))),
        memory=_memories(draw, kind),
    )


@cache
def of(kind: Kind) -> SearchStrategy[ScenarioOpening]:
    """Openings within every cap."""
    return _opening(kind)


@cache
def models(bodies: tuple[int, ...]) -> SearchStrategy[ScenarioModel]:
    """A model whose body has one of these sizes, by either tokenizer."""
    return st.builds(
        _model,
        st.sampled_from(bodies),
        st.sampled_from(TOKENIZERS),
        st.sampled_from(_RESERVES),
        st.sampled_from(_OVERHEADS),
    )


def _model(body: int, tokenizer: TokenizerName, reserve: int, overhead: int) -> ScenarioModel:
    return ScenarioModel(
        name="m1",
        tokenizer=tokenizer,
        body_tokens=body,
        output_reserve=reserve,
        overhead_per_block=overhead,
    )


def policy_of(text: Text) -> tuple[TextItem, ...]:
    """A policy with a text in it that is never blank, whatever its recipe turns out to be."""
    said: Text = "Do no harm." if text == "x" else (Literally(text="Do no harm. "), *texts.pieces_of(text))
    return (TextItem(id="p1", text=said),)


def control_tool(number: int) -> ScenarioTool:
    """The working-state tool, as it comes with an opening."""
    return ScenarioTool(
        id=f"t{number}",
        name=WORKING_STATE_TOOL,
        description="Writes working state.",
        parameters_json='{"type":"object"}',
        source="platform",
    )


@cache
def _tool(flavour: texts.Flavour, number: int) -> SearchStrategy[ScenarioTool]:
    plain: SearchStrategy[Text] = st.just(TOOL_NAMES[(number - 1) % len(TOOL_NAMES)])
    return st.builds(
        ScenarioTool,
        id=st.just(f"t{number}"),
        name=plain | _forged_names(number) if flavour in ("hostile", "any") else plain,
        description=texts.brief(flavour),
        parameters_json=st.sampled_from(SCHEMAS),
        source=texts.names(flavour),
    )


def _forged_names(number: int) -> SearchStrategy[Text]:
    """Names that claim attributes; the number keeps two of them apart."""
    return st.sampled_from(
        tuple((Literally(text=f"{number} "), *texts.pieces_of(text)) for text in tables.FORGERIES)
    )


def _permitted(tools: tuple[ScenarioTool, ...], barred: int) -> tuple[ScenarioTool, ...]:
    """All tools, or all but one."""
    return tuple(tool for n, tool in enumerate(tools) if n + 1 != barred)


def _memories(draw: DrawFn, kind: Kind) -> tuple[LabelledItem, ...]:
    count = draw(_one_of(kind.memories))
    if not count:
        return ()
    mark = draw(_MARK) if kind.flavour in ("hostile", "any") else ""
    ids = [f"m{number}{mark}" for number in range(1, count + 1)]
    earlier = [(), *(((before,)) for before, _ in pairwise(ids))]
    return tuple(
        LabelledItem(
            id=identifier,
            text=draw(texts.brief(kind.flavour)),
            trust=draw(_TRUST),
            derived_from=source if draw(_SOMETIMES) else (),
        )
        for identifier, source in zip(ids, earlier, strict=True)
    )
