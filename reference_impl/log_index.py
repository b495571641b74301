"""What a build must know of a log, gathered once: turns, pairs, trust, and each message as rendered.

An index is frozen. The index of a longer log shares all finished turns with the shorter one's, so
that a build costs what the turn added, and joining.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from contextproof.conformance.contract.answers import InvalidInput, InvalidKind, Violation
from contextproof.conformance.contract.items import (
    AssistantMessage,
    LogItem,
    Message,
    ToolResult,
    UndeclaredItem,
    UserMessage,
)
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import Opening
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.trust import effective_trust, opening_trust
from contextproof.conformance.contract.vocabulary import USER_MESSAGE, Slot, Trust
from contextproof.reference_impl.estimator import block_tokens
from contextproof.reference_impl.memo import FoldMemo
from contextproof.reference_impl.pairing import Step, violations
from contextproof.reference_impl.rendering import item_block

#: What is known by id is kept in two layers, so that a turn copies only the newer, smaller one.
_NEWER_LAYER: Final = 1_024


@dataclass(frozen=True, slots=True)
class Entry:
    """A message of the log, as it is rendered in the current turn.

    Attributes:
        position: its index in the log. ``number``: how many messages stand before it.
        trust: its effective trust.
        unit: position of the message that its pairing unit starts with.
        block: it verbatim, in slot active (or current).
        tokens: what the block costs, exactly; the same in every slot.
        result_tokens: content tokens, for a result that may be truncated; else 0.
    """

    position: int
    number: int
    item: Message
    trust: Trust
    unit: int
    block: Block
    tokens: int
    result_tokens: int

    @property
    def is_result(self) -> bool:
        """Whether it is a result that may become a pointer."""
        return isinstance(self.item, ToolResult) and self.item.can_truncate


@dataclass(frozen=True)
class Turn:
    """A user message with everything up to the next, or what the log holds before the first.

    ``tokens_before`` and ``results_before`` sum `Entry.tokens` and `Entry.result_tokens` over all
    earlier turns.
    """

    entries: tuple[Entry, ...]
    tokens_before: int
    results_before: int

    @property
    def start(self) -> int:
        """Position of its first entry in the log."""
        return self.entries[0].position

    @property
    def end(self) -> int:
        """The position after its last entry."""
        return self.entries[-1].position + 1

    @cached_property
    def tokens(self) -> int:
        """What all of it costs verbatim."""
        return sum(entry.tokens for entry in self.entries)

    @cached_property
    def result_tokens(self) -> int:
        """Content tokens of its results."""
        return sum(entry.result_tokens for entry in self.entries)

    @cached_property
    def results(self) -> tuple[Entry, ...]:
        """Its results that may become pointers."""
        return tuple(entry for entry in self.entries if entry.is_result)

    @cached_property
    def problem(self) -> Violation | None:
        """The first thing wrong with its pairs."""
        steps = (Step(e.item.type, e.item.id, getattr(e.item, "call_id", "")) for e in self.entries)
        return next(violations(steps), None)


@dataclass(frozen=True)
class LogIndex:
    """A log's messages by turn, and what is known of them by id.

    Attributes:
        turns: in order; the first may be what the log holds before any user message.
        history: the messages of finished turns as rendered, in slot history, by `Entry.number`.
        trust: effective trust of the opening's items and the log's messages, by id.
        by_id: messages by id.
        undeclared: the first type in the log that nothing declares.
        torn: the first thing wrong with the pairs of a finished turn.
    """

    turns: tuple[Turn, ...]
    history: tuple[Block, ...]
    trust: ChainMap[str, Trust]
    by_id: ChainMap[str, Entry]
    length: int = 0
    undeclared: str | None = None
    torn: Violation | None = None

    @property
    def current(self) -> Turn | None:
        """The turn that the latest user message started."""
        last = self.turns[-1] if self.turns else None
        return last if last and isinstance(last.entries[0].item, UserMessage) else None

    @property
    def problem(self) -> InvalidInput | None:
        """Why no request can be built from this log, if so."""
        if self.undeclared is not None:
            return InvalidInput(kind=InvalidKind.UNDECLARED_TYPE, subject=self.undeclared)
        torn = self.torn or (self.turns[-1].problem if self.turns else None)
        if torn is not None:
            return InvalidInput(kind=torn.kind, subject=torn.subject, detail=torn.detail)
        if self.current is None:
            detail = "there is no user message to build a request for"
            return InvalidInput(kind=InvalidKind.MALFORMED, subject=USER_MESSAGE, detail=detail)
        return None


_MEMO: FoldMemo[Opening, LogIndex] = FoldMemo()


def index_log(opening: Opening, log: tuple[LogItem, ...]) -> LogIndex:
    """The index of a log, in a session whose plan has this opening."""
    return _MEMO.fold(
        opening,
        log,
        start=lambda: empty_index(opening),
        extend=lambda index, more: extended(opening, index, more),
    )


def empty_index(opening: Opening) -> LogIndex:
    """The index of an empty log."""
    trust = ChainMap[str, Trust]({}, opening_trust(opening))
    return LogIndex(turns=(), history=(), trust=trust, by_id=ChainMap({}, {}))


def extended(opening: Opening, index: LogIndex, more: Iterable[LogItem]) -> LogIndex:
    """The index of a log with more entries, from the index of the log."""
    growth = _Growth(opening, index)
    for item in more:
        growth.add(item)
    return growth.index()


class _Growth:
    """An index being extended: the entries of the last turn, and what is newly known by id."""

    def __init__(self, opening: Opening, index: LogIndex) -> None:
        self._opening = opening
        self._base = index
        self._turns = list(index.turns)
        self._finished: list[Block] = []
        self._open = list(self._turns.pop().entries) if self._turns else []
        self._trust: ChainMap[str, Trust] = index.trust.new_child()
        self._by_id: dict[str, Entry] = {}
        self._position = index.length
        self._number = self._open[-1].number + 1 if self._open else 0
        self._unit = self._open[-1].unit if self._open else 0
        self._undeclared = index.undeclared
        self._torn = index.torn

    def add(self, item: LogItem) -> None:
        """The log's next entry."""
        if isinstance(item, UserMessage):
            self._finish_turn()
        if isinstance(item, Message):
            self._open.append(self._entry(item))
            self._number += 1
        elif isinstance(item, UndeclaredItem):
            self._undeclared = self._undeclared or item.type
        self._position += 1

    def index(self) -> LogIndex:
        """The index with all that was added; whether its last turn is over, the next entry says."""
        turns = (*self._turns, self._turn()) if self._open else tuple(self._turns)
        return LogIndex(
            turns=turns,
            history=(*self._base.history, *self._finished) if self._finished else self._base.history,
            trust=_layered(self._base.trust, dict(self._trust.maps[0])),
            by_id=_layered(self._base.by_id, self._by_id),
            length=self._position,
            undeclared=self._undeclared,
            torn=self._torn,
        )

    def _finish_turn(self) -> None:
        if self._open:
            finished = self._turn()
            self._torn = self._torn or finished.problem
            self._turns.append(finished)
            self._finished += (entry.block.model_copy(update={"slot": Slot.HISTORY}) for entry in self._open)
            self._open = []

    def _turn(self) -> Turn:
        before = self._turns[-1] if self._turns else None
        return Turn(
            entries=tuple(self._open),
            tokens_before=before.tokens_before + before.tokens if before else 0,
            results_before=before.results_before + before.result_tokens if before else 0,
        )

    def _entry(self, item: Message) -> Entry:
        model = self._opening.model
        trust = effective_trust(item, self._trust)
        self._trust[item.id] = trust
        if isinstance(item, UserMessage | AssistantMessage):
            self._unit = self._position
        slot = Slot.CURRENT if isinstance(item, UserMessage) else Slot.ACTIVE
        block = item_block(self._opening.platform_secret, item, trust, slot)
        held = item.text if isinstance(item, ToolResult) and item.can_truncate else ""
        entry = Entry(
            position=self._position,
            number=self._number,
            item=item,
            trust=trust,
            unit=self._unit,
            block=block,
            tokens=block_tokens(model, block),
            result_tokens=count(model.tokenizer, held),
        )
        self._by_id[item.id] = entry
        return entry


Known = TypeVar("Known")


def _layered(base: ChainMap[str, Known], more: dict[str, Known]) -> ChainMap[str, Known]:
    """What is known by id, with more added. Layers are never changed, only replaced."""
    newer, older = base.maps
    if len(newer) + len(more) > _NEWER_LAYER:
        return ChainMap({}, {**older, **newer, **more})
    return ChainMap({**newer, **more}, older)
