"""A draft: all that a request must hold, and what gives way in it, in the order decided.

A draft starts from the inputs each time and is changed in place until it fits; it lives no longer
than the call that made it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from contextproof.calibration.odd.plain import blocks
from contextproof.calibration.odd.plain.measuring import (
    Tokens,
    block_tokens,
    content_tokens,
    request_estimate,
)
from contextproof.calibration.odd.plain.reading import Turn, turn_of
from contextproof.conformance.contract.caps import CAPS, POINTER_TOKENS
from contextproof.conformance.contract.items import MemoryCorrection, Message, RenderedItem, ToolResult
from contextproof.conformance.contract.plan import BuildInputs, Checkpoint, Plan
from contextproof.conformance.contract.request import Block, Estimate, Yielded, YieldStep, token_class
from contextproof.conformance.contract.session import ModelSpec
from contextproof.conformance.contract.trust import derived_trust, effective_trust, log_trust, opening_trust
from contextproof.conformance.contract.vocabulary import TokenClass, Trust, lowest

#: One part in so many of the body is freed beyond need, so that the next requests fit as well.
_SPARE: Final = 8

_Cause = Literal["pressure", "cap"]


class Line(NamedTuple):
    """A block, and what it counts."""

    block: Block
    tokens: int


@dataclass
class Draft:
    """A request in the making.

    Attributes:
        trust: effective trust of everything that a message or entry can rest on, by id.
        messages: the lines of all messages that stand, by id, in the log's order.
        recall: the lines of what is recalled, best first.
        fixed: the lines of working state, corrections and environment.
        gone: what newly gave way.
    """

    plan: Plan
    inputs: BuildInputs
    turn: Turn
    trust: dict[str, Trust]
    messages: dict[str, Line]
    checkpoint: list[Line]
    recall: list[Line]
    fixed: list[Line]
    gone: list[Yielded]

    @property
    def model(self) -> ModelSpec:
        """The model of the plan."""
        return self.plan.opening.model

    @property
    def lines(self) -> list[Line]:
        """All of the body."""
        return [*self.checkpoint, *self.messages.values(), *self.recall, *self.fixed]

    @property
    def unyielding(self) -> list[Line]:
        """What never yields, but for the checkpoint."""
        return [*self.fixed, *(self.messages[name] for name in (self.turn.current.id, *self.turn.active))]

    @property
    def spare(self) -> int:
        """Tokens to free beyond need."""
        return self.plan.budget.body_tokens // _SPARE

    def estimate(self, lines: Iterable[Line]) -> Estimate:
        """What a request with these lines for its body is estimated at."""
        counted: Tokens = Counter()
        for line in lines:
            counted[token_class(line.block)] += line.tokens
        return request_estimate(self.plan, self.inputs.calibration, counted)

    def room(self, lines: Iterable[Line]) -> int:
        """Tokens that are free beside these lines; below 0 where they do not fit."""
        return self.model.limit - self.estimate(lines).total


def relieved(plan: Plan, inputs: BuildInputs) -> Draft:
    """What can be sent of some inputs: caps hold, and all gave way that may, until it fits."""
    draft = drafted(plan, inputs)
    _cap_recall(draft)
    _cap_results(draft)
    while draft.recall and draft.room(draft.lines) < 0:
        _note(draft, YieldStep.RECALL, draft.recall.pop().block.item_id, "pressure")
    if draft.room(draft.lines) < 0:
        for item in _worth_truncating(draft):
            _truncate(draft, item, "pressure")
            if draft.room(draft.lines) >= draft.spare:
                break
    return draft


def drafted(plan: Plan, inputs: BuildInputs) -> Draft:
    """Everything, less the results that gave way in this epoch before."""
    secret, turn = plan.opening.platform_secret, turn_of(inputs.log, inputs.checkpoint)
    trust = log_trust(inputs.log, opening_trust(plan.opening))

    def whole(item: RenderedItem) -> Line:
        block = blocks.item_block(secret, item, effective_trust(item, trust), turn.slots.get(item.id))
        return line(plan, block)

    told: list[RenderedItem] = [*inputs.environment, *latest(inputs.corrections)]
    state = blocks.state_blocks(secret, inputs.working_state, trust)
    draft = Draft(
        plan=plan,
        inputs=inputs,
        turn=turn,
        trust=trust,
        messages={item.id: whole(item) for item in turn.standing},
        checkpoint=[line(plan, block) for block in _checkpoint(secret, inputs.checkpoint, trust)],
        recall=[whole(item) for item in inputs.recall],
        fixed=[*map(whole, told), *(line(plan, block) for block in state)],
        gone=[],
    )
    before = {entry.item_id for entry in inputs.yielded if entry.epoch == plan.epoch}
    for item in _whole_results(draft, turn.standing):
        if item.id in before:
            draft.messages[item.id] = _pointed(draft, item)
    return draft


def line(plan: Plan, block: Block) -> Line:
    """A block with what it counts."""
    return Line(block, block_tokens(plan.opening.model, block))


def latest(corrections: Iterable[MemoryCorrection]) -> list[MemoryCorrection]:
    """The correction in force of each memory item."""
    return list({correction.memory_id: correction for correction in corrections}.values())


def _checkpoint(secret: str, checkpoint: Checkpoint | None, trust: dict[str, Trust]) -> list[Block]:
    """The summary, if there is one, and the pointers."""
    if checkpoint is None:
        return []
    pointers = [blocks.elision_block(secret, checkpoint.id, span) for span in checkpoint.pointers]
    if not checkpoint.summary:
        return pointers
    label = lowest(Trust.INTERNAL, derived_trust(checkpoint.summarized, trust))
    return [blocks.summary_block(secret, checkpoint.id, checkpoint.summary, label), *pointers]


def _cap_recall(draft: Draft) -> None:
    """Keep the leading part of the ranking that is within the cap, past items that alone are over it."""
    left = cap = CAPS[TokenClass.RECALL]
    kept = []
    for item, its_line in zip(draft.inputs.recall, draft.recall, strict=True):
        size = content_tokens(draft.model, [item])
        left -= size if size <= cap else 0
        if size <= cap and left >= 0:
            kept.append(its_line)
        else:
            _note(draft, YieldStep.RECALL, item.id, "cap")
    draft.recall = kept


def _cap_results(draft: Draft) -> None:
    """Where results are over their cap, truncate older ones, and active ones if that is not enough."""
    cap = draft.plan.budget.tool_results_tokens
    if _held(draft) <= cap:
        return
    for item in _worth_truncating(draft):
        _truncate(draft, item, "cap")
        if _held(draft) <= cap - draft.spare:
            return
    small = [item for item in _whole_results(draft, draft.turn.older) if item.text]
    active = [item for item in _whole_results(draft, draft.turn.standing) if item.id in draft.turn.active]
    for item in (*small, *sorted(active, key=lambda item: -content_tokens(draft.model, [item]))):
        if _held(draft) <= cap:
            return
        _truncate(draft, item, "cap")


def _held(draft: Draft) -> int:
    """Tokens of results that stand whole."""
    return content_tokens(draft.model, _whole_results(draft, draft.turn.standing))


def _whole_results(draft: Draft, messages: Iterable[Message]) -> list[ToolResult]:
    """The results among some messages that stand whole and may be truncated."""
    results = (item for item in messages if isinstance(item, ToolResult) and item.can_truncate)
    return [item for item in results if draft.messages[item.id].block.pointer is None]


def _worth_truncating(draft: Draft) -> list[ToolResult]:
    """Older results that are larger than a pointer may be, or than theirs would be; oldest first."""
    return [
        item
        for item in _whole_results(draft, draft.turn.older)
        if content_tokens(draft.model, [item]) > POINTER_TOKENS
        or _pointed(draft, item).tokens < draft.messages[item.id].tokens
    ]


def _pointed(draft: Draft, item: ToolResult) -> Line:
    """The pointer that may take a result's place."""
    secret, whole = draft.plan.opening.platform_secret, draft.messages[item.id].block
    return line(draft.plan, blocks.truncated(secret, item, whole))


def _truncate(draft: Draft, item: ToolResult, cause: _Cause) -> None:
    draft.messages[item.id] = _pointed(draft, item)
    _note(draft, YieldStep.TOOL_RESULT, item.id, cause)


def _note(draft: Draft, step: YieldStep, item_id: str | None, cause: _Cause) -> None:
    """Tell what gave way, unless it is on the list already."""
    assert item_id is not None
    new = Yielded(step=step, item_id=item_id, epoch=draft.plan.epoch, cause=cause)
    if not any((e.step, e.item_id, e.epoch) == (step, item_id, new.epoch) for e in draft.inputs.yielded):
        draft.gone.append(new)
