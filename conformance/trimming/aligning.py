"""Which of the messages handed over each returned one is."""

from __future__ import annotations

from collections.abc import Sequence

from contextproof.conformance.trimming.formats import Entry


def is_kept_as(given: Entry, returned: Entry) -> bool:
    """Whether one is the other: word for word, or a result that was made shorter."""
    if given == returned:
        return True
    same = (given.kind, given.id, given.tool) == (returned.kind, returned.id, returned.tool)
    return same and given.kind == "result" and len(returned.text.encode()) < len(given.text.encode())


def aligned(given: Sequence[Entry], returned: Sequence[Entry]) -> list[int] | None:
    """For each returned entry its place among those given, in order; none where the order is another.

    From the end, each is matched with the latest it can be, which finds a way wherever there is one.
    """
    places: list[int] = []
    place = len(given)
    for entry in reversed(returned):
        place = next((n for n in range(place - 1, -1, -1) if is_kept_as(given[n], entry)), -1)
        if place < 0:
            return None
        places.append(place)
    return places[::-1]


def strangers(given: Sequence[Entry], returned: Sequence[Entry]) -> list[Entry]:
    """Returned entries that are none of those given, or are there more often."""
    left = list(given)
    unmatched: list[Entry] = []
    for entry in returned:
        if entry in left:
            left.remove(entry)
        else:
            unmatched.append(entry)
    strange: list[Entry] = []
    for entry in unmatched:
        match = next((one for one in left if is_kept_as(one, entry)), None)
        if match is None:
            strange.append(entry)
        else:
            left.remove(match)
    return strange


def missing(wanted: Sequence[Entry], returned: Sequence[Entry]) -> list[Entry]:
    """Entries wanted that were not returned: word for word, or as a shorter result."""
    left = list(returned)
    lost: list[Entry] = []
    for entry in wanted:
        match = next((one for one in left if one == entry), None)
        match = match or next((one for one in left if is_kept_as(entry, one)), None)
        if match is None:
            lost.append(entry)
        else:
            left.remove(match)
    return lost
