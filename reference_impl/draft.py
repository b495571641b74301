"""A request in the making: what it holds, what each class costs, and what gave way so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from contextproof.conformance.contract.items import ToolResult
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import (
    Block,
    Estimate,
    Yielded,
    YieldStep,
)
from contextproof.conformance.contract.vocabulary import (
    CLASS_OF_PLACE,
    Place,
    Slot,
    TokenClass,
)
from contextproof.reference_impl.estimator import (
    block_tokens,
    conservative,
    itemized,
    prefix_surplus,
    ratio_of,
)
from contextproof.reference_impl.log_index import Entry, LogIndex
from contextproof.reference_impl.rendering import item_block, truncation_block
from contextproof.reference_impl.selection import Selection, select
from contextproof.reference_impl.standing import recall_within_cap, render_standing

Cause = Literal["pressure", "cap"]

#: Pointers remembered: about as many as results that one epoch truncates between compactions.
_REMEMBERED: Final = 4_096


class Pointed(NamedTuple):
    """A result that is a pointer in this request, with what the pointer costs."""

    entry: Entry
    block: Block
    tokens: int


class Recalled(NamedTuple):
    """A recall item as rendered, with what it costs."""

    block: Block
    tokens: int


@dataclass(frozen=True)
class Draft:
    """A request in the making. Every change gives another draft.

    Attributes:
        plan: the plan it is built from. ``ratio``: the calibration in force, in parts per million.
        selection: the messages it holds.
        rendered: messages of earlier turns as blocks, by `Entry.number`.
        standing: blocks that never yield, by place.
        recall: what it still holds of recall, ranked.
        pointed: its truncated results, by item id.
        exact: exact tokens of its body, by class.
        held: content tokens of results that stand verbatim.
        yielded: what newly gave way, in order.
    """

    plan: Plan
    ratio: int
    selection: Selection
    rendered: tuple[Block, ...]
    standing: Mapping[Place, tuple[Block, ...]]
    recall: tuple[Recalled, ...]
    pointed: Mapping[str, Pointed]
    exact: Mapping[TokenClass, int]
    held: int
    yielded: tuple[Yielded, ...] = ()

    @property
    def limit(self) -> int:
        """Tokens it may take by its own estimate."""
        return self.plan.opening.model.limit

    @property
    def total(self) -> int:
        """Tokens it takes by its own estimate."""
        return total_of(self.plan, self.exact, self.ratio)

    @property
    def fits(self) -> bool:
        """Whether it may be sent."""
        return self.total <= self.limit

    def estimate(self) -> Estimate:
        """Its estimate, itemized: the prefix as planned, the body conservative."""
        return Estimate(
            by_class=(*self.plan.tokens, *itemized(self.exact, self.plan.prefix_tokens, self.ratio)),
            prefix_tokens=self.plan.prefix_tokens,
        )


def total_of(plan: Plan, exact: Mapping[TokenClass, int], ratio: int) -> int:
    """An estimate's total: the prefix with its surplus, and each body class conservatively."""
    prefix = plan.prefix_tokens + prefix_surplus(plan.prefix_tokens, ratio)
    return prefix + sum(conservative(tokens, ratio) for tokens in exact.values())


def draft_request(plan: Plan, inputs: BuildInputs, index: LogIndex) -> Draft:
    """Everything that could be sent, with what earlier requests of the epoch made give way."""
    model, secret = plan.opening.model, plan.opening.platform_secret
    selection = select(index, inputs.checkpoint)
    standing = render_standing(plan, inputs, index)
    gone = {y.item_id for y in inputs.yielded if y.epoch == plan.epoch and y.step is YieldStep.RECALL}
    kept = list(recall_within_cap(plan, inputs.recall))
    while kept and kept[-1].id in gone:
        kept.pop()
    blocks = [item_block(secret, item, standing.trust[item.id]) for item in kept]
    recall = tuple(Recalled(block, block_tokens(model, block)) for block in blocks)
    exact = {
        TokenClass.HISTORY: selection.history_tokens(),
        TokenClass.ACTIVE: sum(entry.tokens for entry in selection.active),
        TokenClass.RECALL: sum(item.tokens for item in recall),
        TokenClass.CURRENT_USER_MESSAGE: selection.current.tokens if selection.current else 0,
    }
    for place, there in standing.blocks.items():
        exact[CLASS_OF_PLACE[place]] = sum(block_tokens(model, block) for block in there)
    draft = Draft(
        plan=plan,
        ratio=ratio_of(inputs.calibration, model.name),
        selection=selection,
        rendered=index.history,
        standing=standing.blocks,
        recall=recall,
        pointed={},
        exact={name: tokens for name, tokens in exact.items() if tokens},
        held=selection.result_tokens(),
    )
    return with_pointers(draft, _listed(draft, inputs, index), cause=None)


def _listed(draft: Draft, inputs: BuildInputs, index: LogIndex) -> list[Entry]:
    """Standing results that earlier requests of this epoch made pointers."""
    checkpoint = inputs.checkpoint
    covers, passed = (checkpoint.covers, checkpoint.passed_over) if checkpoint else (0, ())
    listed = {
        y.item_id: None
        for y in inputs.yielded
        if y.epoch == draft.plan.epoch and y.step is YieldStep.TOOL_RESULT
    }
    entries = (index.by_id.get(item_id) for item_id in listed)
    return [
        entry
        for entry in entries
        if entry is not None and entry.is_result and (entry.position >= covers or entry.item.id in passed)
    ]


def with_pointers(draft: Draft, entries: Sequence[Entry], cause: Cause | None) -> Draft:
    """The draft with results truncated; without a cause they were so in earlier requests."""
    if not entries:
        return draft
    pointed = dict(draft.pointed)
    exact = dict(draft.exact)
    for entry in entries:
        pointer = pointer_to(draft, entry)
        pointed[entry.item.id] = pointer
        exact[class_of(draft, entry)] += pointer.tokens - entry.tokens
    yielded = () if cause is None else tuple(_truncated(draft, entry, cause) for entry in entries)
    return replace(
        draft,
        pointed=pointed,
        exact=exact,
        held=draft.held - sum(entry.result_tokens for entry in entries),
        yielded=draft.yielded + yielded,
    )


def _truncated(draft: Draft, entry: Entry, cause: Cause) -> Yielded:
    epoch = draft.plan.epoch
    return Yielded(step=YieldStep.TOOL_RESULT, item_id=entry.item.id, epoch=epoch, cause=cause)


def without_last_recall(draft: Draft) -> Draft:
    """The draft with its lowest-ranked recall item left out, under pressure."""
    *kept, dropped = draft.recall
    left = draft.exact[TokenClass.RECALL] - dropped.tokens
    exact = {**draft.exact, TokenClass.RECALL: left}
    if not kept:
        del exact[TokenClass.RECALL]
    assert dropped.block.item_id is not None
    gone = Yielded(
        step=YieldStep.RECALL,
        item_id=dropped.block.item_id,
        epoch=draft.plan.epoch,
        cause="pressure",
    )
    return replace(draft, recall=tuple(kept), exact=exact, yielded=(*draft.yielded, gone))


def class_of(draft: Draft, entry: Entry) -> TokenClass:
    """The class a standing message counts under: history, or active."""
    return TokenClass.ACTIVE if _slot(draft, entry) is Slot.ACTIVE else TokenClass.HISTORY


def _slot(draft: Draft, entry: Entry) -> Slot:
    current = draft.selection.current
    is_active = current is not None and entry.position > current.position
    return Slot.ACTIVE if is_active else Slot.HISTORY


def pointer_to(draft: Draft, entry: Entry) -> Pointed:
    """The pointer that would stand in for a result."""
    opening = draft.plan.opening
    assert isinstance(entry.item, ToolResult)
    block = _pointer(opening.platform_secret, entry.item, entry.trust, _slot(draft, entry))
    return Pointed(entry, block, block_tokens(opening.model, block))


_pointer = lru_cache(maxsize=_REMEMBERED)(truncation_block)
