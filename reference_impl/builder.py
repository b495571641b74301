"""Building a request: a pure function of its inputs (decision 10). It never compacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from contextproof.conformance.contract.answers import (
    BudgetExhausted,
    BuildAnswer,
    Built,
    CompactionNeeded,
)
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Request
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.reference_impl.assembly import assembled
from contextproof.reference_impl.draft import Draft, draft_request, total_of
from contextproof.reference_impl.log_index import index_log
from contextproof.reference_impl.scope import least_left, scope_of
from contextproof.reference_impl.standing import over_cap
from contextproof.reference_impl.yielding import relieve, yield_events

#: What never yields, the checkpoint aside: the classes a refusal may name.
NEVER_YIELD: Final = (
    TokenClass.CURRENT_USER_MESSAGE,
    TokenClass.WORKING_STATE,
    TokenClass.MEMORY_CORRECTIONS,
    TokenClass.ENVIRONMENT,
    TokenClass.ACTIVE,
)


def build(context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
    """The request for the current turn, or why there is none.

    Of ``inputs.live`` nothing is used: what is live must not show.
    """
    index = index_log(plan.opening, inputs.log)
    problem = index.problem
    if problem is not None:
        return problem
    over = over_cap(plan, inputs)
    if over is not None:
        return over
    draft = relieve(draft_request(plan, inputs, index))
    if not draft.fits:
        return _too_large(draft, inputs)
    request = Request(
        session=plan.session,
        epoch=plan.epoch,
        turn=context.turn,
        request=context.request,
        model=plan.opening.model.name,
        blocks=assembled(draft),
        prefix_sha256=plan.prefix_sha256,
        estimate=draft.estimate(),
    )
    return Built(request=request, yielded=draft.yielded, events=yield_events(context, draft))


def _too_large(draft: Draft, inputs: BuildInputs) -> CompactionNeeded | BudgetExhausted:
    """Compaction is asked for only where it could make the request fit."""
    least = least_left(scope_of(draft, inputs.checkpoint))
    needed = total_of(draft.plan, least, draft.ratio)
    if needed <= draft.limit:
        return CompactionNeeded(yielded=draft.yielded, estimate=draft.estimate())
    return BudgetExhausted(token_class=_largest(least), needed=needed, available=draft.limit)


def _largest(exact: Mapping[TokenClass, int]) -> TokenClass:
    return max(NEVER_YIELD, key=lambda name: exact.get(name, 0))
