"""Measures: what blocks count, what a request is estimated at, what a response teaches.

A prefix is counted. A body is counted too, with the safety margin on top; what the provider added
beyond that, last time, is taken to come again as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from contextproof.conformance.contract.answers import Estimated, Reconciled
from contextproof.conformance.contract.caps import MARGIN_DENOMINATOR, MARGIN_NUMERATOR
from contextproof.conformance.contract.events import UsageReconciled
from contextproof.conformance.contract.items import RenderedItem, content
from contextproof.conformance.contract.plan import Calibration, ModelCalibration, Plan
from contextproof.conformance.contract.request import Block, ClassTokens, Estimate, token_class
from contextproof.conformance.contract.session import CallContext, ModelSpec
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Region, TokenClass

#: Where the overhead that a provider is expected to add is itemized: every request has one.
_OVERHEAD: Final = TokenClass.CURRENT_USER_MESSAGE

Tokens = Counter[TokenClass]


def where(context: CallContext, epoch: int | None = None) -> dict[str, Any]:
    """What every event says of its place."""
    said = {"session": context.session, "epoch": epoch or context.epoch}
    return {**said, "turn": context.turn, "request": context.request}


def block_tokens(model: ModelSpec, block: Block) -> int:
    """What a block counts as sent."""
    return count(model.tokenizer, block.text) + model.overhead_per_block


def content_tokens(model: ModelSpec, items: Iterable[RenderedItem]) -> int:
    """What the content of some items counts, item by item."""
    return sum(count(model.tokenizer, content(item)) for item in items)


def by_class(model: ModelSpec, blocks: Iterable[Block]) -> Tokens:
    """What blocks count, by class."""
    counted: Tokens = Counter()
    for block in blocks:
        counted[token_class(block)] += block_tokens(model, block)
    return counted


def itemized(tokens: Tokens) -> tuple[ClassTokens, ...]:
    """Tokens by class, as the contract has them."""
    return tuple(ClassTokens(token_class=name, tokens=tokens[name]) for name in TokenClass if tokens[name])


def expected(model: ModelSpec, calibration: Calibration, counted: Tokens) -> Tokens:
    """What to expect of a body that counts so much."""
    tokens: Tokens = Counter()
    for name, exact in counted.items():
        tokens[name] = -(-exact * MARGIN_NUMERATOR // MARGIN_DENOMINATOR)
    if counted:
        tokens[_OVERHEAD] += overhead(calibration, model.name)
    return tokens


def overhead(calibration: Calibration, model: str) -> int:
    """Tokens that the provider of a model added, last time, to what was estimated without them."""
    return next((known.values[0] for known in calibration.models if known.model == model), 0)


def request_estimate(plan: Plan, calibration: Calibration, body: Tokens) -> Estimate:
    """What a request is estimated at, given what its body counts."""
    tokens = expected(plan.opening.model, calibration, body)
    return Estimate(by_class=(*plan.tokens, *itemized(tokens)), prefix_tokens=plan.prefix_tokens)


def estimate(context: CallContext, calibration: Calibration, blocks: tuple[Block, ...]) -> Estimated:
    """Any blocks, by class: those of the prefix as counted, those of the body as expected."""
    model = context.model
    prefix = by_class(model, (block for block in blocks if block.region is Region.A))
    body = by_class(model, (block for block in blocks if block.region is not Region.A))
    return Estimated(by_class=itemized(prefix + expected(model, calibration, body)))


def reconcile(context: CallContext, calibration: Calibration, estimate: Estimate, usage: int) -> Reconciled:
    """The calibration with what this response showed of its own model."""
    name, total = context.model.name, estimate.total
    learned = max(0, overhead(calibration, name) + usage - total)
    others = (known for known in calibration.models if known.model != name)
    models = (*others, ModelCalibration(model=name, values=(learned,)))
    event = UsageReconciled(**where(context), model=name, estimated=total, reported=usage)
    return Reconciled(calibration=Calibration(models=models), events=(event,))
