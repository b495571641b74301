"""The milestone gate: play the scripted sessions, judge them, and say which of five gates hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from contextproof import scenarios
from contextproof.conformance.adapters.reach import reach
from contextproof.conformance.adapters.twin import twin
from contextproof.conformance.builder import Builder, BuilderError, BuilderGone
from contextproof.conformance.contract.answers import Planned
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.calls import BuildCall, OpenSessionCall
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.evidence import Ledger
from contextproof.conformance.judging import all_variations, judge_session, play_variations
from contextproof.conformance.metrics import Metrics, measure, tally
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.play.variations import TWIN
from contextproof.conformance.progress import Progress, unheard
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import Gate
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import HOLDING, Result, Verdict, decide, holds, merge

#: What a gate rests on until generated sessions are played too.
SCOPE = "scripted part only"


class GateOutcome(Frozen):
    """One gate: whether it holds, and the results it rests on."""

    gate: Gate
    holds: bool
    verdict: Verdict
    judgements: int
    results: tuple[Result, ...]


class GateRun(Frozen):
    """All that a run of the gate found.

    ``sessions`` are the names of the scenarios played, each with how it ended; ``trouble`` of those in
    which the builder crashed or answered outside the contract, each with how. ``gates`` in order,
    ``results`` of every requirement by id.
    """

    builder: Target
    manifest: Manifest
    scope: str
    sessions: tuple[tuple[str, str], ...]
    requests: int
    gates: tuple[GateOutcome, ...]
    results: tuple[Result, ...]
    metrics: Metrics
    trouble: tuple[tuple[str, str], ...] = ()

    @property
    def all_hold(self) -> bool:
        """Whether all five gates hold, and every session could be judged."""
        return not self.trouble and all(outcome.holds for outcome in self.gates)


def run_scripted(target: Target, files: Sequence[Path] = (), *, progress: Progress = unheard) -> GateRun:
    """Run the gate over the scripted sessions, or over scenario files instead.

    The first of them is also played by a twin.

    Raises:
        BuilderError: where the builder cannot be reached or answers outside the contract.
        scenarios.BadScenario: where a file is not a scenario this version can read.
    """
    chosen = [scenarios.read(path) for path in files] or list(scenarios.scripted())
    twins = frozenset(scenario.name for scenario in chosen[:1])
    return run_gate(target, chosen, scenarios.corpus, twins=twins, progress=progress)


def run_gate(
    target: Target,
    scenarios: Sequence[Scenario],
    corpus: Callable[[str], str],
    *,
    twins: frozenset[str],
    progress: Progress = unheard,
) -> GateRun:
    """Play the scripted sessions against a builder and judge them.

    Args:
        target: names the builder.
        scenarios: the sessions to play.
        corpus: gives the texts that recipes cut from.
        twins: names of the scenarios that are also played by a twin in another process.
        progress: told how far it is.

    Raises:
        BuilderError: where the builder cannot be reached, or no session can be judged.
    """
    builder = reach(target)
    traces: dict[str, Trace] = {}
    trouble: dict[str, BuilderError] = {}
    ledger = Ledger()

    def judge(scenario: Scenario) -> None:
        trace = play(scenario, builder, corpus=corpus, progress=partial(progress, scenario.name))
        varied = play_variations(scenario, builder, corpus, all_variations())
        if scenario.name in twins:
            varied[TWIN] = _played_by_twin(target, scenario, trace, corpus, progress)
        judge_session(scenario, trace, varied, ledger)
        traces[scenario.name] = trace

    try:
        for scenario in scenarios:
            try:
                judge(scenario)
            except BuilderError as error:
                trouble[scenario.name] = error
                if isinstance(error, BuilderGone):
                    break
    finally:
        builder.close()
    if trouble and not traces:
        raise next(iter(trouble.values()))
    told = tuple((name, str(error)) for name, error in trouble.items())
    return _outcome(target, builder, traces, ledger).model_copy(update={"trouble": told})


def _played_by_twin(
    target: Target, scenario: Scenario, trace: Trace, corpus: Callable[[str], str], progress: Progress
) -> Trace:
    """The same session in another process, with another session opened before each of its builds."""
    with twin(target) as other:
        return play(
            scenario,
            other,
            corpus=corpus,
            beside=frozenset(),
            between=_interlude(trace),
            progress=partial(progress, f"{scenario.name} by the twin"),
        )


def _interlude(trace: Trace) -> Callable[[Builder], None]:
    """Opens another session and builds in it, so that anything held between calls shows."""
    first = next((build for _, build in trace.builds("main")), None)
    if first is None:
        return lambda _builder: None
    context = first.context.model_copy(update={"session": "an interlude", "epoch": 1})
    opening = trace.plans[0].opening.model_copy(update={"platform_secret": "a secret of another platform"})
    inputs = trace.inputs(first)

    def interlude(builder: Builder) -> None:
        opened = builder.call(OpenSessionCall(context=context, opening=opening))
        if isinstance(opened, Planned):
            builder.call(BuildCall(context=context, plan=opened.plan, inputs=inputs))

    return interlude


def _outcome(target: Target, builder: Builder, traces: Mapping[str, Trace], ledger: Ledger) -> GateRun:
    results = {
        requirement.id: decide(
            requirement, ledger, builder.manifest, builder.ports, over_pipe=target.is_over_pipe
        )
        for requirement in all_requirements()
    }
    return GateRun(
        builder=target,
        manifest=builder.manifest,
        scope=SCOPE,
        sessions=tuple((name, trace.ended) for name, trace in traces.items()),
        requests=sum(len(trace.sent) for trace in traces.values()),
        gates=tuple(gate_outcome(gate, results.values()) for gate in Gate),
        results=tuple(results.values()),
        metrics=measure([tally(tuple(traces.values()))]),
    )


def gate_outcome(gate: Gate, results: Iterable[Result]) -> GateOutcome:
    """A gate over the results of its requirements."""
    members = {r.id for r in all_requirements() if r.gate is gate}
    mine = tuple(result for result in results if result.requirement in members)
    verdicts = [result.verdict for result in mine]
    worst = merge(verdicts)
    if worst in HOLDING and Verdict.NOT_CLAIMED in verdicts:
        worst = Verdict.NOT_CLAIMED
    return GateOutcome(
        gate=gate,
        holds=holds(verdicts),
        verdict=worst,
        judgements=sum(result.evidence.judgements for result in mine),
        results=mine,
    )
