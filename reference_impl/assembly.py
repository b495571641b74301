"""Putting a request's blocks together, in one fixed and total order (decision 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import Place
from contextproof.reference_impl.draft import Draft
from contextproof.reference_impl.regions import BODY_PLACES


def assembled(draft: Draft) -> tuple[Block, ...]:
    """The blocks of a drafted request: the prefix as planned, then the body, place by place.

    A long session's history is joined in one go, not block by block: it is most of what a request is.
    """
    selection = draft.selection
    loose = (draft.rendered[entry.number] for entry in selection.loose)
    by_place: dict[Place, Iterable[Block]] = {
        **draft.standing,
        Place.HISTORY: chain(loose, _rendered_whole(draft)),
        Place.ACTIVE: (entry.block for entry in selection.active),
        Place.RECALL: (item.block for item in draft.recall),
        Place.CURRENT: (selection.current.block,) if selection.current else (),
    }
    blocks = list(draft.plan.blocks)
    starts: dict[Place, int] = {}
    for place in BODY_PLACES:
        starts[place] = len(blocks)
        blocks.extend(by_place[place])
    for at, pointer in _places(draft, starts):
        blocks[at] = pointer
    return tuple(blocks)


def _rendered_whole(draft: Draft) -> Iterable[Block]:
    """Blocks of the turns of which nothing is covered."""
    whole = draft.selection.whole
    if not whole:
        return ()
    first, last = whole[0].entries[0].number, whole[-1].entries[-1].number
    return islice(draft.rendered, first, last + 1)


def _places(draft: Draft, starts: Mapping[Place, int]) -> Iterator[tuple[int, Block]]:
    """Where each truncated result stands among the blocks, and the pointer that takes its place."""
    selection = draft.selection
    single = {
        entry.number: starts[place] + n
        for place, entries in ((Place.HISTORY, selection.loose), (Place.ACTIVE, selection.active))
        for n, entry in enumerate(entries)
    }
    first = selection.whole[0].entries[0].number if selection.whole else 0
    offset = starts[Place.HISTORY] + len(selection.loose) - first
    for pointer in draft.pointed.values():
        number = pointer.entry.number
        yield single.get(number, number + offset), pointer.block
