"""The parts of a body that never yield, rendered: checkpoint, corrections, state, environment."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from contextproof.conformance.contract.answers import BudgetExhausted
from contextproof.conformance.contract.caps import CAPS
from contextproof.conformance.contract.items import MemoryCorrection, RecallItem, RenderedItem, content
from contextproof.conformance.contract.plan import BuildInputs, Checkpoint, Plan
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.trust import effective_trust
from contextproof.conformance.contract.vocabulary import Place, TokenClass, Trust
from contextproof.reference_impl.log_index import LogIndex
from contextproof.reference_impl.rendering import (
    elision_block,
    item_block,
    state_blocks,
    summary_block,
)


@dataclass(frozen=True)
class Standing:
    """What is rendered beside the messages, by place, and everything's trust by id."""

    blocks: Mapping[Place, tuple[Block, ...]]
    trust: Mapping[str, Trust]


def render_standing(plan: Plan, inputs: BuildInputs, index: LogIndex) -> Standing:
    """Render all that is neither message nor recall."""
    secret = plan.opening.platform_secret
    trust: ChainMap[str, Trust] = index.trust.new_child()
    items: tuple[RenderedItem, ...] = (*inputs.corrections, *inputs.recall, *inputs.environment)
    for item in items:
        trust[item.id] = effective_trust(item, trust)
    corrections = latest(inputs.corrections)
    return Standing(
        blocks={
            Place.CHECKPOINT: checkpoint_blocks(secret, inputs.checkpoint),
            Place.MEMORY_CORRECTION: tuple(item_block(secret, c, trust[c.id]) for c in corrections),
            Place.WORKING_STATE: state_blocks(secret, inputs.working_state, trust),
            Place.ENVIRONMENT: tuple(item_block(secret, item, trust[item.id]) for item in inputs.environment),
        },
        trust=trust,
    )


def latest(corrections: Iterable[MemoryCorrection]) -> tuple[MemoryCorrection, ...]:
    """One correction a memory item, the latest, in order of writing."""
    written = tuple(corrections)
    last = {correction.memory_id: n for n, correction in enumerate(written)}
    return tuple(c for n, c in enumerate(written) if last[c.memory_id] == n)


def checkpoint_blocks(secret: str, checkpoint: Checkpoint | None) -> tuple[Block, ...]:
    """A checkpoint: its summary, then a block for each of its pointers."""
    if checkpoint is None:
        return ()
    return (
        summary_block(secret, checkpoint.id, checkpoint.summary),
        *(elision_block(secret, checkpoint.id, span) for span in checkpoint.pointers),
    )


def over_cap(plan: Plan, inputs: BuildInputs) -> BudgetExhausted | None:
    """The largest class that is over its own cap and cannot be made smaller by a build.

    What was written under a model with another tokenizer stands until it is next written. A build is
    not told when that was, so after a change of tokenizer a class is over only if it would have been
    so under every tokenizer that the session has had.
    """
    tokenizers = (plan.opening.model.tokenizer, *plan.earlier_tokenizers)
    texts = {
        TokenClass.WORKING_STATE: [entry.text for entry in inputs.working_state.entries()],
        TokenClass.MEMORY_CORRECTIONS: [content(item) for item in latest(inputs.corrections)],
        TokenClass.ENVIRONMENT: [content(item) for item in inputs.environment],
    }
    measured = {
        name: [sum(count(tokenizer, text) for text in held) for tokenizer in tokenizers]
        for name, held in texts.items()
    }
    over = [name for name, counts in measured.items() if min(counts) > CAPS[name]]
    if not over:
        return None
    largest = max(over, key=lambda name: measured[name][0])
    return BudgetExhausted(token_class=largest, needed=measured[largest][0], available=CAPS[largest])


def recall_within_cap(plan: Plan, recall: Iterable[RecallItem]) -> tuple[RecallItem, ...]:
    """The leading part of a ranking that its cap holds, once items that alone exceed it are gone."""
    cap, tokenizer = CAPS[TokenClass.RECALL], plan.opening.model.tokenizer
    kept: list[RecallItem] = []
    held = 0
    for item in recall:
        tokens = count(tokenizer, item.text)
        if tokens > cap:
            continue
        held += tokens
        if held > cap:
            break
        kept.append(item)
    return tuple(kept)
