"""Counterexamples as a page shows them: steps, what came of them, and blocks with their envelopes drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from contextproof.conformance.certification.record import CounterexampleLine
from contextproof.conformance.certification.timeline import Happening
from contextproof.conformance.contract.request import Block, Extent
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.report.escape import visible

#: Characters of a block, and of a step, that are shown; the rest is counted.
_BLOCK, _STEP = 1_500, 160


@dataclass(frozen=True)
class Segment:
    """A piece of a block's text: what part of its envelope it is, and how it is shown."""

    kind: str
    text: str


@dataclass(frozen=True)
class BlockView:
    """A block of the offending request."""

    place: str
    block: Block
    is_place: bool
    segments: tuple[Segment, ...]
    hidden: int


@dataclass(frozen=True)
class StepView:
    """A step of the scenario, and what came of it."""

    number: int
    title: str
    happenings: tuple[Happening, ...]

    @property
    def is_place(self) -> bool:
        """Whether the violation is here."""
        return any(one.is_place for one in self.happenings)


def step_views(line: CounterexampleLine) -> list[StepView]:
    """The opening, then every step in order."""
    scenario = line.counterexample.scenario
    by_step = {
        step: tuple(own)
        for step, own in groupby(
            sorted(line.timeline.happenings, key=lambda one: one.step), key=lambda one: one.step
        )
    }
    return [
        StepView(number + 1, _title(scenario, number), by_step.get(number, ()))
        for number in range(-1, len(scenario.steps))
    ]


def _title(scenario: Scenario, number: int) -> str:
    if number < 0:
        opening = scenario.opening
        return (
            f"the session opens: {len(opening.policy)} policy, {len(opening.instructions)} instructions, "
            f"{len(opening.tools)} tools, {len(opening.memory)} memory items"
        )
    step = scenario.steps[number]
    fields = step.model_dump(mode="json", exclude_defaults=True, exclude={"step"})
    told = "; ".join(f"{name} {_short(value)}" for name, value in fields.items())
    return f"{step.step.replace('_', ' ')}{': ' if told else ''}{told}"


def _short(value: object) -> str:
    text = visible(value if isinstance(value, str) else str(value))
    return text if len(text) <= _STEP else f"{text[:_STEP]}… ({len(text):,} characters)"


def block_views(line: CounterexampleLine) -> list[BlockView]:
    """Blocks of the offending request; nothing where the violation is in none."""
    request = line.timeline.request
    at = line.counterexample.violation.at.item_id
    return [] if request is None else [_block(block, at) for block in request.blocks]


def _block(block: Block, at: str | None) -> BlockView:
    segments, hidden = _cut(segments_of(block))
    place = block.slot.value if block.slot is not None else block.type.replace("_", " ")
    return BlockView(
        place=place,
        block=block,
        is_place=at is not None and block.item_id == at,
        segments=segments,
        hidden=hidden,
    )


def segments_of(block: Block) -> Iterator[Segment]:
    """The text in pieces, each named by the innermost extent that covers it. Extents may lie anywhere."""
    data = block.text.encode()
    extents = [(extent, kind) for extent, kind in _extents(block) if extent.end <= len(data)]
    edges = sorted({0, len(data), *(edge for extent, _ in extents for edge in (extent.start, extent.end))})
    for start, end in pairwise(edges):
        covering = [(e.end - e.start, kind) for e, kind in extents if e.start <= start and end <= e.end]
        kind = min(covering)[1] if covering else "content"
        yield Segment(kind, data[start:end].decode("utf-8", "replace"))


def _extents(block: Block) -> Iterator[tuple[Extent, str]]:
    envelope, pointer = block.envelope, block.pointer
    if envelope is not None:
        yield envelope.opening, "opening"
        yield envelope.closing, "closing"
        yield envelope.nonce, "nonce"
        yield envelope.closing_nonce, "nonce"
        yield envelope.trust, "trust"
    if pointer is not None:
        yield pointer.reference, "reference"
        if pointer.excerpt is not None:
            yield pointer.excerpt, "excerpt"


def _cut(segments: Iterator[Segment]) -> tuple[tuple[Segment, ...], int]:
    """Segments as shown, up to so many characters of content; and how many are left out.

    Envelopes are shown beside, so that the end of a long block can be seen.
    """
    shown: list[Segment] = []
    left, hidden = _BLOCK, 0
    for segment in segments:
        room = _BLOCK if segment.kind not in ("content", "excerpt") else max(0, left)
        text, rest = segment.text[:room], len(segment.text) - room
        left, hidden = left - len(text), hidden + rest
        shown.append(
            Segment(segment.kind, _multiline(text) + (f" … {rest:,} characters … " if rest > 0 else ""))
        )
    return tuple(shown), hidden


def _multiline(text: str) -> str:
    return "\n".join(visible(line) for line in text.split("\n"))
