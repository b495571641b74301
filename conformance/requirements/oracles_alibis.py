"""Who is suspect of being passed on, and what an engine may say anyway: the facts behind `first_leak`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from contextproof.conformance.contract.items import (
    Message,
    RenderedItem,
    ResultStatus,
    ToolCall,
    ToolResult,
    content,
    source,
)
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.play.trace import BuildRecord, CompactRecord, Trace
from contextproof.conformance.requirements.oracles_canaries import Suspect
from contextproof.conformance.requirements.oracles_rendering import Lookup, seen_blocks

#: Where in the records an item is taken to have been known from, if it came with the opening.
_FROM_THE_START = -1
#: Stands between texts that are searched as one, so that no piece is found across two of them.
_BETWEEN = "\x00\ufdd0\x00"


class Alibis:
    """What stands in a trace for and against an engine, read once."""

    def __init__(self, trace: Trace, lookup: Lookup) -> None:
        self._trace = trace
        self._lookup = lookup
        self._entered = _entered(trace)
        self._earlier: dict[int, str] = {}
        self._sent = [(seen.place, seen.block.text) for seen in seen_blocks(trace)]

    def suspects(self, record: BuildRecord | CompactRecord) -> list[Suspect]:
        """Texts, arguments, sources and tool names of every untrusted item that the call was handed."""
        trust = self._lookup.trust(record)
        return [
            Suspect(item.id, text)
            for item in self._handed(record)
            if trust[item.id] is Trust.EXTERNAL_UNTRUSTED
            for text in _texts(item)
        ]

    def innocent(
        self, record: BuildRecord | CompactRecord, also: Iterable[str]
    ) -> Callable[[Suspect, str], bool]:
        """Whether a piece of a suspect's text may be said anyway; ``also`` are further such texts."""
        trust = self._lookup.trust(record)
        handed = list(self._handed(record))
        trusted = [
            item
            for item in handed
            if trust[item.id] is not Trust.EXTERNAL_UNTRUSTED and not _is_own_denial(item)
        ]
        allowed = [
            *also,
            *(text for item in trusted for text in _texts(item)),
            *(item.id for item in handed),
            record.inputs.live.clock,
            *record.inputs.live.ids,
        ]

        always = _BETWEEN.join(allowed)

        def is_innocent(suspect: Suspect, piece: str) -> bool:
            # Without its edges: what an engine writes around a name is not the suspect's.
            said = piece.strip()
            return said in always or said in self._sent_before(suspect)

        return is_innocent

    def _sent_before(self, suspect: Suspect) -> str:
        """All that was sent before the suspect came in, as one text."""
        entered = self._entered.get(suspect.item_id, _FROM_THE_START)
        if entered not in self._earlier:
            earlier = dict.fromkeys(text for index, text in self._sent if index < entered)
            self._earlier[entered] = _BETWEEN.join(earlier)
        return self._earlier[entered]

    def _handed(self, record: BuildRecord | CompactRecord) -> Iterator[RenderedItem]:
        opening, given = self._trace.plans[record.plan].opening, record.inputs
        prefix: tuple[RenderedItem, ...] = (*opening.policy, *opening.instructions)
        standing: tuple[RenderedItem, ...] = (*given.corrections, *given.recall, *given.environment)
        yield from (*prefix, *opening.tools, *opening.memory)
        yield from (item for item in self._trace.log[: given.log_length] if isinstance(item, Message))
        yield from standing


def _is_own_denial(item: RenderedItem) -> bool:
    """Whether the engine wrote it itself, about a call that may be untrusted: no alibi for its words."""
    return isinstance(item, ToolResult) and item.status is ResultStatus.DENIED


def _entered(trace: Trace) -> dict[str, int]:
    """Index of the first call that was handed an item, by id, for all that came after the opening."""
    entered: dict[str, int] = {}
    known = 0
    for index, record in enumerate(trace.records):
        if not isinstance(record, BuildRecord | CompactRecord):
            continue
        given = record.inputs
        new = trace.log[known : given.log_length]
        known = max(known, given.log_length)
        for item in (*new, *given.corrections, *given.recall, *given.environment):
            entered.setdefault(item.id, index)
    return entered


def _texts(item: RenderedItem) -> tuple[str, ...]:
    if isinstance(item, ToolCall):
        return item.arguments, item.name, source(item)
    return content(item), source(item)
