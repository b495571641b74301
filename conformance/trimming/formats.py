"""What a provider's message format has to give: writing lines, and reading messages as entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from contextproof.conformance.trimming.dialogue import Conversation, Line

Json = Any
FormatName = Literal["openai", "anthropic"]
Kind = Literal["system", "user", "assistant", "call", "result"]


class WrongShape(ValueError):
    """What a trimmer gave back is not messages of the format; the sentence says where and why."""


@dataclass(frozen=True)
class Entry:
    """The smallest thing that can be kept or dropped: a text, a call, or a result.

    ``text`` is the text, a call's arguments as JSON, or a result's text; ``id`` and ``tool`` are a call's
    or result's.
    """

    kind: Kind
    text: str
    id: str = ""
    tool: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether it is a text that says nothing: providers refuse those, so they may be left out."""
        return self.kind in {"system", "user", "assistant"} and not self.text.strip()


@dataclass(frozen=True)
class Format:
    """A message format.

    Attributes:
        write: messages of the format, the system text among them only if the format has it there.
        read: the entries of each message. Raises WrongShape.
        has_system: whether messages hold the system text. Else it is handed over apart, or not at all.
        opens_with_user: whether the provider refuses messages that begin with anything else.
    """

    name: FormatName
    write: Callable[[Sequence[Line], Conversation], list[Json]]
    read: Callable[[Json], list[list[Entry]]]
    has_system: bool
    opens_with_user: bool


def messages_of(returned: Json) -> list[dict[str, Json]]:
    """The messages that were returned. Raises WrongShape where they are no list of objects."""
    if not isinstance(returned, list):
        raise WrongShape(f"it returned {kind_of(returned)}, not a list of messages")
    for index, message in enumerate(returned):
        if not isinstance(message, dict):
            raise WrongShape(f"message {index} is {kind_of(message)}, not an object")
    return returned


def text_in(value: Json, where: str) -> str:
    """A text. Raises WrongShape."""
    if not isinstance(value, str):
        raise WrongShape(f"{where} is {kind_of(value)}, not a text")
    return value


def kind_of(value: Json) -> str:
    """What a JSON value is, in a word."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "nothing"}
    return names.get(type(value), "a number")


def flat(messages: Sequence[Sequence[Entry]]) -> list[Entry]:
    """All entries, in order."""
    return [entry for message in messages for entry in message]
