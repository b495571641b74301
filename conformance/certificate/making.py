"""Making the certificate of a run, from its record."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from contextproof.conformance.causes import in_order_of_cause
from contextproof.conformance.certificate import model as m
from contextproof.conformance.certificate.figures import calibration, floor, measured
from contextproof.conformance.certification.outcome import Level, Outcome, outcome_of
from contextproof.conformance.certification.reading import Run
from contextproof.conformance.certification.record import Header
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.vocabulary import Decision, Place
from contextproof.conformance.requirements.registry import REGISTRY
from contextproof.conformance.verdicts import Result, Verdict

#: The requirement, and its witness, by which a pointer for an active result shows.
_ACTIVE_POINTER = ("CTX-08.10", "an active result that became a pointer for the cap")


def certificate(run: Run, found: Outcome | None = None) -> m.Certificate:
    """The certificate of a run; ``found`` is what it comes to, where that is known already."""
    header, outcome = run.header, found or outcome_of(run)
    causes = {result.requirement: follows for result, follows in in_order_of_cause(outcome.results)}
    matrix = measured()
    identity = m.Identity(name=header.manifest.name, version=header.manifest.version, reached=header.builder)
    return m.Certificate(
        level=outcome.level,
        verdict=verdict(run, outcome),
        decisions=outcome.decisions,
        builder=identity,
        suite=header.suite,
        requirement_set=header.requirements.version,
        requirement_sha256=header.requirements.sha256,
        tokenizers=header.tokenizers,
        environments=header.environments,
        budget=header.budget,
        shard=header.shard,
        complete=run.footer is not None and run.footer.complete,
        sessions=outcome.sessions,
        requests=outcome.requests,
        gates=tuple(_gates(outcome)),
        metrics=outcome.metrics,
        requirements=tuple(_line(result, causes.get(result.requirement, ())) for result in outcome.results),
        not_claimed=tuple(one for one in Decision if one not in header.manifest.claims),
        deviations=tuple(_deviations(header.manifest, outcome)),
        known_failures=run.known,
        trouble=_trouble(outcome),
        counterexamples=tuple(_counterexamples(run)),
        calibration=calibration(matrix),
        null_floor=floor(matrix),
        reproduce=reproduce(header),
        verify=f"contextproof verify certificate.json {header.builder.option}",
    )


def verdict(run: Run, outcome: Outcome) -> str:
    """The answer in one sentence; for a builder that fails, its first cause."""
    first = next(iter(in_order_of_cause(outcome.results)), None)
    if first is not None:
        return f"Fails: {_cause(first[0])}"
    if outcome.trouble:
        told = f"{len(outcome.trouble):,} sessions" if len(outcome.trouble) > 1 else "a session"
        return f"Cannot be judged throughout: it crashed or broke the contract in {told}."
    if outcome.level is Level.FULL:
        return "Conforms in full: every MUST is claimed, was put to the test, and held."
    if outcome.level is Level.PARTIAL:
        return f"Conforms in part: {len(outcome.decisions)} of {len(Decision)} decisions hold as a whole."
    if outcome.level is Level.NONE:
        return "Conforms in nothing as a whole, although nothing was seen to fail."
    return f"Nothing failed, and this run certifies nothing: {why_not(run)}."


def _cause(result: Result) -> str:
    requirement = REGISTRY[result.requirement]
    seen = result.found.violation.seen if result.found is not None else result.note
    return f"{requirement.name.replace('_', ' ')} ({result.requirement}): {seen}"


def why_not(run: Run) -> str:
    """Why a run has no level."""
    budget = run.header.budget
    if run.header.shard is not None and run.missing:
        return f"it is part {run.header.shard} of one"
    if run.missing:
        return f"{len(run.missing):,} of {len(run.units):,} units of sessions were not played"
    if budget.is_narrowed:
        return "it was narrowed to some requirements"
    return "it played less than a certification does"


def reproduce(header: Header) -> str:
    """The command that plays the same sessions again."""
    budget = header.budget
    words = ["contextproof", "certify", "--profile", budget.profile]
    words += ["--examples", str(budget.sessions), "--seed", str(budget.seed)]
    words += ["--nonce", budget.nonce] if budget.nonce else []
    words += [word for part in budget.only for word in ("--only", part)]
    words += [word for part in budget.exclude for word in ("--exclude", part)]
    words += ["--shard", str(header.shard)] if header.shard else []
    return f"{shlex.join(words)} {header.builder.option}"


def _gates(outcome: Outcome) -> Iterator[m.GateLine]:
    for gate in outcome.gates:
        yield m.GateLine(
            gate=gate.gate,
            holds=gate.holds,
            verdict=gate.verdict,
            judgements=gate.judgements,
            requirements=tuple(result.requirement for result in gate.results),
        )


def _line(result: Result, follows: tuple[str, ...]) -> m.RequirementLine:
    requirement, evidence = REGISTRY[result.requirement], result.evidence
    violation = result.found.violation if result.found is not None else None
    return m.RequirementLine(
        id=requirement.id,
        name=requirement.name.replace("_", " "),
        decision=requirement.decision,
        level=requirement.level,
        gate=requirement.gate,
        verdict=result.verdict,
        note=result.note,
        sessions=evidence.sessions,
        judgements=evidence.judgements,
        violations=evidence.violations,
        witnesses=tuple(m.WitnessLine(situation=name, times=times) for name, times in evidence.witnesses),
        seen=violation.seen if violation is not None else "",
        required=violation.required if violation is not None else "",
        cost=requirement.cost,
        follows_from=follows,
    )


def _deviations(manifest: Manifest, outcome: Outcome) -> Iterator[m.Deviation]:
    order = manifest.order
    if order.index(Place.ACTIVE) > order.index(Place.CURRENT):
        yield m.Deviation(
            subject="active slot", told="what the turn already holds stands after the current user message"
        )
    if _without_active(order) != _without_active(tuple(Place)):
        yield m.Deviation(subject="order", told=f"types stand in this order: {', '.join(order)}")
    if manifest.structural:
        told = f"rendered as labelled JSON without an envelope: {', '.join(manifest.structural)}"
        yield m.Deviation(subject="structural types", told=told)
    identifier, witness = _ACTIVE_POINTER
    seen = next((r.evidence for r in outcome.results if r.requirement == identifier), None)
    times = dict(seen.witnesses).get(witness, 0) if seen is not None else 0
    if times:
        yield m.Deviation(
            subject="pointer for an active result",
            told=f"{times:,} times an active result became a pointer, since its class was over its cap",
        )


def _without_active(order: tuple[Place, ...]) -> list[Place]:
    return [place for place in order if place is not Place.ACTIVE]


def _trouble(outcome: Outcome) -> m.Trouble | None:
    if not outcome.trouble:
        return None
    return m.Trouble(sessions=len(outcome.trouble), first=outcome.trouble[0].error)


def _counterexamples(run: Run) -> Iterator[m.CounterexampleFile]:
    for line in run.counterexamples:
        found = line.counterexample
        yield m.CounterexampleFile(
            requirement=found.requirement, file=line.file, steps=len(found.scenario.steps)
        )


def failing(document: m.Certificate) -> list[m.RequirementLine]:
    """Failures, causes first."""
    failed = [line for line in document.requirements if line.verdict is Verdict.FAILED]
    return sorted(failed, key=lambda line: bool(line.follows_from))
