"""Established facts, offered to memory formation at the session boundary (decision 15)."""

from __future__ import annotations

from contextproof.conformance.contract.answers import Candidate, Candidates
from contextproof.conformance.contract.items import LogItem, Message, SessionClosed
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.contract.working_state import WorkingState
from contextproof.reference_impl.log_index import index_log
from contextproof.reference_impl.rendering import entry_trust

BAN = "it rests on untrusted content, and nothing untrusted is written to memory"


def candidates(plan: Plan, log: tuple[LogItem, ...], state: WorkingState) -> Candidates:
    """Every fact of the state, once, where the log says that the session is closed; else none.

    A fact that rests on untrusted content, or on something unknown, is offered as ineligible.
    """
    if not _is_closed(log):
        return Candidates()
    trust = index_log(plan.opening, log).trust
    offered = []
    for fact in state.established_facts:
        is_banned = entry_trust(fact, trust) is Trust.EXTERNAL_UNTRUSTED
        offered.append(
            Candidate(
                fact=fact,
                provenance=fact.derived_from,
                eligible=not is_banned,
                reason=BAN if is_banned else None,
            )
        )
    return Candidates(candidates=tuple(offered))


def _is_closed(log: tuple[LogItem, ...]) -> bool:
    """Whether the session was closed after its last message."""
    for item in reversed(log):
        if isinstance(item, SessionClosed):
            return True
        if isinstance(item, Message):
            return False
    return False
