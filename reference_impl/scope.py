"""What a compaction covers, what of it may be told to the summarizer, and what it could leave.

Shared by the builder, which must know whether asking for a compaction can help, and the compactor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextproof.conformance.contract.items import (
    AssistantMessage,
    ToolCall,
    ToolResult,
    UserMessage,
)
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.ports import SummaryPart
from contextproof.conformance.contract.request import ElidedSpan
from contextproof.conformance.contract.session import ModelSpec
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import TokenClass, Trust
from contextproof.reference_impl.draft import Draft, total_of
from contextproof.reference_impl.elision import fewer, merged, spans
from contextproof.reference_impl.estimator import block_tokens
from contextproof.reference_impl.log_index import Entry
from contextproof.reference_impl.rendering import elision_block, summary_block


@dataclass(frozen=True)
class Scope:
    """What a compaction of a draft would do before a word is summarized.

    Attributes:
        draft: the draft it is made for.
        old: the checkpoint it builds on.
        covered: the messages it covers newly, in log order.
        parts: those of them that the summarizer is given, each whole.
        pointers: the old pointers and one for each newly elided span.
        elided_bytes: content of the newly elided spans.
    """

    draft: Draft
    old: Checkpoint | None
    covered: tuple[Entry, ...]
    parts: tuple[SummaryPart, ...]
    pointers: tuple[ElidedSpan, ...]
    elided_bytes: int

    @property
    def kept_summary(self) -> str:
        """The older summary, or nothing."""
        return self.old.summary if self.old is not None else ""

    @property
    def all_in_one(self) -> tuple[ElidedSpan, ...]:
        """Its pointers merged into one, if there are any."""
        return (merged(self.pointers),) if self.pointers else ()


def scope_of(draft: Draft, old: Checkpoint | None) -> Scope:
    """What a compaction would cover, elide and have summarized."""
    model = draft.plan.opening.model
    covered = tuple(draft.selection.compactable())
    parts = {
        entry.position: part_of(entry) for entry in covered if entry.trust is not Trust.EXTERNAL_UNTRUSTED
    }
    told = {at: part for at, part in parts.items() if part_tokens(model, part) <= model.limit}
    new = spans(covered, lambda entry: entry.position not in told)
    older = old.pointers if old is not None else ()
    return Scope(
        draft=draft,
        old=old,
        covered=covered,
        parts=tuple(told.values()),
        pointers=fewer((*older, *new)),
        elided_bytes=sum(span.size for span in new),
    )


def part_of(entry: Entry) -> SummaryPart:
    """A trusted message as the summarizer is given it: what it is, and all its content unescaped."""
    match entry.item:
        case ToolCall(name=name, arguments=arguments):
            heading, text = f"tool call ⟨{name}⟩", arguments
        case ToolResult(status=status, text=text):
            heading = f"tool result, {status.value}"
        case UserMessage(text=text):
            heading = "user"
        case AssistantMessage(text=text):
            heading = "assistant"
    return SummaryPart(item_ids=(entry.item.id,), text=f"{heading}:\n{text}")


def part_tokens(model: ModelSpec, part: SummaryPart) -> int:
    """What a part costs in a call of the summarizer, by the rule of requests."""
    return count(model.tokenizer, part.text) + model.overhead_per_block


def checkpoint_tokens(draft: Draft, summary: str, pointers: Sequence[ElidedSpan]) -> int:
    """What a checkpoint of this summary and these pointers costs as rendered, exactly.

    Its id is not part of what is rendered, so any will do.
    """
    model, secret = draft.plan.opening.model, draft.plan.opening.platform_secret
    blocks = (
        summary_block(secret, "?", summary),
        *(elision_block(secret, "?", span) for span in pointers),
    )
    return sum(block_tokens(model, block) for block in blocks)


def left_by(scope: Scope, checkpoint: int) -> Mapping[TokenClass, int]:
    """Exact tokens by class once a checkpoint of so many tokens covers all that can be covered.

    Recall is counted as gone: it yields before history is compacted.
    """
    draft = scope.draft
    left = {
        **draft.exact,
        TokenClass.CHECKPOINT: checkpoint,
        TokenClass.ACTIVE: left_active(draft),
    }
    left.pop(TokenClass.HISTORY, None)
    left.pop(TokenClass.RECALL, None)
    return {name: tokens for name, tokens in left.items() if tokens}


def left_active(draft: Draft) -> int:
    """What the unit of the active pairs costs; it stays whatever is compacted. Exact tokens."""
    pointed = draft.pointed
    return sum(
        pointed[entry.item.id].tokens if entry.item.id in pointed else entry.tokens
        for entry in draft.selection.kept()
    )


def least_left(scope: Scope) -> Mapping[TokenClass, int]:
    """The least that a compaction could leave: an empty summary, and all pointers merged."""
    return left_by(scope, checkpoint_tokens(scope.draft, "", scope.all_in_one))


def fits_with(scope: Scope, checkpoint: int) -> bool:
    """Whether a request fits over a checkpoint of so many tokens."""
    draft = scope.draft
    return total_of(draft.plan, left_by(scope, checkpoint), draft.ratio) <= draft.limit
