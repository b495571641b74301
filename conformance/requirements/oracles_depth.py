"""An oracle of summary depth: how many summaries lie on one another in a checkpoint (decision 12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from contextproof.conformance.contract.items import LogItem, Message, ToolCall, content
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.play.trace import SummarizerCall

#: A summary shorter than this may turn up in a text by chance.
_RECOGNIZABLE = 24
#: Characters that an engine may write before the content of an item in a part.
_HEADING = 40


def was_given(old: Checkpoint, calls: Sequence[SummarizerCall], contents: Mapping[str, bytes]) -> bool:
    """Whether the summarizer was given a checkpoint's summary: named by its id, or there to be read.

    A part may hold the same text because an item that it renders does: that is not the summary.
    """
    if any(old.id in part.item_ids for call in calls for part in call.parts):
        return True
    return _reads(old.summary, calls, contents)


def _reads(text: str, calls: Sequence[SummarizerCall], contents: Mapping[str, bytes]) -> bool:
    """Whether a text can be read in what the calls were given, and not in the items given.

    A part may begin with a heading of the engine's own, and a summary that told such a part's
    beginning with it: so an item explains a text that it holds but for a heading.
    """
    if len(text) < _RECOGNIZABLE:
        return False
    told = text[min(_HEADING, len(text) // 2) :].encode()
    return any(
        text in part.text and not any(told in contents.get(item_id, b"") for item_id in part.item_ids)
        for call in calls
        for part in call.parts
    )


def is_kept(old: Checkpoint, new: Checkpoint) -> bool:
    """Whether a checkpoint's summary stands verbatim in the next one's."""
    return bool(old.summary.strip()) and old.summary.strip() in new.summary


def possible_depths(
    old: Checkpoint | None,
    new: Checkpoint,
    calls: Sequence[SummarizerCall],
    contents: Mapping[str, bytes],
) -> set[int]:
    """The depths a new checkpoint may truly have; several where the trace does not tell.

    The greater of a kept summary's depth and 1 + the depth of any summary given to the summarizer;
    0 where nothing was summarized. ``contents`` say what is `readable` of the log, by id.
    """
    kept = {old.depth} if old is not None and is_kept(old, new) else {0}
    if old is not None and not old.summary.strip():
        kept = {0, old.depth}  # nothing to keep, and nothing to see whether it was
    written = _depths_written(old, calls, contents)
    return {max(one, other) for one in kept for other in written}


def _depths_written(
    old: Checkpoint | None, calls: Sequence[SummarizerCall], contents: Mapping[str, bytes]
) -> set[int]:
    answered = [call for call in calls if call.summary is not None and call.summary.complete]
    if not answered:
        return {0}
    depths = {0}
    for n, call in enumerate(answered):
        given = old.depth if old is not None and was_given(old, [call], contents) else 0
        seen = [earlier for earlier in answered[:n] if _reads(_text(earlier), [call], contents)]
        over_one = {max(depth, 1 + max(given, depth)) for depth in depths} if seen else set()
        # What only repeats a part may stand in a later one because another item says the same.
        is_sure = any(not _repeats_a_part(earlier) for earlier in seen)
        over_none = set() if is_sure else {max(depth, 1 + given) for depth in depths}
        depths = over_one | over_none
    blank = not any(_text(call) for call in answered)
    return depths | {0} if blank else depths


def _repeats_a_part(call: SummarizerCall) -> bool:
    return any(_text(call) in part.text for part in call.parts)


def _text(call: SummarizerCall) -> str:
    return call.summary.text.strip() if call.summary else ""


def readable(log: Iterable[LogItem]) -> dict[str, bytes]:
    """What can be read of each message: its content, and a call's arguments as they are beside it."""
    return {
        item.id: b"\0".join(
            (content(item).encode(), *((item.arguments.encode(),) if isinstance(item, ToolCall) else ()))
        )
        for item in log
        if isinstance(item, Message)
    }
