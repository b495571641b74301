"""A case and what came of it: a conversation, a limit, and every answer of the trimmer to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.trimming.dialogue import Conversation, Line, lines, needed
from contextproof.conformance.trimming.formats import Entry, Format, Json, WrongShape, flat
from contextproof.conformance.trimming.sizes import at_most, tokens


class Limit(Frozen):
    """A limit, relative to the conversation, so that it keeps its meaning when that shrinks.

    ``least``: what must not be given up. ``bare``: that without its results, which may be shorter.
    ``whole``: all of it. ``newest``: the least and the last ``n`` messages. ``between``: ``n`` thousandths
    of the way from least to whole. ``room``: more than all of it by any count. ``plus`` tokens are added.
    """

    of: Literal["least", "bare", "whole", "newest", "between", "room"]
    n: Count = 0
    plus: int = 0


class Case(Frozen):
    """What a trimmer is put to: at the end of a conversation, or each time that the model is asked."""

    name: Id = "case"
    conversation: Conversation
    limit: Limit
    is_growing: bool = False


@dataclass(frozen=True)
class Returned:
    """Messages, and whether those handed over were changed."""

    messages: list[Json]
    changed: bool = False


@dataclass(frozen=True)
class Raised:
    """An exception: its type, what it says, and the names of the built-in types it is one of."""

    type: str
    says: str
    kinds: tuple[str, ...] = ()
    changed: bool = False

    def __str__(self) -> str:
        """As Python would tell it."""
        return f"{self.type}: {self.says}" if self.says else self.type


@dataclass(frozen=True)
class Broken:
    """No answer: it hangs, died, or gave what is no list of messages. One sentence."""

    problem: str
    is_silent: bool = False


Answer = Returned | Raised | Broken


@dataclass(frozen=True)
class Setting:
    """What all cases of a run have in common.

    ``takes_system`` says whether the system text is handed over, in the messages or apart.
    """

    format: Format
    tokenizer: str
    takes_system: bool
    corpus: Callable[[str], str]


@dataclass(frozen=True)
class Asked:
    """One call, with the same call made again, in another process, and with its own answer."""

    setting: Setting
    conversation: Conversation
    said: list[Line]
    limit: int
    answer: Answer
    again: Answer | None = None
    elsewhere: Answer | None = None
    of_its_own: Answer | None = None

    @cached_property
    def given(self) -> list[Json]:
        """The messages handed over."""
        return self.setting.format.write(self.said, self.conversation)

    @cached_property
    def entries(self) -> list[Entry]:
        """What was handed over, the system text too where it was."""
        return self._apart + flat(self.setting.format.read(self.given))

    @cached_property
    def least(self) -> list[Entry]:
        """What of it must not be given up."""
        said = self.setting.format.write(needed(self.said), self.conversation)
        return self._apart + flat(self.setting.format.read(said))

    @cached_property
    def returned(self) -> list[list[Entry]] | None:
        """What came back, message by message; none where no messages did."""
        if not isinstance(self.answer, Returned):
            return None
        try:
            return self.setting.format.read(self.answer.messages)
        except WrongShape:
            return None

    @cached_property
    def kept(self) -> list[Entry] | None:
        """What came back, the system text too where it stands apart."""
        return None if self.returned is None else self._apart + flat(self.returned)

    @cached_property
    def cannot_fit(self) -> bool:
        """Whether what must not be given up is more than the limit, whatever is done to results."""
        bare = [entry for entry in self.least if entry.kind != "result"]
        return tokens(bare, self.setting.tokenizer) > self.limit

    @cached_property
    def can_fit(self) -> bool:
        """Whether what must not be given up is within the limit by any count."""
        said = self.setting.format.write(needed(self.said), self.conversation)
        return at_most(said, self.system or "") <= self.limit

    @cached_property
    def has_slack(self) -> bool:
        """Whether what must not be given up is within half of the limit by any count."""
        said = self.setting.format.write(needed(self.said), self.conversation)
        return 2 * at_most(said, self.system or "") <= self.limit

    @cached_property
    def has_room(self) -> bool:
        """Whether all of it is within the limit by any count."""
        return at_most(self.given, self.system or "") <= self.limit

    @property
    def is_over(self) -> bool:
        """Whether it is certainly more than the limit, so that something must go."""
        return self.given_size > self.limit

    @cached_property
    def given_size(self) -> int:
        """Tokens handed over."""
        return self.size(self.entries)

    @property
    def system(self) -> str | None:
        """The system text, where it is handed over apart."""
        return self._apart[0].text if self._apart else None

    def size(self, entries: list[Entry]) -> int:
        """Tokens of some entries."""
        return tokens(entries, self.setting.tokenizer)

    @property
    def _apart(self) -> list[Entry]:
        if self.setting.format.has_system:
            return []
        text = joined_system(self.said)
        return [Entry("system", text)] if text else []


def joined_system(said: list[Line]) -> str:
    """All system texts as one, for a format that has one."""
    return "\n\n".join(line.text for line in said if line.role == "system")


@dataclass
class Session:
    """A case as it was played."""

    case: Case
    asked: list[Asked] = field(default_factory=list)


def said_in(case: Case, setting: Setting) -> list[Line]:
    """The messages of a case, without a system text where the trimmer is not told it."""
    conversation = case.conversation
    if not setting.takes_system:
        conversation = conversation.model_copy(update={"system": ()})
    return lines(conversation, setting.corpus)


def tokens_of(limit: Limit, said: list[Line], case: Case, setting: Setting) -> int:
    """The limit in tokens, at the least one."""

    def size(some: list[Line]) -> int:
        asked = Asked(setting, case.conversation, some, 0, Broken(""))
        return asked.size(asked.entries)

    least, whole = size(needed(said)), size(said)
    match limit.of:
        case "least":
            chosen = least
        case "bare":
            chosen = size([replace(line, results=()) for line in needed(said)])
        case "whole":
            chosen = whole
        case "newest":
            tail = said[max(0, len(said) - limit.n) :]
            chosen = size([*(line for line in needed(said) if line not in tail), *tail])
        case "between":
            chosen = least + (whole - least) * limit.n // 1000
        case "room":
            chosen = at_most(setting.format.write(said, case.conversation), joined_system(said))
    return max(1, chosen + limit.plus)
