"""Views of a trace that requirements about regions, order and budget share.

Nothing here judges. A view names where it was seen, so that a judgement can say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import LogItem, Message, PrefixItem, RenderedItem
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import Block, Request, Yielded
from contextproof.conformance.contract.session import ModelSpec, Opening
from contextproof.conformance.contract.vocabulary import MESSAGE_TYPES, Place, Region, Slot
from contextproof.conformance.judgement import At
from contextproof.conformance.play.trace import BuildRecord, OpenRecord, Trace
from contextproof.conformance.requirements.telling import at


class Made(NamedTuple):
    """A build that gave a request. ``record`` is its index, ``newly`` what it says gave way."""

    record: int
    build: BuildRecord
    request: Request
    plan: Plan
    log: tuple[LogItem, ...]
    newly: tuple[Yielded, ...]

    @property
    def model(self) -> ModelSpec:
        """The model it was built for (a roomy build's has a larger window than its plan's)."""
        return self.build.context.model

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The request's blocks."""
        return self.request.blocks

    def at(self, item_id: str | None = None) -> At:
        """Its place in the trace."""
        return at(self.record, self.build.context, item_id)


def made(trace: Trace, *purposes: str) -> Iterator[Made]:
    """Builds of some purposes (all, where none is named) that gave a request."""
    for index, build in trace.builds(*purposes):
        if isinstance(build.answer, a.Built):
            yield request_of(trace, index, build, build.answer)


def request_of(trace: Trace, index: int, build: BuildRecord, answer: a.Built) -> Made:
    """One build's request with all that led to it."""
    return Made(
        record=index,
        build=build,
        request=answer.request,
        plan=trace.plans[build.plan],
        log=log_of(trace, build),
        newly=answer.yielded,
    )


def played(trace: Trace) -> Iterator[Made]:
    """Requests that the session depended on, retries included."""
    return made(trace, "main", "retry")


class Beside(NamedTuple):
    """A main build and one made beside it from the same inputs under other circumstances."""

    record: int
    main: BuildRecord
    side_record: int
    side: BuildRecord

    def at(self, item_id: str | None = None) -> At:
        """The main build's place."""
        return at(self.record, self.main.context, item_id)


def beside(trace: Trace, purpose: str) -> Iterator[Beside]:
    """Each main build with its side build of that purpose."""
    latest: tuple[int, BuildRecord] | None = None
    for index, build in trace.builds():
        if build.purpose == "main":
            latest = index, build
        elif build.purpose in ("retry", "probe"):
            latest = None
        elif build.purpose == purpose and latest is not None:
            yield Beside(*latest, index, build)


def log_of(trace: Trace, build: BuildRecord) -> tuple[LogItem, ...]:
    """The log a build was handed, probed entries included."""
    return trace.log[: build.inputs.log_length] + build.inputs.probed


def openings(trace: Trace, *purposes: str) -> Iterator[tuple[int, OpenRecord]]:
    """Sessions opened, of some purposes or of all."""
    for index, record in enumerate(trace.records):
        if isinstance(record, OpenRecord) and (not purposes or record.purpose in purposes):
            yield index, record


def opening_of(trace: Trace) -> Opening | None:
    """What the session was opened with, as handed over; None where the trace does not tell."""
    for _, record in openings(trace, "main"):
        return record.opening
    return trace.plans[0].opening if trace.plans else None


def known_items(trace: Trace, built: Made) -> dict[tuple[str, str], RenderedItem]:
    """Every item that a request could render, by type and id (no working state or checkpoint)."""
    opening, inputs = opening_of(trace), built.build.inputs
    items: list[RenderedItem] = [*prefix_items(opening)] if opening is not None else []
    items += [*inputs.corrections, *inputs.recall, *inputs.environment]
    items += [item for item in built.log if isinstance(item, Message)]
    return {(item.type, item.id): item for item in items}


def prefix_items(opening: Opening) -> tuple[PrefixItem, ...]:
    """Everything a session is opened with, tools that are not permitted included."""
    items: list[PrefixItem] = [*opening.policy, *opening.instructions]
    items += [*opening.tools, *opening.memory]
    return tuple(items)


def region(blocks: Iterable[Block], name: Region) -> tuple[Block, ...]:
    """The blocks of one region, in order."""
    return tuple(block for block in blocks if block.region is name)


def prefix_text(blocks: Iterable[Block]) -> str:
    """Region A as sent."""
    return "".join(block.text for block in region(blocks, Region.A))


def of_type(blocks: Iterable[Block], *types: str) -> tuple[Block, ...]:
    """The blocks of some types, in order."""
    return tuple(block for block in blocks if block.type in types)


def place(block: Block) -> Place | None:
    """A block's station in the order; None where it claims a slot or type that has none."""
    if (block.type in MESSAGE_TYPES) != (block.slot is not None):
        return None
    try:
        return block.place
    except ValueError:
        return None


def is_active_after_current(order: tuple[Place, ...]) -> bool:
    """Whether an engine declares that the active slot stands after the current user message."""
    return order.index(Place.ACTIVE) > order.index(Place.CURRENT)


def slot_blocks(blocks: Iterable[Block], slot: Slot) -> tuple[Block, ...]:
    """The blocks of one slot, in order."""
    return tuple(block for block in blocks if block.slot is slot)


def name(block: Block) -> str:
    """A block in words: its type and the item it renders."""
    return block.type if block.item_id is None else f"{block.type} {block.item_id!r}"


def tokenizer_changed(trace: Trace, index: int) -> bool:
    """Whether another tokenizer was in force before: what was written then is exempt from caps."""
    reached = max((build.plan for place, build in trace.builds("main") if place <= index), default=0)
    return len({plan.opening.model.tokenizer for plan in trace.plans[: reached + 1]}) > 1
