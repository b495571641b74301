"""A request's life: built, compacted for if need be, validated, sent, retried, reconciled."""

from __future__ import annotations

from contextproof.conformance.contract.answers import BuildAnswer, Built, CompactionNeeded
from contextproof.conformance.contract.calls import BuildCall, EstimateCall, ReconcileCall
from contextproof.conformance.contract.items import LogItem, UsageRecorded
from contextproof.conformance.contract.plan import BuildInputs, Calibration, Plan
from contextproof.conformance.contract.request import Request
from contextproof.conformance.play import sides
from contextproof.conformance.play.compaction import compact
from contextproof.conformance.play.scenario import ProbeBuild, SendRequest
from contextproof.conformance.play.session import Session
from contextproof.conformance.play.trace import (
    BuildPurpose,
    EstimateRecord,
    EstimateTime,
    ReconcileRecord,
    SendRecord,
    tokens,
)

#: A build that asks for compaction after this many in a row will never fit.
_MAX_COMPACTIONS = 6


def send(session: Session, step: SendRequest) -> None:
    """Build and send a request; a turn whose request cannot be sent ends unsent."""
    problem = _why_not(session)
    if problem:
        session.skip(problem)
        return
    session.request += 1
    built = _build_until_it_fits(session)
    if built is None:
        return
    for attempt in range(2, step.failures + 2):
        _deliver(session, built.request, step, delivered=False)
        retried = build(session, "retry", attempt)
        if not isinstance(retried, Built):
            session.unsent = "a retry was not built"
            return
        built = retried
    session.yielded += built.yielded
    usage = _deliver(session, built.request, step, delivered=True)
    session.awaits_reply = True
    session.resolver.remember(built.request.blocks)
    _reconcile(session, built.request, usage)
    session.append(UsageRecorded(id=f"usage-{len(session.log)}", request=session.request, tokens=usage))


def _why_not(session: Session) -> str | None:
    if session.turn == 0:
        return "there is no user message yet"
    return session.unsent


def _build_until_it_fits(session: Session) -> Built | None:
    """The main build, with compactions as it asks for them."""
    for _ in range(_MAX_COMPACTIONS):
        answer = build(session, "main")
        if isinstance(answer, Built):
            return answer
        if not isinstance(answer, CompactionNeeded):
            session.unsent = f"the build answered {answer.answer}"
            return None
        if not session.answers("compact"):
            session.unsent = "compaction is needed and the builder has no compactor"
            return None
        outcome = compact(session, forced=False)
        if outcome != "completed":
            session.unsent = f"a needed compaction ended: {outcome}"
            return None
    session.unsent = f"{_MAX_COMPACTIONS} compactions in a row did not make it fit"
    return None


def build(
    session: Session, purpose: BuildPurpose, attempt: int = 1, probed: tuple[LogItem, ...] = ()
) -> BuildAnswer:
    """One build that the session depends on (or a probe), with the builds beside it."""
    context, inputs = session.context(), session.inputs(attempt, probed)
    watched = (inputs.model_dump_json(), session.plan.model_dump_json()) if "watch" in session.sides else None
    if session.between is not None:
        session.between(session.builder)
    answer: BuildAnswer = session.call(BuildCall(context=context, plan=session.plan, inputs=inputs))
    unchanged = watched in (None, (inputs.model_dump_json(), session.plan.model_dump_json()))
    if watched is not None and not unchanged:
        session.hands_copies = True
        inputs, session.plans[-1] = BuildInputs.from_json(watched[0]), Plan.from_json(watched[1])
        session.restore(inputs.model_copy(update={"log": inputs.log[: len(inputs.log) - len(probed)]}))
    sides.note_build(session, purpose, context, inputs, answer, probed=probed, unchanged=unchanged)
    if purpose == "main":
        sides.beside(session, context, inputs)
        if isinstance(answer, Built):
            sides.validations(session, answer.request)
    return answer


def probe(session: Session, step: ProbeBuild) -> None:
    """One build with entries added to the log; nothing comes of it."""
    if session.turn == 0:
        session.skip("there is no user message yet")
        return
    build(session, "probe", probed=step.items)


def _deliver(session: Session, request: Request, step: SendRequest, *, delivered: bool) -> int:
    """Send; the provider counts, and reports usage where the send succeeds. Tokens."""
    context = session.context()
    overhead = context.model.overhead_per_block
    counted = sum(tokens(context, block.text) + overhead for block in request.blocks)
    usage = counted + step.extra_tokens + counted * step.extra_ppm // 1_000_000
    session.note(
        SendRecord(
            context=context,
            step=session.step,
            delivered=delivered,
            count=counted,
            usage=usage if delivered else None,
        )
    )
    return usage


def _reconcile(session: Session, request: Request, usage: int) -> None:
    if not session.answers("reconcile"):
        return
    context, before = session.context(), session.calibration
    _estimate(session, "before", before, request)
    answer = session.call(
        ReconcileCall(context=context, calibration=before, estimate=request.estimate, usage=usage)
    )
    session.note(
        ReconcileRecord(
            context=context,
            step=session.step,
            calibration=before,
            estimate=request.estimate,
            usage=usage,
            answer=answer,
        )
    )
    session.calibration = answer.calibration
    _estimate(session, "after", session.calibration, request)
    _estimate(session, "other_model_before", before, request)
    _estimate(session, "other_model_after", session.calibration, request)


def _estimate(session: Session, when: EstimateTime, calibration: Calibration, request: Request) -> None:
    if not session.answers("estimate") or "estimates" not in session.sides:
        return
    context = session.context()
    if when.startswith("other_model"):
        other = context.model.model_copy(update={"name": context.model.name + " (another)"})
        context = session.context(other)
    answer = session.call(EstimateCall(context=context, calibration=calibration, blocks=request.blocks))
    session.note(
        EstimateRecord(
            context=context,
            step=session.step,
            when=when,
            calibration=calibration,
            request=request,
            answer=answer,
        )
    )
