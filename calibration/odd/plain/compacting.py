"""Compaction: one summary of what is trusted, and one pointer to what is not.

All that may give way is covered at once. The older summary is kept as it is while there is room
beside it; else it is summarized again, which makes the next one deeper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from contextproof.calibration.odd.plain.blocks import summary_block
from contextproof.calibration.odd.plain.drafting import Draft, line, relieved
from contextproof.calibration.odd.plain.elision import Division, divided
from contextproof.calibration.odd.plain.grammar import escaped
from contextproof.calibration.odd.plain.measuring import where
from contextproof.calibration.odd.plain.reading import complaint
from contextproof.conformance.contract import caps
from contextproof.conformance.contract.answers import Compacted, CompactionFailed, Escalated, NothingToGain
from contextproof.conformance.contract.events import CompactionCompleted, CompactionEscalated
from contextproof.conformance.contract.plan import BuildInputs, Checkpoint, Plan
from contextproof.conformance.contract.ports import Summarize, SummarizerError, SummaryPart
from contextproof.conformance.contract.session import CallContext, ModelSpec
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Trust

#: The most tokens of a summary as rendered.
SUMMARY_BOUND: Final = 600
#: Room for less than this is not worth a summary, unless the request does not fit otherwise.
_LEAST_SUMMARY: Final = 48
#: Tokens set aside because texts that are joined may count otherwise than one by one.
_SEAMS: Final = 8

_NOTHING: Final = Checkpoint(id="nothing", summary="", depth=0, covers=0)


class _Room(NamedTuple):
    """Tokens there are to gain and to spend.

    Attributes:
        saved: what history becomes smaller by without a summary.
        envelope: what a summary takes beside its own text.
        free: what a request that holds no summary leaves free; below 0 where not even that one fits.
        summary: the most that the text of a summary may take as rendered.
    """

    saved: int
    envelope: int
    free: int
    summary: int


def compact(
    context: CallContext, plan: Plan, inputs: BuildInputs, summarize: Summarize
) -> Compacted | NothingToGain | CompactionFailed | Escalated:
    """A new checkpoint, or why there is none."""
    if complaint(inputs.log):
        return NothingToGain()
    draft, old = relieved(plan, inputs), inputs.checkpoint or _NOTHING
    division = divided(draft)
    room, kept = _room(draft, division), _rendered(draft.model, old.summary)
    needed = kept + (_LEAST_SUMMARY if division.parts else 0)
    if _is_vain(draft, room, needed):
        return NothingToGain()
    is_kept = not old.summary or needed <= room.summary
    if not is_kept and old.depth == caps.MAX_SUMMARY_DEPTH:
        event = CompactionEscalated(**where(context, plan.epoch), depth=old.depth)
        return Escalated(reason="a summary of such summaries could not be verified", events=(event,))
    again = [] if is_kept else [SummaryPart(item_ids=(old.id,), text=old.summary)]
    parts, left = [*again, *division.parts], room.summary - (kept + 1 if is_kept else 0)
    try:
        new = _told(draft.model, parts, left, summarize)
    except SummarizerError as error:
        return CompactionFailed(reason=f"the summarizer did not deliver: {error}")
    kept_text = old.summary if is_kept else ""
    summary = "\n".join(text for text in (kept_text, new) if text)
    summary = _cut(draft.model, summary, room.summary, least=len(kept_text))
    depth = max(old.depth if is_kept else old.depth + 1, 1 if parts else 0)
    return _compacted(context, draft, division, summary, depth)


def _room(draft: Draft, division: Division) -> _Room:
    empty = summary_block(draft.plan.opening.platform_secret, "-", "", Trust.INTERNAL)
    envelope = line(draft.plan, empty).tokens + _SEAMS
    covered = [*draft.checkpoint, *(draft.messages[item.id] for item in draft.turn.older)]
    saved = sum(each.tokens for each in covered) - sum(each.tokens for each in division.lines)
    free = draft.room([*draft.unyielding, *division.lines])
    to_fill = max(free - draft.spare, min(free, 2 * _LEAST_SUMMARY))
    to_fill = to_fill * caps.MARGIN_DENOMINATOR // caps.MARGIN_NUMERATOR
    share = draft.plan.budget.body_tokens // caps.SUMMARY_DIVISOR
    return _Room(saved, envelope, free, min(saved - envelope, to_fill - envelope, share, SUMMARY_BOUND))


def _is_vain(draft: Draft, room: _Room, needed: int) -> bool:
    """Whether nothing is to be gained, or too little for a request that fits as it is."""
    if draft.room(draft.lines) < 0:
        return room.saved <= 0 or room.free < 0
    return not draft.turn.older or room.saved - room.envelope < needed


def _told(model: ModelSpec, parts: Sequence[SummaryPart], room: int, summarize: Summarize) -> str:
    """What the summarizer tells of some parts, in as many calls as they need."""
    calls = _calls(model, parts)
    texts = []
    for call in calls:
        answer = summarize(call, max(1, room // len(calls)))
        if not answer.complete or not answer.text.strip():
            raise SummarizerError("it ended short")
        texts.append(answer.text)
    return "\n".join(texts)


def _calls(model: ModelSpec, parts: Sequence[SummaryPart]) -> list[list[SummaryPart]]:
    """The parts, as many together as one call can hold."""
    calls: list[list[SummaryPart]] = []
    free = 0
    for part in parts:
        size = count(model.tokenizer, part.text)
        if not calls or size > free:
            calls.append([])
            free = model.limit
        calls[-1].append(part)
        free -= size
    return calls


def _cut(model: ModelSpec, text: str, room: int, least: int) -> str:
    """The longest beginning of a text that fits, of so many characters at the least."""
    low, high = least, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if _rendered(model, text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def _rendered(model: ModelSpec, text: str) -> int:
    return count(model.tokenizer, escaped(text))


def _compacted(context: CallContext, draft: Draft, division: Division, summary: str, depth: int) -> Compacted:
    log, turn = draft.inputs.log, draft.turn
    before = draft.inputs.checkpoint or _NOTHING
    checkpoint = Checkpoint(
        id=draft.inputs.live.ids[0],
        summary=summary,
        depth=depth,
        covers=len(log),
        passed_over=(turn.current.id, *turn.active),
        summarized=(*before.summarized, *(name for part in division.parts for name in part.item_ids)),
        pointers=division.pointers,
    )
    event = CompactionCompleted(
        **where(context, draft.plan.epoch),
        checkpoint_id=checkpoint.id,
        depth=depth,
        covers=checkpoint.covers,
        elided_bytes=sum(pointer.size for pointer in division.pointers),
    )
    return Compacted(checkpoint=checkpoint, events=(event,))
