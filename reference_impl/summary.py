"""Having trusted content summarized, in as many calls as it takes, and cutting what is too long."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from contextproof.conformance.contract.ports import Summarize, SummarizerError, SummaryPart
from contextproof.conformance.contract.session import ModelSpec
from contextproof.conformance.contract.tokenizers import count
from contextproof.reference_impl.scope import part_tokens

_JOINER: Final = "\u200d"
#: Characters that belong to the one before them: marks, variation selectors, emoji modifiers, tags.
_EXTENDING_CATEGORIES: Final = ("Mn", "Me", "Mc", "Cf", "Sk")
_REGIONAL_INDICATORS: Final = range(0x1F1E6, 0x1F200)


class SummaryFailed(Exception):
    """The summarizer did not deliver; the message says how."""


def chunks(model: ModelSpec, parts: Iterable[SummaryPart]) -> tuple[tuple[SummaryPart, ...], ...]:
    """Parts in as few calls as fit the window less the reserve, in order."""
    made: list[list[SummaryPart]] = []
    room = 0
    for part in parts:
        tokens = part_tokens(model, part)
        if not made or tokens > room:
            made.append([])
            room = model.limit
        made[-1].append(part)
        room -= tokens
    return tuple(tuple(chunk) for chunk in made)


def summarized(
    model: ModelSpec,
    calls: Sequence[tuple[SummaryPart, ...]],
    summarize: Summarize,
    max_tokens: int,
) -> str:
    """One text out of one or more calls, each asked for its share of ``max_tokens``.

    Raises:
        SummaryFailed: where a call raises, ends short, or brings nothing.
    """
    share = max(1, max_tokens // len(calls))
    return "\n".join(tuple(_answers(model, calls, summarize, share)))


def _answers(
    model: ModelSpec,
    calls: Sequence[tuple[SummaryPart, ...]],
    summarize: Summarize,
    share: int,
) -> Iterator[str]:
    for parts in calls:
        try:
            summary = summarize(parts, share)
        except SummarizerError as error:
            raise SummaryFailed(f"the summarizer failed: {error}") from error
        if not summary.complete:
            raise SummaryFailed("the summary ended short")
        if not summary.text.strip():
            raise SummaryFailed("the summary is empty")
        # With one call the caller's own bounds are all there is to keep to.
        fits = len(calls) == 1
        yield summary.text if fits else leading(summary.text, _within(model, share))


def _within(model: ModelSpec, tokens: int) -> Callable[[str], bool]:
    return lambda text: count(model.tokenizer, text) <= tokens


def leading(text: str, fits: Callable[[str], bool]) -> str:
    """The longest leading part that fits, found by halving, cut between characters as people see them.

    The empty text is taken to fit.
    """
    if fits(text):
        return text
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle)
    while low and not (_is_boundary(text, low) and fits(text[:low])):
        low -= 1
    return text[:low]


def _is_boundary(text: str, at: int) -> bool:
    """Whether a text may be cut before its character ``at``."""
    before, after = text[at - 1], text[at]
    if before == _JOINER or unicodedata.category(after) in _EXTENDING_CATEGORIES:
        return False
    both_regional = all(ord(c) in _REGIONAL_INDICATORS for c in (before, after))
    return not both_regional and (before, after) != ("\r", "\n")
