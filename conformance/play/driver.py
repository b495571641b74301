"""The main loop: plays a scenario against a builder and writes down a trace.

It plays the provider, the model, the summarizer, the clock and the runtime. Nothing in it judges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.contract.answers import Planned
from contextproof.conformance.contract.base import Frozen, canonical_json
from contextproof.conformance.contract.calls import OpenSessionCall
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.play import outside, requests, sides, turns
from contextproof.conformance.play import scenario as s
from contextproof.conformance.play.compaction import close, compact
from contextproof.conformance.play.recipes import Resolver, size_model
from contextproof.conformance.play.session import Session
from contextproof.conformance.play.trace import OpenRecord, ResumeRecord, Trace

Progress = Callable[[int, int], None]
"""Told how many of how many steps are played."""


def no_corpus(name: str) -> str:
    """The corpus of a play that was given none."""
    raise KeyError(f"no corpus text named {name!r}")


def play(
    scenario: s.Scenario,
    builder: Builder,
    *,
    corpus: Callable[[str], str] = no_corpus,
    beside: frozenset[str] = sides.ALL_SIDES,
    between: Callable[[Builder], None] | None = None,
    resume_in: Builder | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Play a scenario.

    Args:
        scenario: the session to play.
        builder: what it is played against; not closed here.
        corpus: gives the texts that `FromCorpus` recipes cut from.
        beside: what is asked beside the main line (see `sides`).
        between: called with the builder before every main build, to let it do something else.
        resume_in: where the session goes on after a resume; a process is started for it otherwise.
        progress: told of every step.

    Raises:
        BuilderError: where the builder crashes or answers a wrong shape.
        KeyError: for a corpus text that does not exist.
    """
    session = Session(
        scenario=scenario,
        builder=builder,
        resolver=Resolver(builder.manifest, corpus),
        sides=beside,
        between=between,
        resume_in=resume_in,
        clock=scenario.opening.clock,
    )
    try:
        if _open(session):
            for number, step in enumerate(scenario.steps):
                session.step = number
                if session.ended is not None:
                    break
                try:
                    _HANDLERS[type(step)](session, step)
                except BuilderError as error:
                    where = f"step {number + 1} ({step.step}) of {scenario.name}, turn {session.turn}"
                    raise type(error)(f"{error}; at {where}") from error
                if progress is not None:
                    progress(number + 1, len(scenario.steps))
    finally:
        if session.fresh_builder is not None:
            session.fresh_builder.close()
    return Trace(
        scenario=scenario.name,
        manifest=builder.manifest,
        ports=tuple(sorted(builder.ports)),
        log=session.log,
        plans=tuple(session.plans),
        records=tuple(session.records),
        ended=session.ended or "out of steps",
    )


def _open(session: Session) -> bool:
    """Size the model, open the session and those beside it; False where it is refused."""
    model = size_model(session.scenario.opening.model, 0)
    opening = session.resolver.opening(session.scenario.opening, outside.roomy(model))
    if session.scenario.opening.model.body_tokens is not None:
        context = session.context(opening.model)
        measured = session.call(OpenSessionCall(context=context, opening=opening))
        prefix = measured.plan.prefix_tokens if isinstance(measured, Planned) else 0
        model = size_model(session.scenario.opening.model, prefix)
    opening = opening.model_copy(update={"model": model})
    session.model = model
    session.permissions, session.tools, session.memory = (
        opening.permissions,
        opening.tools,
        opening.memory,
    )
    # Policy, instructions and tools are above all that could derive from them, and tools can go.
    session.known_ids.update(item.id for item in opening.memory)
    context = session.context()
    answer = session.call(OpenSessionCall(context=context, opening=opening))
    session.note(OpenRecord(context=context, step=-1, opening=opening, answer=answer))
    sides.openings(session, opening)
    if not isinstance(answer, Planned):
        session.ended = "refused"
        return False
    session.plans.append(answer.plan)
    session.resolver.remember(answer.plan.blocks)
    return True


def _force_compaction(session: Session) -> None:
    if session.answers("compact"):
        compact(session, forced=True)
    else:
        reason = "the builder has no compactor"
        session.skip(reason)


def _resume(session: Session) -> None:
    """Go on in a fresh process: all that is handed over passes through JSON; open calls are closed."""
    fresh = session.resume_in
    if fresh is None:
        fresh = session.builder.fresh()
        if session.fresh_builder is not None:
            session.fresh_builder.close()
        session.fresh_builder = fresh
    if fresh is not None:
        session.builder = fresh
    session.restore(BuildInputs.from_json(canonical_json(session.inputs())))
    session.plans[-1] = Plan.from_json(canonical_json(session.plan))
    if session.roomy_plan is not None:
        session.roomy_plan = Plan.from_json(canonical_json(session.roomy_plan))
    turns.interrupt_open_calls(session)
    session.note(ResumeRecord(context=session.context(), step=session.step, fresh=fresh is not None))


def _close(session: Session) -> None:
    turns.interrupt_open_calls(session)
    close(session)


#: What plays each kind of step. Handlers take the session and the step.
_HANDLERS: dict[type[Frozen], Callable[[Session, Any], None]] = {
    s.UserSays: turns.user,
    s.SendRequest: requests.send,
    s.ModelReplies: turns.reply,
    s.SetPermissions: outside.permissions,
    s.RegisterTools: outside.tools,
    s.WriteMemory: outside.remember,
    s.CorrectMemory: outside.correct,
    s.SetClock: outside.clock,
    s.ChangeRouting: outside.routing,
    s.RevokeByForce: outside.forced_revocation,
    s.Recall: outside.recall,
    s.SetEnvironment: outside.environment,
    s.WriteState: turns.write_state,
    s.SetSummarizer: outside.summarizer,
    s.ForceCompaction: lambda session, _: _force_compaction(session),
    s.Resume: lambda session, _: _resume(session),
    s.ProbeBuild: requests.probe,
    s.CloseSession: lambda session, _: _close(session),
}
