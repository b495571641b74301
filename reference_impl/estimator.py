"""Tokens: the prefix is measured exactly, the body estimated and never too low (decision 11).

A block's count by the model's own tokenizer is known exactly here, so what is conservative is the
margin, and the calibration: the ratio of what a model's responses report to what was estimated, in
parts per million. It bears on prefix and body alike, since a provider counts both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from contextproof.conformance.contract.answers import Estimated, Reconciled
from contextproof.conformance.contract.caps import MARGIN_DENOMINATOR, MARGIN_NUMERATOR
from contextproof.conformance.contract.events import UsageReconciled
from contextproof.conformance.contract.plan import Calibration, ModelCalibration
from contextproof.conformance.contract.request import Block, ClassTokens, Estimate, token_class
from contextproof.conformance.contract.session import CallContext, ModelSpec
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import CLASS_OF_PLACE, TokenClass
from contextproof.reference_impl.regions import BODY_PLACES, ORDER

#: A ratio of one, in parts per million.
ONE: Final = 1_000_000
#: Where usage stayed below the estimate, the ratio gives back one part in so many of the excess.
_FORGETTING: Final = 4

CLASSES: Final = tuple(CLASS_OF_PLACE[place] for place in ORDER)
BODY_CLASSES: Final = frozenset(CLASS_OF_PLACE[place] for place in BODY_PLACES)

#: The class that the prefix's surplus is itemized under.
_SURPLUS_CLASS: Final = TokenClass.CURRENT_USER_MESSAGE


def block_tokens(model: ModelSpec, block: Block) -> int:
    """What a block costs, exactly: its text by the model's tokenizer, and the overhead a block."""
    return count(model.tokenizer, block.text) + model.overhead_per_block


def by_class(model: ModelSpec, blocks: Iterable[Block]) -> dict[TokenClass, int]:
    """Exact tokens of blocks, by class."""
    exact: dict[TokenClass, int] = {}
    for block in blocks:
        name = token_class(block)
        exact[name] = exact.get(name, 0) + block_tokens(model, block)
    return exact


def ratio_of(calibration: Calibration, model: str) -> int:
    """The ratio learned for a model, in parts per million; `ONE` for one not heard from yet."""
    for learned in calibration.models:
        if learned.model == model:
            return learned.values[0]
    return ONE


def conservative(exact: int, ratio: int) -> int:
    """Exact tokens of a body class with the margin and the calibration, rounded up."""
    return _up(_up(exact * MARGIN_NUMERATOR, MARGIN_DENOMINATOR) * ratio, ONE)


def prefix_surplus(prefix_tokens: int, ratio: int) -> int:
    """What a model is expected to report for the prefix beyond its exact count."""
    return _up(prefix_tokens * (ratio - ONE), ONE)


def _up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def itemized(exact: Mapping[TokenClass, int], prefix_tokens: int, ratio: int) -> tuple[ClassTokens, ...]:
    """An estimate of the body by class, in assembly order.

    The prefix stays exact where it is itemized, so its surplus is put on the one body class that every
    request has and that nothing can make smaller.
    """
    tokens = {name: conservative(exact[name], ratio) for name in CLASSES if name in exact}
    surplus = prefix_surplus(prefix_tokens, ratio)
    if surplus:
        tokens[_SURPLUS_CLASS] = tokens.get(_SURPLUS_CLASS, 0) + surplus
    return classed(tokens)


def classed(tokens: Mapping[TokenClass, int]) -> tuple[ClassTokens, ...]:
    """Tokens by class, as the contract carries them."""
    return tuple(ClassTokens(token_class=name, tokens=n) for name, n in tokens.items())


def estimate(context: CallContext, calibration: Calibration, blocks: Iterable[Block]) -> Estimated:
    """Tokens of blocks by class: region A exact, region B with margin and calibration."""
    exact = by_class(context.model, blocks)
    prefix = {name: exact[name] for name in CLASSES if name in exact and name not in BODY_CLASSES}
    body = {name: tokens for name, tokens in exact.items() if name in BODY_CLASSES}
    ratio = ratio_of(calibration, context.model.name)
    return Estimated(by_class=(*classed(prefix), *itemized(body, sum(prefix.values()), ratio)))


def reconcile(context: CallContext, calibration: Calibration, estimated: Estimate, usage: int) -> Reconciled:
    """Learn from what a response reported, for its model alone.

    Where usage exceeded the estimate, the new ratio makes the same content's estimate at least that
    usage. Where it did not, an earlier excess is given back step by step: an overhead that was fixed
    weighs less as requests grow.
    """
    model = context.model.name
    ratio = ratio_of(calibration, model)
    needed = max(ONE, _needed_ratio(estimated, ratio, usage))
    learned = needed if needed >= ratio else ratio - (ratio - needed) // _FORGETTING
    others = tuple(entry for entry in calibration.models if entry.model != model)
    return Reconciled(
        calibration=Calibration(models=(*others, ModelCalibration(model=model, values=(learned,)))),
        events=(
            UsageReconciled(
                session=context.session,
                epoch=context.epoch,
                turn=context.turn,
                request=context.request,
                model=model,
                estimated=estimated.total,
                reported=usage,
            ),
        ),
    )


def _needed_ratio(estimated: Estimate, ratio: int, usage: int) -> int:
    """The least ratio by which the estimated content would have been estimated at its usage.

    The uncalibrated estimate is no longer at hand; the least that each class can have been is.
    """
    prefix = estimated.prefix_tokens
    body = {e.token_class: e.tokens for e in estimated.by_class if e.token_class in BODY_CLASSES}
    if _SURPLUS_CLASS in body:
        body[_SURPLUS_CLASS] -= prefix_surplus(prefix, ratio)
    least = sum((tokens - 1) * ONE // ratio + 1 for tokens in body.values() if tokens > 0)
    return _up(usage * ONE, max(1, prefix + least))
