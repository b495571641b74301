"""Words for what changes outside: permissions, tools, memory, the clock, routing, forced revocation."""

from __future__ import annotations

import json
from functools import cache
from typing import Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.play.scenario import (
    ChangeRouting,
    CorrectMemory,
    RegisterTools,
    RevokeByForce,
    ScenarioModel,
    ScenarioTool,
    SetClock,
    SetPermissions,
    Text,
    WriteMemory,
)
from contextproof.strategies import texts
from contextproof.strategies.author import ANOTHERS, Asked, Author, Links, Move, Wording
from contextproof.strategies.openings import SCHEMAS, TOKENIZERS, TRUSTS

CLOCKS = (
    "2026-03-28T00:00:01+01:00",
    "2026-03-27T23:59:59+01:00",
    "2026-03-29T03:00:00+02:00",
    "2026-03-31T23:59:59+02:00",
    "2026-04-01T00:00:00+02:00",
    "2026-12-31T23:59:59-11:00",
    "2028-02-29T12:00:00+14:00",
    "2026-03-27T08:00:00+01:00",
)
"""Past midnight, the hour that summer time skips, the month's end, the year's, a leap day, back."""


# --- Permissions ------------------------------------------------------------------------------------


def revokes() -> SearchStrategy[Move]:
    """A tool is revoked softly, and maybe called afterwards, alone or beside another."""
    return st.builds(_revokes, st.sampled_from((0, 1, 2, 3)), st.sampled_from(((), (0,), (0, 1))))


def _revokes(which: int, called: tuple[int, ...]) -> Move:
    def move(author: Author) -> None:
        gone = author.tool(which)
        author.permitted = tuple(name for name in author.permitted if name != gone)
        author.add(SetPermissions(permissions=author.permitted))
        if called:
            author.reply("", [Asked(which + further) for further in called])

    return move


def grants() -> SearchStrategy[Move]:
    """All tools are permitted, or only one, or none; granted ones may never have been pinned."""
    return st.sampled_from((_permit_all, _permit_nobodys, _permit_one, _permit_none))


def _permit(author: Author, names: tuple[Text, ...]) -> None:
    author.permitted = names
    author.add(SetPermissions(permissions=names))


def _permit_all(author: Author) -> None:
    _permit(author, tuple(dict.fromkeys(tool.name for tool in (*author.opening.tools, *author.tools))))


def _permit_one(author: Author) -> None:
    _permit(author, (author.tool(1),))


def _permit_none(author: Author) -> None:
    _permit(author, ())


def _permit_nobodys(author: Author) -> None:
    """A tool is granted that is in no prefix, and called."""
    _permit(author, (*author.permitted, author.tool(ANOTHERS)))
    author.reply("", [Asked(ANOTHERS)])


# --- Tools ------------------------------------------------------------------------------------------


@cache
def reconnects(flavour: texts.Flavour) -> SearchStrategy[Move]:
    """Tool sources connect anew: reordered, keys reordered, reworded, one gone, one new, all gone."""
    new = st.builds(_connects_new, texts.brief(flavour), st.sampled_from(SCHEMAS))
    reworded = st.builds(_rewords, texts.brief(flavour), st.integers(0, 2))
    return st.sampled_from((_reverse, _reverse_keys, _lose_one, _lose_all, _reconnect)) | reworded | new


def _register(author: Author, tools: tuple[ScenarioTool, ...]) -> None:
    author.tools = tools
    author.add(RegisterTools(tools=tools))


def _reconnect(author: Author) -> None:
    _register(author, author.opening.tools)


def _reverse(author: Author) -> None:
    _register(author, tuple(reversed(author.tools)))


def _reverse_keys(author: Author) -> None:
    _register(
        author,
        tuple(
            tool.model_copy(update={"parameters_json": reversed_keys(tool.parameters_json)})
            for tool in author.tools
        ),
    )


def reversed_keys(parameters_json: str) -> str:
    """The same schema with its outermost keys the other way round."""
    return json.dumps(dict(reversed(json.loads(parameters_json).items())), ensure_ascii=False)


def _lose_one(author: Author) -> None:
    _register(author, author.tools[1:])


def _lose_all(author: Author) -> None:
    _register(author, ())


def _rewords(description: Text, which: int) -> Move:
    def move(author: Author) -> None:
        which_tool = which % len(author.tools) if author.tools else 0
        _register(
            author,
            tuple(
                tool.model_copy(update={"description": description, "source": "reconnected"})
                if n == which_tool
                else tool
                for n, tool in enumerate(author.tools)
            ),
        )

    return move


def _connects_new(description: Text, schema: str) -> Move:
    def move(author: Author) -> None:
        identifier = author.new_id("t")
        tool = ScenarioTool(
            id=identifier, name=f"new_{identifier}", description=description, parameters_json=schema
        )
        _register(author, (tool, *author.tools))
        _permit(author, (*author.permitted, tool.name))

    return move


# --- Memory and clock -------------------------------------------------------------------------------


@cache
def remembers(flavour: texts.Flavour) -> SearchStrategy[Move]:
    """A memory is written in mid-session; it stays out of the snapshot."""
    return st.builds(_remembers, texts.brief(flavour), st.sampled_from(TRUSTS))


def _remembers(text: Wording, trust: Trust | None) -> Move:
    def move(author: Author) -> None:
        identifier = author.new_id("m")
        author.add(WriteMemory(id=identifier, text=author.word(text), trust=trust))
        author.memories.append(identifier)

    return move


@cache
def corrects(wordings: SearchStrategy[Text]) -> SearchStrategy[Move]:
    """A memory is corrected, the same one again and again or another; one is written if there is none."""
    return st.builds(
        corrected,
        wordings,
        st.sampled_from((0, 0, 1, 2)),
        st.sampled_from(TRUSTS),
        st.sampled_from(((), (), (0,), (2,))),
    )


def corrected(text: Wording, which: int = 0, trust: Trust | None = None, links: Links = ()) -> Move:
    """A correction of one memory item."""

    def move(author: Author) -> None:
        if not author.memories:
            _remembers("x", None)(author)
        author.add(
            CorrectMemory(
                id=author.new_id("x"),
                memory_id=author.memories[which % len(author.memories)],
                text=author.word(text),
                trust=trust,
                derived_from=author.derived(links),
            )
        )

    return move


def passes_time() -> SearchStrategy[Move]:
    """The clock moves: over midnight, a month's end, a change to summer time, a leap day; or back."""
    return st.sampled_from(CLOCKS).map(_sets_clock)


def _sets_clock(clock: str) -> Move:
    return lambda author: author.add(SetClock(clock=clock))


# --- Routing and force ------------------------------------------------------------------------------

Aspect = Literal[
    "name", "provider", "endpoint", "reasoning_mode", "tokenizer", "larger", "smaller", "back", "all", "tiny"
]
"""What differs in the model routed to. ``back`` is the model that the session opened with; the window of
a ``tiny`` one has no room for the prefix, so that the session stays where it was."""

ASPECTS: tuple[Aspect, ...] = (
    "name",
    "provider",
    "endpoint",
    "reasoning_mode",
    "tokenizer",
    "tokenizer",
    "larger",
    "smaller",
    "back",
    "all",
    "tiny",
)
_LEAST_BODY, _NO_BODY = 1_200, 500


def routes(aspects: tuple[Aspect, ...] = ASPECTS) -> SearchStrategy[Move]:
    """The session is routed to a model that differs in one respect from the one before, or in all."""
    return st.sampled_from(aspects).map(_routes)


def _routes(aspect: Aspect) -> Move:
    def move(author: Author) -> None:
        model = routed(author.model, author.opening.model, aspect, len(author.steps))
        author.add(ChangeRouting(model=model))
        if aspect != "tiny":
            author.model = model

    return move


def routed(model: ScenarioModel, first: ScenarioModel, aspect: Aspect, number: int) -> ScenarioModel:
    """A model that differs in one respect. Another tokenizer or window comes with another name.

    ``number`` keeps the names of several changes apart.
    """
    match aspect:
        case "back":
            return first
        case "all":
            for each in ("tokenizer", "provider", "endpoint", "reasoning_mode"):
                model = routed(model, first, each, number)
            return model
        case "tokenizer":
            other = TOKENIZERS[1 - TOKENIZERS.index(model.tokenizer)]
            return model.model_copy(update={"tokenizer": other, "name": f"{first.name} by {other}"})
        case "larger" | "smaller":
            return _resized(model, aspect == "larger")
        case "tiny":
            name = f"{model.name.split('/')[0]}/{_NO_BODY}"
            return model.model_copy(update={"window": None, "body_tokens": _NO_BODY, "name": name})
        case _:
            return model.model_copy(update={aspect: f"{aspect}-{number}"})


def _resized(model: ScenarioModel, larger: bool) -> ScenarioModel:
    size = "body_tokens" if model.body_tokens is not None else "window"
    before = (model.body_tokens if model.body_tokens is not None else model.window) or 0
    after = before * 2 if larger else max(before // 2, _LEAST_BODY)
    return model.model_copy(update={size: after, "name": f"{model.name.split('/')[0]}/{after}"})


def forces() -> SearchStrategy[Move]:
    """The operator withdraws a tool at once: pinned, pinned and twice, or not pinned at all."""
    return st.builds(_forces, st.sampled_from((0, 1, 2, 0, ANOTHERS)), st.booleans())


def _forces(which: int, twice: bool) -> Move:
    def move(author: Author) -> None:
        name = author.tool(which)
        author.permitted = tuple(permitted for permitted in author.permitted if permitted != name)
        for _ in range(1 + twice):
            author.add(RevokeByForce(tool=name))

    return move
