"""What changed between two sets of snapshots: lines changed alike are one change, wherever they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import NamedTuple

from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.snapshot.shown import without_numbers
from contextproof.conformance.snapshot.store import Stored

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
_NUMBER = re.compile(r"\b[0-9][0-9,.]*")
#: A pair of lines in which more than this was replaced is told as a whole.
_MOST_EDITS = 8
#: Tokens between what two lines have in common at both ends; beyond, that is one edit.
_MOST_TOKENS = 400


class Edit(Frozen):
    """What was replaced within a line; either side may be empty."""

    removed: str
    added: str


class Place(Frozen):
    """Where a change is: a file, and the line in it (of the new file, or of the old where it is gone)."""

    file: str
    line: Count


class Change(Frozen):
    """Lines that changed in one way.

    Attributes:
        removed, added: the lines at the first place.
        edits: what was replaced within each of the lines, with ``#`` for numbers that differ from line
            to line; empty where lines are told as a whole.
        places: every place, in order.
    """

    removed: tuple[str, ...]
    added: tuple[str, ...]
    edits: tuple[Edit, ...]
    places: tuple[Place, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files it is in, each once."""
        return tuple(dict.fromkeys(place.file for place in self.places))


class Difference(Frozen):
    """All that differs between two sets of texts.

    Attributes:
        changes: the most frequent first.
        appeared, vanished: files that only one of both has.
        renumbered: files in which only the order or repetition of nonces changed.
        bytes_only: files whose text is the same while the bytes shown are not.
        bytes_changed: how many of the files that both have show other bytes.
        compared: how many files both have.
        measures_changed: whether what was measured differs, beside all this.
    """

    changes: tuple[Change, ...]
    appeared: tuple[str, ...]
    vanished: tuple[str, ...]
    renumbered: tuple[str, ...]
    bytes_only: tuple[str, ...]
    bytes_changed: Count
    compared: Count
    measures_changed: bool

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        whole_files = self.appeared or self.vanished or self.renumbered
        return not (self.changes or whole_files or self.bytes_changed or self.measures_changed)


class _Hunk(NamedTuple):
    removed: tuple[str, ...]
    added: tuple[str, ...]
    line: int


def compare(old: Stored, new: Stored) -> Difference:
    """The difference between two sets."""
    both = [name for name in new.texts if name in old.texts]
    changed = [name for name in both if old.texts[name] != new.texts[name]]
    hunks = {name: list(_hunks(old.texts[name], new.texts[name])) for name in changed}
    bytes_changed = [name for name in both if old.hashes.get(name) != new.hashes.get(name)]
    return Difference(
        changes=_grouped(hunks),
        appeared=tuple(name for name in new.texts if name not in old.texts),
        vanished=tuple(name for name in old.texts if name not in new.texts),
        renumbered=tuple(name for name in changed if not hunks[name]),
        bytes_only=tuple(name for name in bytes_changed if name not in hunks),
        bytes_changed=len(bytes_changed),
        compared=len(both),
        measures_changed=old.facts != new.facts,
    )


def _hunks(old: str, new: str) -> Iterator[_Hunk]:
    """What changed between two texts, nonces' numbers apart: pairs of lines, or lines gone and new."""
    before, after = old.split("\n"), new.split("\n")
    keys = [without_numbers(line) for line in before], [without_numbers(line) for line in after]
    start = _common(*keys)
    end = _common(keys[0][start:][::-1], keys[1][start:][::-1])
    middle = keys[0][start : len(before) - end], keys[1][start : len(after) - end]
    for kind, a, b, c, d in SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        removed, added = before[start + a : start + b], after[start + c : start + d]
        if len(removed) == len(added):
            for number, (one, other) in enumerate(zip(removed, added, strict=True)):
                yield _Hunk((one,), (other,), start + c + number + 1)
        else:
            yield _Hunk(tuple(removed), tuple(added), start + (c if added else a) + 1)


def _common(one: list[str], other: list[str]) -> int:
    """How many entries two lists begin with alike."""
    for number, (a, b) in enumerate(zip_longest(one, other)):
        if a != b:
            return number
    return len(one)


def _grouped(hunks: Mapping[str, list[_Hunk]]) -> tuple[Change, ...]:
    """Hunks that did the same, together."""
    found: dict[object, list[tuple[str, _Hunk, tuple[Edit, ...]]]] = {}
    for file, those in hunks.items():
        for hunk in those:
            edits = _edits(hunk)
            lines = tuple(map(without_numbers, (*hunk.removed, *hunk.added)))
            key = (_with_any_numbers(edits), _label(hunk, edits)) if edits else (len(hunk.removed), lines)
            found.setdefault(key, []).append((file, hunk, edits))
    changes = (_change(members) for members in found.values())
    return tuple(sorted(changes, key=lambda change: -len(change.places)))


def _change(members: list[tuple[str, _Hunk, tuple[Edit, ...]]]) -> Change:
    _, first, edits = members[0]
    alike = all(others == edits for _, _, others in members)
    return Change(
        removed=first.removed,
        added=first.added,
        edits=edits if alike else _with_any_numbers(edits),
        places=tuple(Place(file=file, line=hunk.line) for file, hunk, _ in members),
    )


def _label(hunk: _Hunk, edits: tuple[Edit, ...]) -> str:
    """What stands before a number that changed, and says what it is a number of; nothing for other edits."""
    if not all(_NUMBER.fullmatch(edit.removed) and _NUMBER.fullmatch(edit.added) for edit in edits):
        return ""
    old, new = hunk.removed[0], hunk.added[0]
    before = old[: _common(list(old), list(new))]
    return _NUMBER.sub("#", before.rstrip("0123456789.,"))


def _with_any_numbers(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The same edits, whatever numbers are in them."""
    return tuple(
        dict.fromkeys(
            Edit(removed=_NUMBER.sub("#", edit.removed), added=_NUMBER.sub("#", edit.added)) for edit in edits
        )
    )


def _edits(hunk: _Hunk) -> tuple[Edit, ...]:
    """What was replaced within one line; nothing where that would be most of it."""
    if (len(hunk.removed), len(hunk.added)) != (1, 1):
        return ()
    old = _TOKENS.findall(without_numbers(hunk.removed[0]))
    new = _TOKENS.findall(without_numbers(hunk.added[0]))
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old_middle), len(new_middle)) > _MOST_TOKENS:
        return (Edit(removed="".join(old_middle), added="".join(new_middle)),)
    matcher = SequenceMatcher(None, old_middle, new_middle, autojunk=False)
    edits = tuple(
        Edit(removed="".join(old_middle[a:b]), added="".join(new_middle[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    )
    kept = [*old[:start], *old[len(old) - end :]]
    kept += [token for at, _, size in matcher.get_matching_blocks() for token in old_middle[at : at + size]]
    whole = len(edits) > _MOST_EDITS or 2 * _words(kept) < min(_words(old), _words(new))
    return () if whole else tuple(dict.fromkeys(edits))


def _words(tokens: list[str]) -> int:
    """How many tokens are more than a blank."""
    return sum(not token.isspace() for token in tokens)
