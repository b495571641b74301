"""Building: draft all that must stand, let give way what must, and send it or say why not."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter

from contextproof.calibration.odd.plain.blocks import in_order
from contextproof.calibration.odd.plain.drafting import Draft, latest, relieved
from contextproof.calibration.odd.plain.elision import divided
from contextproof.calibration.odd.plain.measuring import where
from contextproof.calibration.odd.plain.reading import complaint
from contextproof.conformance.contract.answers import BudgetExhausted, Built, CompactionNeeded, InvalidInput
from contextproof.conformance.contract.caps import CAPS
from contextproof.conformance.contract.events import YieldApplied
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Estimate, Request
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import TokenClass


def build(
    context: CallContext, plan: Plan, inputs: BuildInputs
) -> Built | CompactionNeeded | BudgetExhausted | InvalidInput:
    """The request, or why there is none."""
    refused = complaint(inputs.log) or _over_cap(plan, inputs)
    if refused:
        return refused
    draft = relieved(plan, inputs)
    estimate = draft.estimate(draft.lines)
    if estimate.total <= draft.model.limit:
        return _built(context, draft, estimate)
    return _exhausted(draft) or CompactionNeeded(yielded=tuple(draft.gone), estimate=estimate)


def _built(context: CallContext, draft: Draft, estimate: Estimate) -> Built:
    plan = draft.plan
    request = Request(
        **where(context, plan.epoch),
        model=draft.model.name,
        blocks=(*plan.blocks, *in_order(line.block for line in draft.lines)),
        prefix_sha256=plan.prefix_sha256,
        estimate=estimate,
    )
    return Built(request=request, yielded=tuple(draft.gone), events=_events(context, draft))


def _events(context: CallContext, draft: Draft) -> tuple[YieldApplied, ...]:
    """One event for each step and cause."""
    kind = attrgetter("step", "cause")
    return tuple(
        YieldApplied(
            **where(context, draft.plan.epoch),
            step=step,
            cause=cause,
            item_ids=tuple(entry.item_id for entry in entries),
        )
        for (step, cause), entries in groupby(sorted(draft.gone, key=kind), key=kind)
    )


def _over_cap(plan: Plan, inputs: BuildInputs) -> BudgetExhausted | None:
    """The largest class handed over that is above its cap.

    After a change of tokenizer it has to be so by every one: what was within its cap when written stands.
    """
    texts = {
        TokenClass.WORKING_STATE: [entry.text for entry in inputs.working_state.entries()],
        TokenClass.MEMORY_CORRECTIONS: [item.text for item in latest(inputs.corrections)],
        TokenClass.ENVIRONMENT: [item.text for item in inputs.environment],
    }
    over: dict[TokenClass, int] = {}
    for name, written in texts.items():
        tokenizers = (plan.opening.model.tokenizer, *plan.earlier_tokenizers)
        measured = [sum(count(tokenizer, text) for text in written) for tokenizer in tokenizers]
        if min(measured) > CAPS[name]:
            over[name] = measured[0]
    if not over:
        return None
    worst = max(over, key=lambda name: over[name])
    return BudgetExhausted(token_class=worst, needed=over[worst], available=CAPS[worst])


def _exhausted(draft: Draft) -> BudgetExhausted | None:
    """What never yields, where it would not fit with all else compacted to an empty summary."""
    least = [*draft.unyielding, *divided(draft).lines]
    if draft.room(least) >= 0:
        return None
    body = draft.estimate(draft.unyielding).by_class[len(draft.plan.tokens) :]
    return BudgetExhausted(
        token_class=max(body, key=lambda entry: entry.tokens).token_class,
        needed=draft.estimate(least).body_tokens,
        available=draft.plan.budget.body_tokens,
    )
