"""Compaction as the main loop does it: called for, recorded, and its checkpoint put in force."""

from __future__ import annotations

from typing import Literal

from contextproof.conformance.contract.answers import CompactAnswer, Compacted, Escalated
from contextproof.conformance.contract.calls import CompactCall
from contextproof.conformance.contract.items import CompactionRecorded, SessionClosed
from contextproof.conformance.play.formation import offer
from contextproof.conformance.play.session import Session
from contextproof.conformance.play.summarizer import Summarizer
from contextproof.conformance.play.trace import CompactRecord

Outcome = Literal["completed", "nothing_to_gain", "failed", "escalated"]

#: How the log calls each answer of a compactor.
_OUTCOMES: dict[str, Outcome] = {
    "compacted": "completed",
    "nothing_to_gain": "nothing_to_gain",
    "compaction_failed": "failed",
    "escalated": "escalated",
}


def compact(session: Session, *, forced: bool) -> Outcome:
    """Call the compactor and act on its answer; returns the outcome's name."""
    context, inputs = session.context(), session.inputs()
    text = session.resolver.text(session.summarizer.text)
    summarizer = Summarizer(session.summarizer, text, context.model.tokenizer)
    answer: CompactAnswer = session.call(
        CompactCall(context=context, plan=session.plan, inputs=inputs), summarizer
    )
    session.note(
        CompactRecord(
            context=context,
            step=session.step,
            forced=forced,
            plan=session.plan_index,
            inputs=session.recorded(inputs),
            calls=tuple(summarizer.calls),
            answer=answer,
        )
    )
    outcome = _OUTCOMES[answer.answer]
    checkpoint_id = None
    if isinstance(answer, Compacted):
        session.checkpoint = answer.checkpoint
        checkpoint_id = answer.checkpoint.id
        session.use_ids([checkpoint_id])
        session.known_ids.add(checkpoint_id)
    session.append(
        CompactionRecorded(id=f"compaction-{len(session.log)}", outcome=outcome, checkpoint_id=checkpoint_id)
    )
    if isinstance(answer, Escalated):
        session.ended = "escalated"
        close(session)
    return outcome


def close(session: Session) -> None:
    """The session boundary: the log says so, and facts are offered."""
    session.append(SessionClosed(id=f"closed-{len(session.log)}"))
    offer(session, closed=True)
    session.ended = session.ended or "closed"
