"""A difference and what follows from it, told as text, Markdown or JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from contextproof.conformance.report.escape import visible
from contextproof.conformance.snapshot.consequences import (
    CACHE_READ,
    CACHE_WRITE,
    Consequences,
    MarginMoved,
    Moved,
)
from contextproof.conformance.snapshot.diff import Change, Difference, Edit
from contextproof.conformance.snapshot.forms import Format

#: Characters of a line that are shown on both sides of what changed in it.
_AROUND = 48
#: Lines no longer than this are shown whole.
_WHOLE = 160
#: Lines shown of a change that is told whole, and names in a list.
_LINES, _NAMES = 12, 8
#: Characters of an edit whose code points are told.
_FEW = 4
_ASCII_END = 0x80
_SHORTEST_FENCE = 3
_THOUSAND = 1000


def told(difference: Difference, follows: Consequences, form: Format) -> str:
    """Both in one form, ending in a newline."""
    if form == "json":
        return _json(difference, follows)
    lines = _markdown(difference, follows) if form == "markdown" else _text(difference, follows)
    return "\n".join(lines) + "\n"


def _json(difference: Difference, follows: Consequences) -> str:
    consequences = follows.model_dump(mode="json")
    if follows.cache is not None:
        consequences["cache"] |= {
            "all_tokens": follows.cache.all_tokens,
            "thousandths_of_an_uncached_token": {
                "written": int(CACHE_WRITE * _THOUSAND),
                "read": int(CACHE_READ * _THOUSAND),
            },
        }
    for entry, one in zip(consequences["margins"], follows.margins, strict=True):
        entry["crossed"], entry["close"] = one.after.crossed, one.close
    document = {
        "changed": not difference.is_empty,
        "difference": difference.model_dump(mode="json"),
        "consequences": consequences,
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


# --- As text ------------------------------------------------------------------------------------


def _text(difference: Difference, follows: Consequences) -> Iterator[str]:
    if difference.is_empty:
        yield "Nothing changed."
        return
    yield summary(difference)
    for number, change in enumerate(difference.changes, 1):
        yield ""
        yield f"{number}. {_extent(change)}"
        yield from (f"   {line}" for line in _sample(change))
        yield from (f"   {line}" for line in _edits(change))
        yield f"   in {_folders(change.files)}"
    yield from _others(difference)
    yield ""
    yield "What follows"
    yield from (f"  {line}" for line in consequence_lines(follows))


def summary(difference: Difference) -> str:
    """How much changed, in a line."""
    lines = sum(len(change.places) for change in difference.changes)
    files = {file for change in difference.changes for file in change.files}
    changed = (
        f"{_number(len(difference.changes), 'change')} in {_number(lines, 'place')} of {len(files)} files"
    )
    others = f"{difference.bytes_changed} of {difference.compared} files show other bytes"
    return f"{changed if lines else 'no line changed'}; {others}"


def _extent(change: Change) -> str:
    first = change.places[0]
    where = f"{visible(first.file)}, line {first.line}"
    if len(change.places) == 1:
        return f"once, in {where}"
    return f"{len(change.places)} times in {_number(len(change.files), 'file')}, first in {where}"


def _sample(change: Change) -> Iterator[str]:
    """The lines at the first place, cut down to what changed in them."""
    removed, added = list(change.removed), list(change.added)
    if change.edits and max(len(removed[0]), len(added[0])) > _WHOLE:
        removed[0], added[0] = _around(removed[0], added[0])
    for sign, lines in (("-", removed), ("+", added)):
        yield from (f"{sign} {_short(visible(line))}" for line in lines[:_LINES])
        if len(lines) > _LINES:
            yield f"{sign} … and {len(lines) - _LINES} more lines"


def _around(old: str, new: str) -> tuple[str, str]:
    """Two lines without most of what they have in common at both ends."""
    start = next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    room = min(len(old), len(new)) - start
    end = next(
        (n for n, (a, b) in enumerate(zip(old[::-1], new[::-1], strict=False)) if a != b or n == room), room
    )
    return _cut(old, start, end), _cut(new, start, end)


def _cut(line: str, start: int, end: int) -> str:
    first, last = max(0, start - _AROUND), min(len(line), len(line) - end + _AROUND)
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"


def _short(line: str) -> str:
    longest = 6 * _AROUND
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _edits(change: Change) -> Iterator[str]:
    if len(change.places) > 1:
        yield from (_edit(edit) for edit in change.edits)
    strange = {c for edit in change.edits if _is_short(edit) for c in edit.removed + edit.added}
    points = sorted(c for c in strange if ord(c) >= _ASCII_END)
    if points:
        yield "where " + ", ".join(f"{visible(c)} is U+{ord(c):04X} {_name(c)}" for c in points)


def _is_short(edit: Edit) -> bool:
    return max(len(edit.removed), len(edit.added)) <= _FEW


def _name(character: str) -> str:
    return unicodedata.name(character, "without a name").lower()


def _edit(edit: Edit) -> str:
    if (edit.removed, edit.added) == ("#", "#"):
        return "each replaces a number by another"
    removed, added = (f"`{_short(visible(part))}`" for part in (edit.removed, edit.added))
    if not edit.removed:
        return f"each adds {added}"
    return f"each removes {removed}" if not edit.added else f"each replaces {removed} by {added}"


def _folders(files: Sequence[str]) -> str:
    """Files as a list; where there are many, as folders with how many of each."""
    if len(files) <= _NAMES:
        return ", ".join(map(visible, files))
    counted = Counter(file.split("/", maxsplit=1)[0] for file in files)
    return ", ".join(f"{visible(folder)} ({number})" for folder, number in counted.items())


def _others(difference: Difference) -> Iterator[str]:
    for what, files in _whole_files(difference):
        yield ""
        yield f"{what}: {_names(files)}"


def _whole_files(difference: Difference) -> Iterator[tuple[str, tuple[str, ...]]]:
    told = (
        ("only in the new snapshots", difference.appeared),
        ("only in the old snapshots", difference.vanished),
        ("nonces stand or repeat in another order", difference.renumbered),
        ("the text is the same and the bytes are not (nonces, where nothing else is)", difference.bytes_only),
    )
    yield from ((what, files) for what, files in told if files)


def _names(files: Sequence[str]) -> str:
    more = f" and {len(files) - _NAMES} more" if len(files) > _NAMES else ""
    return ", ".join(map(visible, files[:_NAMES])) + more


# --- What follows ---------------------------------------------------------------------------------


def consequence_lines(follows: Consequences) -> Iterator[str]:
    """What follows, a line each; what belongs to a line is set in below it."""
    yield from _token_lines(follows)
    yield from _cache_lines(follows)
    for moved in follows.moved:
        yield from _moved_lines(moved)
    if not any(moved.what == "yields" for moved in follows.moved):
        yield "yields: what gives way, and when, is as before"
    if follows.margins:
        yield "bounds that it comes nearer to or farther from:"
        yield from (f"  {_margin(one)}" for one in follows.margins)
    if follows.sessions_apart:
        yield f"only one of both sent a request in: {_names(follows.sessions_apart)}"


def _token_lines(follows: Consequences) -> Iterator[str]:
    before, after = follows.totals
    name, requests = visible(follows.session), follows.requests[1]
    if before == after and all(one.before == one.after for one in follows.tokens):
        yield f"tokens: as before ({before:,} in {requests} requests of {name})"
        return
    yield f"tokens in {requests} requests of {name}: {_change(before, after)}"
    for one in follows.tokens:
        if one.before != one.after:
            yield f"  {visible(one.token_class)}: {_change(one.before, one.after)}"
    if before and after:
        shares = (
            _THOUSAND * part // whole for part, whole in zip(follows.repeated, (before, after), strict=True)
        )
        yield "  cached share: " + " → ".join(f"{share / _THOUSAND:.3f}" for share in shares)


def _change(before: int, after: int) -> str:
    return f"{before:,} → {after:,}{_share(after - before, before)}"


def _share(difference: int, whole: int) -> str:
    share = f"{100 * difference / whole:+.1f}" if whole else ""
    if share in ("+0.0", "-0.0"):
        share = "under ±0.1"
    return f" ({share} %)" if share else ""


def _cache_lines(follows: Consequences) -> Iterator[str]:
    cache = follows.cache
    if cache is None:
        yield "caches: no byte of any request changes, so nothing is written anew"
        return
    part = "" if cache.where == "prefix" else " behind the prefix"
    read = f"what a request of {visible(cache.session)} reads from it{part}"
    measured = (
        f"{cache.tokens:,} tokens a session ({read}), "
        f"{cache.all_tokens:,} tokens for {cache.sessions:,} sessions"
    )
    where = f"in {cache.changed} of {cache.compared} sessions"
    if cache.where == "prefix":
        yield f"caches: the prefix's bytes change {where}"
        yield f"  every live session's cache is written anew, once: {measured}"
    else:
        yield f"caches: the prefix stays as it is; bytes behind it change {where}"
        yield f"  a live session's cache is written anew from the first of them on, once: at most {measured}"
    yield f"  a token written costs {float(cache.times):g} times one read (1.25 to 0.1 of an uncached one)"


def _moved_lines(moved: Moved) -> Iterator[str]:
    yield f"{moved.what} in {visible(moved.session)}: {len(moved.gone)} gone, {len(moved.new)} new"
    for sign, those in (("-", moved.gone), ("+", moved.new)):
        yield from (f"  {sign} {visible(one)}" for one in those[:_NAMES])
        if len(those) > _NAMES:
            yield f"  {sign} and {len(those) - _NAMES} more"


def _margin(one: MarginMoved) -> str:
    after = one.after
    measured = (
        f"{after.measured:,}" if one.before is None else f"{one.before.measured:,} → {after.measured:,}"
    )
    bound = f"at {'least' if after.at_least else 'most'} {after.bound:,} {after.unit}"
    if one.before is not None and one.before.bound != after.bound:
        bound += f" (before: {one.before.bound:,})"
    return f"{_nearness(one)}{after.requirement} {after.what}: {measured}, {bound}"


def _nearness(one: MarginMoved) -> str:
    if one.after.crossed:
        return "CROSSED: "
    return "CLOSE: " if one.close else ""


# --- As Markdown ----------------------------------------------------------------------------------


def _markdown(difference: Difference, follows: Consequences) -> Iterator[str]:
    yield "## What is rendered otherwise"
    yield ""
    if difference.is_empty:
        yield "Nothing changed."
        return
    yield f"{summary(difference)}."
    for number, change in enumerate(difference.changes, 1):
        yield ""
        yield f"### {number}. {_plain(_extent(change))}"
        yield ""
        yield from _fenced(_sample(change), "diff")
        yield from _fenced(_edits(change), "text")
        yield from _details(f"{_number(len(change.files), 'file')}", change.files)
    for what, files in _whole_files(difference):
        yield ""
        yield f"### {what}"
        yield from _details(_number(len(files), "file"), files)
    yield ""
    yield "## What follows"
    yield ""
    yield from _fenced(consequence_lines(follows), "text")


def _fenced(lines: Iterable[str], language: str) -> Iterator[str]:
    """Lines in a code block that nothing in them can close."""
    held = list(lines)
    if not held:
        return
    runs = (len(run) for line in held for run in re.findall("`+", line))
    fence = "`" * max(_SHORTEST_FENCE, 1 + max(runs, default=0))
    yield from (f"{fence}{language}", *held, fence)


def _details(title: str, files: Sequence[str]) -> Iterator[str]:
    yield ""
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield from _fenced(map(visible, files), "text")
    yield ""
    yield "</details>"


def _plain(text: str) -> str:
    """Text that Markdown takes as it is."""
    return re.sub(r"([\\`*_\[\]<>&#|])", r"\\\1", text)


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
