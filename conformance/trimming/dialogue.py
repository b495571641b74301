"""Conversations as data, in no provider's format: valid by construction, and recipes where texts are long.

A call and its result are one thing here, so that whatever is left out of a conversation leaves another
conversation. `lines` gives the messages in the order in which they were said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from contextproof.conformance.contract.base import Frozen, Id
from contextproof.conformance.play.recipes import cycle
from contextproof.conformance.play.scenario import FromCorpus, Literally, Piece, Repeat, Text

Trait = Literal["recurring ids", "parts", "developer"]
"""Call ids counted anew in every turn, as some providers do; texts as lists of parts; system texts in a
developer's role. The latter two where a format knows both ways."""


class ToolUse(Frozen):
    """One call with its one argument, and what came back."""

    tool: Id = "search"
    argument: Text = ""
    result: Text = ""


class Step(Frozen):
    """An assistant message with calls, and their results, which may come back in reverse."""

    says: Text = ""
    uses: tuple[ToolUse, ...] = Field(min_length=1)
    is_reversed: bool = False


class Turn(Frozen):
    """A user message, steps with tools, and the closing message; without one the turn was interrupted."""

    user: Text
    steps: tuple[Step, ...] = ()
    answer: tuple[Text, ...] = Field(default=(), max_length=1)


class Conversation(Frozen):
    """What was said, up to where the model is to be asked again: the last turn has no answer yet.

    Attributes:
        system: the system texts, a message each where a format has them among its messages.
        traits: how it is written down, apart from the usual.
    """

    system: tuple[Text, ...] = ()
    turns: tuple[Turn, ...] = ()
    traits: tuple[Trait, ...] = ()


@dataclass(frozen=True)
class Called:
    """A call as an assistant message makes it."""

    id: str
    tool: str
    argument: str


@dataclass(frozen=True)
class Answered:
    """The result of a call."""

    id: str
    text: str


@dataclass(frozen=True)
class Line:
    """One message: a text of some role, an assistant's calls, or a batch of results."""

    role: Literal["system", "user", "assistant", "results"]
    text: str = ""
    calls: tuple[Called, ...] = ()
    results: tuple[Answered, ...] = ()


def lines(conversation: Conversation, corpus: Callable[[str], str]) -> list[Line]:
    """The messages of a conversation, recipes resolved."""
    return list(_lines(conversation, lambda text: resolved(text, corpus)))


def _lines(conversation: Conversation, text: Callable[[Text], str]) -> Iterator[Line]:
    for system in conversation.system:
        yield Line("system", text(system))
    number = 0
    for index, turn in enumerate(conversation.turns):
        number = 0 if "recurring ids" in conversation.traits else number
        yield Line("user", text(turn.user))
        for step in turn.steps:
            calls = tuple(
                Called(f"call_{number + n}", use.tool, text(use.argument)) for n, use in enumerate(step.uses)
            )
            number += len(calls)
            results = tuple(
                Answered(call.id, text(use.result)) for call, use in zip(calls, step.uses, strict=True)
            )
            yield Line("assistant", text(step.says), calls=calls)
            yield Line("results", results=results[::-1] if step.is_reversed else results)
        if index + 1 < len(conversation.turns):
            yield from (Line("assistant", text(answer)) for answer in turn.answer)


def request_points(said: list[Line]) -> list[int]:
    """How many messages there were each time that the model was asked: at the least once, at the end."""
    points = [n for n, line in enumerate(said, 1) if line.role in {"user", "results"}]
    return points or [len(said)]


def needed(said: list[Line]) -> list[Line]:
    """What must not be given up: system text, the current user message, and the calls being worked on.

    These are the calls of the latest assistant message of the current turn, with their results.
    """
    kept = [line for line in said if line.role == "system"]
    current = max((n for n, line in enumerate(said) if line.role == "user"), default=None)
    if current is not None:
        kept.append(said[current])
        if said[-1].role == "results":
            kept += said[-2:]
    return kept


def blanks(conversation: Conversation) -> int:
    """How many texts are blank: a fault that needs none is better shown with words."""
    texts = [*conversation.system]
    for turn in conversation.turns:
        texts += [turn.user, *turn.answer]
        texts += [text for step in turn.steps for use in step.uses for text in (use.argument, use.result)]
    return sum(isinstance(text, str) and not text.strip() for text in texts)


def resolved(text: Text, corpus: Callable[[str], str]) -> str:
    """The characters of a text."""
    return text if isinstance(text, str) else "".join(_piece(piece, corpus) for piece in text)


def _piece(piece: Piece, corpus: Callable[[str], str]) -> str:
    match piece:
        case Literally():
            return piece.text
        case Repeat():
            return piece.text * piece.times
        case FromCorpus():
            return cycle(corpus(piece.name), piece.start, piece.characters)
        case _:
            return ""  # what a context engine renders has no counterpart here
