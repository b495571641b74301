"""Asking memory formation for candidates: after every turn, and at the session boundary."""

from __future__ import annotations

from contextproof.conformance.contract.calls import CandidatesCall
from contextproof.conformance.play.session import Session
from contextproof.conformance.play.trace import CandidatesRecord


def offer(session: Session, *, closed: bool) -> None:
    """Ask which facts are offered, if the builder has the port."""
    if not session.answers("candidates"):
        return
    context, state = session.context(), session.working_state
    answer = session.call(CandidatesCall(context=context, plan=session.plan, log=session.log, state=state))
    session.note(
        CandidatesRecord(
            context=context,
            step=session.step,
            closed=closed,
            log_length=len(session.log),
            plan=session.plan_index,
            state=state,
            answer=answer,
        )
    )
