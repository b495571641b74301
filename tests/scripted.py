"""What the tests of scripted sessions look into them with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextproof import scenarios
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.play import scenario as s
from contextproof.conformance.play.recipes import cycle

FIFTY = scenarios.load("fifty_turns")


def steps_of(kind: type[Any], scenario: s.Scenario = FIFTY) -> list[Any]:
    return [step for step in scenario.steps if isinstance(step, kind)]


def calls() -> list[s.Call]:
    return [call for reply in steps_of(s.ModelReplies) for call in reply.calls]


def resolved(text: s.Text) -> str:
    """The text as every builder would see it, but for recipes of its own blocks."""
    if isinstance(text, str):
        return text
    return "".join(_piece(piece) for piece in text)


def _piece(piece: s.Piece) -> str:
    match piece:
        case s.Literally():
            return piece.text
        case s.Repeat():
            return piece.text * piece.times
        case s.FromCorpus():
            return cycle(scenarios.corpus(piece.name), piece.start, piece.characters)
        case _:
            return ""


def texts(value: object) -> Iterator[s.Text]:
    """Every text and every piece's text anywhere below a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for entry in value:
            yield from texts(entry)
    elif isinstance(value, Frozen):
        for name in type(value).model_fields:
            yield from texts(getattr(value, name))


def pieces(kind: type[Any], value: object = FIFTY) -> Iterator[Any]:
    """Every recipe of a kind anywhere below a value."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, tuple):
        for entry in value:
            yield from pieces(kind, entry)
    elif isinstance(value, Frozen):
        for name in type(value).model_fields:
            yield from pieces(kind, getattr(value, name))
