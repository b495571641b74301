"""Decision 10, first half: build is a pure function of its inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from contextproof.conformance.contract import answers as a
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import (
    BuildRecord,
    CompactRecord,
    Record,
    ResumeRecord,
    Trace,
)
from contextproof.conformance.requirements.oracles_difference import first_difference
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import at

REPEATED = "a request built twice from the same inputs"
REPEATED_UNDER_PRESSURE = "a build under pressure made twice"
RETRIED = "a request built again after a failed send"

HANDED_A_LOG = "a build over a log of several turns"

TWIN_REQUEST = "a request that a twin process built too"
TWIN_COMPACTION = "a compaction that a twin process did too"
AFTER_RESUME = "a build after the session was resumed"


@requirement(
    "CTX-10.1",
    MUST,
    gate=Gate.SAME_IN_SAME_OUT,
    scenarios="sessions",
    witnesses=(REPEATED, REPEATED_UNDER_PRESSURE, RETRIED),
    cost="A retry is another request: the cache is missed and the failure cannot be reproduced.",
)
def same_inputs_same_bytes(trace: Trace) -> Iterator[Judgement]:
    """Built twice from the same inputs, a request has the same bytes; a refusal is the same refusal.

    A retry, whose inputs differ in the attempt number alone, gives the same bytes too.
    """
    main: BuildRecord | None = None
    for index, build in trace.builds("main", "repeat", "retry"):
        if build.purpose == "main":
            main = build
        elif main is not None and _differs_in_attempt_alone(main, build):
            difference = first_difference(main.answer, build.answer)
            yield judge(
                difference is None,
                at=at(index, build.context),
                seen=f"the {build.purpose} differs at {difference}",
                required="the same answer as the first time, byte for byte",
                witnesses=_kind_of_repetition(build),
            )


def _differs_in_attempt_alone(main: BuildRecord, again: BuildRecord) -> bool:
    live = again.inputs.live.model_copy(update={"attempt": main.inputs.live.attempt})
    inputs = again.inputs.model_copy(update={"live": live})
    return (main.context, main.plan, main.inputs) == (again.context, again.plan, inputs)


def _kind_of_repetition(build: BuildRecord) -> Iterator[str]:
    yield RETRIED if build.purpose == "retry" else REPEATED
    pressed = isinstance(build.answer, a.CompactionNeeded) or (
        isinstance(build.answer, a.Built) and bool(build.answer.yielded)
    )
    if pressed and build.purpose == "repeat":
        yield REPEATED_UNDER_PRESSURE


@requirement(
    "CTX-10.2",
    MUST,
    gate=Gate.SAME_IN_SAME_OUT,
    scenarios="sessions",
    witnesses=(HANDED_A_LOG,),
    cost="The next build starts from altered inputs, and the session's own record is wrong.",
)
def inputs_stay_as_they_were(trace: Trace) -> Iterator[Judgement]:
    """Building changes nothing in what the builder was handed, neither inputs nor plan."""
    for index, build in trace.builds():
        yield judge(
            build.inputs_unchanged,
            at=at(index, build.context),
            seen="what was handed over was altered while the request was built",
            required="inputs and a plan that are as they were handed over",
            witnesses=(HANDED_A_LOG,) if build.context.turn > 1 else (),
        )


@requirement(
    "CTX-10.3",
    MUST,
    gate=Gate.SAME_IN_SAME_OUT,
    scenarios="sessions",
    variation="twin",
    witnesses=(TWIN_REQUEST, TWIN_COMPACTION, AFTER_RESUME),
    cost="A session moved to another worker misses its cache and cannot be replayed.",
)
def circumstances_change_nothing(trace: Trace, twin: Trace) -> Iterator[Judgement]:
    """Every answer is the same in another process under other circumstances.

    Those are hash seed, time zone, locale, working directory, wall clock, everything handed over as
    JSON, and other sessions built in between.
    """
    others = dict(_answered(twin))
    resumes = [n for n, record in enumerate(trace.records) if isinstance(record, ResumeRecord)]
    places = {id(record): n for n, record in enumerate(trace.records)}
    for key, record in _answered(trace):
        if key not in others:
            continue
        index = places[id(record)]
        difference = _between(record, others[key])
        yield judge(
            not difference,
            at=at(index, record.context),
            seen=f"the twin's answer to {record.record} differs at {difference}",
            required="the same answer in every process",
            witnesses=_twin_situations(record, resumed=bool(resumes) and index > resumes[0]),
        )
        if difference:
            return  # whatever differs later follows from it


def _answered(trace: Trace) -> Iterator[tuple[tuple[object, ...], Record]]:
    """Every record with an answer, under a key that finds the same call in a twin's trace."""
    counted: Counter[tuple[object, ...]] = Counter()
    for record in trace.records:
        if not hasattr(record, "answer"):
            continue
        kinds = (getattr(record, name, None) for name in ("purpose", "when", "defect"))
        call = (record.record, record.step, *kinds)
        counted[call] += 1
        yield (*call, counted[call]), record


def _between(record: Record, other: Record) -> str:
    """Where two records' answers differ; what the summarizer was handed belongs to the answer."""
    if isinstance(record, CompactRecord) and isinstance(other, CompactRecord):
        handed = first_difference(record.calls, other.calls)
        if handed:
            return f"calls{handed}"
    return str(first_difference(_answer(record), _answer(other)) or "")


def _answer(record: Record) -> object:
    return getattr(record, "answer", None)


def _twin_situations(record: Record, *, resumed: bool) -> Iterator[str]:
    if isinstance(record, BuildRecord):
        if isinstance(record.answer, a.Built):
            yield TWIN_REQUEST
        if resumed:
            yield AFTER_RESUME
    if isinstance(record, CompactRecord):
        yield TWIN_COMPACTION
