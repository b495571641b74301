"""An engine that is careful and eager: it estimates high, shows excerpts, and gives way all at once.

- A body is estimated at 1.22 times its count.
- A truncation pointer carries the beginning of what it stands for, until room for that is lacking.
- Once something must give way, all recall does, and if that is not enough, all older results at once.
- An older summary is always summarized again, so that sessions escalate early.
- A checkpoint has one elision pointer at the most.
"""

# ruff: noqa: SLF001 (another composition is made at the seams of the reference, which are its own)

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from contextproof.calibration.odd.excerpts import with_excerpt
from contextproof.calibration.odd.grammar import engine
from contextproof.conformance.contract.items import ToolResult
from contextproof.conformance.contract.ports import Engine
from contextproof.conformance.contract.request import ElidedSpan, PointerKind
from contextproof.conformance.contract.tokenizers import count

#: An excerpt is of so many characters and tokens at the most, and of results larger than a bound.
_EXCERPT_CHARACTERS: Final = 160
_EXCERPT_TOKENS: Final = 64
_WORTH_AN_EXCERPT: Final = 256

_MARGIN: Final = (122, 100)


def _estimator(module: Any) -> None:
    module.MARGIN_NUMERATOR, module.MARGIN_DENOMINATOR = _MARGIN


def _elision(module: Any) -> None:
    def at_most_one(pointers: Sequence[ElidedSpan]) -> tuple[ElidedSpan, ...]:
        return (module.merged(pointers),) if pointers else ()

    module.fewer = at_most_one


def _rendering(module: Any) -> None:
    def pointer_text(kind: PointerKind, span: ElidedSpan) -> tuple[str, str, str]:
        names = " | ".join(module.quote(reference.item_id) for reference in span.references)
        if kind is PointerKind.TRUNCATION:
            return f"{module.MARK}see ", names, f" for all {span.size} bytes of this{module.END_OF_MARK}"
        return (
            f"{module.MARK}{len(span.references)} items that are not shown, {span.size} bytes: ",
            names,
            module.END_OF_MARK,
        )

    module._pointer_text = pointer_text


def excerpt_of(tokenizer: Any, item: ToolResult) -> str:
    """The beginning of a result that its pointer carries; empty for one too small to be worth it."""
    text = item.text[:_EXCERPT_CHARACTERS]
    is_worth = count(tokenizer, item.text) > _WORTH_AN_EXCERPT
    return text if is_worth and count(tokenizer, text) <= _EXCERPT_TOKENS else ""


def _draft(module: Any) -> None:
    bare_pointer, all_bare = module.pointer_to, module.with_pointers

    def pointer_to(draft: Any, entry: Any) -> Any:
        bare = bare_pointer(draft, entry)
        model = draft.plan.opening.model
        text = excerpt_of(model.tokenizer, entry.item)
        if not text:
            return bare
        block = with_excerpt(bare.block, text.replace("⟪", "⟪-"))
        return bare._replace(block=block, tokens=module.block_tokens(model, block))

    def with_pointers(draft: Any, entries: Sequence[Any], cause: Any) -> Any:
        tokenizer = draft.plan.opening.model.tokenizer
        shown = sum(count(tokenizer, excerpt_of(tokenizer, entry.item)) for entry in entries)
        pointed = all_bare(draft, entries, cause)
        return replace(pointed, held=pointed.held + shown)

    def without_excerpts(draft: Any) -> Any:
        """The draft with no excerpt in any pointer."""
        tokenizer = draft.plan.opening.model.tokenizer
        pointed, exact, held = dict(draft.pointed), dict(draft.exact), draft.held
        for item_id, there in draft.pointed.items():
            pointed[item_id] = bare = bare_pointer(draft, there.entry)
            exact[module.class_of(draft, there.entry)] += bare.tokens - there.tokens
            if there.block.pointer.excerpt is not None:
                held -= count(tokenizer, excerpt_of(tokenizer, there.entry.item))
        return replace(draft, pointed=pointed, exact=exact, held=held)

    module.pointer_to, module.with_pointers = pointer_to, with_pointers
    module.without_excerpts = without_excerpts


def _yielding(module: Any) -> None:
    # Of the same composition: this runs while that is what the interpreter knows.
    draft_module = importlib.import_module("contextproof.reference_impl.draft")
    without_excerpts = draft_module.without_excerpts

    def within_cap(draft: Any) -> Any:
        cap = draft.plan.budget.tool_results_tokens
        if draft.held > cap:
            draft = without_excerpts(draft)
        if draft.held <= cap:
            return draft
        older = [e for e in draft.selection.older_results() if e.result_tokens and is_whole(draft, e)]
        draft = module.with_pointers(draft, older, "cap")
        if draft.held > cap:
            draft = without_excerpts(draft)
        results = (e for e in draft.selection.active_results() if e.result_tokens and is_whole(draft, e))
        active = sorted(results, key=lambda entry: -entry.result_tokens)
        draft = module.with_pointers(draft, module._until(active, draft.held, cap), "cap")
        return without_excerpts(draft) if draft.held > cap else draft

    def is_whole(draft: Any, entry: Any) -> bool:
        return entry.item.id not in draft.pointed

    def relieve(draft: Any) -> Any:
        draft = within_cap(draft)
        if draft.fits:
            return draft
        while draft.recall:
            draft = module.without_last_recall(draft)
        if draft.fits:
            return draft
        worth = module._is_worth_truncating
        older = [e for e in draft.selection.older_results() if is_whole(draft, e) and worth(draft, e)]
        draft = module.with_pointers(draft, older, "pressure")
        return draft if draft.fits else without_excerpts(draft)

    module.relieve = relieve


def _compactor(module: Any) -> None:
    module.MARGIN_NUMERATOR, module.MARGIN_DENOMINATOR = _MARGIN

    def ways(scope: Any) -> Iterator[tuple[str, bool]]:
        """What is told of the older summary: all of it, again."""
        if not scope.kept_summary.strip():
            yield scope.kept_summary, False
            return
        model = scope.draft.plan.opening.model
        if module.part_tokens(model, module._kept_part(scope)) <= scope.draft.limit:
            yield "", True

    module._ways = ways


_ENGINE: Final = engine(
    "careful",
    (
        ("estimator", _estimator),
        ("elision", _elision),
        ("rendering", _rendering),
        ("draft", _draft),
        ("yielding", _yielding),
        ("compactor", _compactor),
    ),
)


def careful() -> Engine:
    """The careful engine."""
    return _ENGINE
