"""Truncation pointers that carry the beginning of what they stand for, for engines that have such.

Whether a pointer has an excerpt depends on its result alone: the first few messages of a session have,
where they are large. That is little enough to fit the cap on results in any body, so an excerpt never
has to be taken back.
"""

# ruff: noqa: SLF001 (another composition is made at the seams of the reference, which are its own)

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from contextproof.calibration.odd.grammar import Part
from contextproof.conformance.contract.request import Block, Extent, Reference
from contextproof.conformance.contract.tokenizers import count

#: Of the messages that a session begins with, so many may have excerpts if they are results.
_FIRST_MESSAGES: Final = 12
#: An excerpt has so many bytes at the most, and a token has at least one.
_EXCERPT_BYTES: Final = 40
#: Results of fewer tokens have none.
_WORTH_AN_EXCERPT: Final = 256


def excerpt_of(entry: Any) -> str:
    """The beginning of a result that its pointer carries; empty where it has none."""
    if entry.number >= _FIRST_MESSAGES or entry.result_tokens < _WORTH_AN_EXCERPT:
        return ""
    excerpt: str = entry.item.text.encode()[:_EXCERPT_BYTES].decode(errors="ignore")
    return excerpt


def _excerpt_tokens(draft: Any, entries: Sequence[Any]) -> int:
    tokenizer = draft.plan.opening.model.tokenizer
    return sum(count(tokenizer, excerpt_of(entry)) for entry in entries)


def excerpt_parts(encode: Callable[[str], str], *, hides: bool) -> tuple[Part, ...]:
    """The modules of the reference, altered so that pointers have excerpts.

    ``encode`` renders an excerpt; with ``hides`` a pointer's size and reference are of the rest alone.
    """

    def draft(module: Any) -> None:
        bare_pointer, all_bare = module.pointer_to, module.with_pointers

        def pointer_to(draft: Any, entry: Any) -> Any:
            bare, excerpt = bare_pointer(draft, entry), excerpt_of(entry)
            if not excerpt:
                return bare
            block = with_excerpt(bare.block, encode(excerpt))
            if hides:
                block = _of_the_rest(block, len(excerpt.encode()), len(entry.item.text.encode()))
            return bare._replace(block=block, tokens=module.block_tokens(draft.plan.opening.model, block))

        def with_pointers(draft: Any, entries: Sequence[Any], cause: Any) -> Any:
            pointed = all_bare(draft, entries, cause)
            return replace(pointed, held=pointed.held + _excerpt_tokens(draft, entries))

        module.pointer_to, module.with_pointers = pointer_to, with_pointers

    return (("draft", draft), ("yielding", _yielding))


def with_excerpt(block: Block, shown: str) -> Block:
    """A truncation pointer with an excerpt before its own text."""
    assert block.envelope is not None
    assert block.pointer is not None
    data, start = block.text.encode(), block.envelope.interior.start
    added = shown.encode()
    moved = len(added) + 1
    envelope = block.envelope.model_copy(
        update={
            "closing": _later(block.envelope.closing, moved),
            "closing_nonce": _later(block.envelope.closing_nonce, moved),
        }
    )
    pointer = block.pointer.model_copy(
        update={
            "reference": _later(block.pointer.reference, moved),
            "excerpt": Extent(start=start, end=start + len(added)),
        }
    )
    text = (data[:start] + added + b"\n" + data[start:]).decode()
    return block.model_copy(update={"text": text, "envelope": envelope, "pointer": pointer})


def _later(extent: Extent, by: int) -> Extent:
    return Extent(start=extent.start + by, end=extent.end + by)


def _of_the_rest(block: Block, shown: int, size: int) -> Block:
    """A pointer that refers to what its excerpt leaves out."""
    assert block.pointer is not None
    (whole,) = block.pointer.references
    rest = Reference(item_id=whole.item_id, start=shown, end=size)
    pointer = block.pointer.model_copy(update={"references": (rest,)})
    return block.model_copy(update={"pointer": pointer})


def _yielding(module: Any) -> None:
    def within_cap(draft: Any) -> Any:
        """Hold the cap on results, of which excerpts stay."""
        cap = draft.plan.budget.tool_results_tokens
        if draft.held <= cap:
            return draft
        for entry in draft.selection.older_results():
            if draft.held <= cap - module._slack(draft):
                break
            if entry.result_tokens and module._is_whole(draft, entry):
                draft = module.with_pointers(draft, [entry], "cap")
        active = [
            e for e in draft.selection.active_results() if e.result_tokens and module._is_whole(draft, e)
        ]
        for entry in sorted(active, key=lambda entry: -entry.result_tokens):
            if draft.held <= cap:
                break
            draft = module.with_pointers(draft, [entry], "cap")
        return draft

    module._results_within_cap = within_cap
