"""Decision 9: a call and its result are one thing, in requests, in compaction and in truncation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import (
    LogItem,
    ResultStatus,
    ToolResult,
    UndeclaredItem,
)
from contextproof.conformance.contract.request import Block, PointerKind
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import BuildRecord, CompactRecord, Trace, ValidateRecord
from contextproof.conformance.requirements.oracles_checkpoint import covered
from contextproof.conformance.requirements.oracles_pairing import (
    block_beats,
    calls_by_message,
    late_results,
    log_beats,
    pair,
)
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

PARALLEL_CALLS = "two calls in one message"
RESULTS_OUT_OF_ORDER = "results in another order than their calls"
REUSED_CALL_ID = "a call id that an earlier message used for another call"
DENIED_OR_INTERRUPTED = "a call closed as denied or interrupted"
BESIDE_CHECKPOINT = "a request over a checkpoint that covers calls"

WELL_FORMED = "a well-formed request with calls"
ORPHANED = "a request with an orphaned half"
DUPLICATED = "a request with a half twice"
MISORDERED = "a request with a result out of place"

COMPACTED_PAIRS = "a compaction over calls"
COMPACTED_PARALLEL_CALLS = "a compaction over two calls of one message"
TRUNCATED_RESULT = "a truncated result"

UNANSWERED_CALL = "a log with an unanswered call"
LATE_RESULT = "a log with a result after the user's next message"


@requirement(
    "CTX-09.1",
    MUST,
    gate=Gate.WHOLE_PAIRS,
    scenarios="pairs",
    witnesses=(
        PARALLEL_CALLS,
        RESULTS_OUT_OF_ORDER,
        REUSED_CALL_ID,
        DENIED_OR_INTERRUPTED,
        BESIDE_CHECKPOINT,
    ),
    cost="The provider refuses the request, and the session cannot go on.",
)
def every_pair_is_whole(trace: Trace) -> Iterator[Judgement]:
    """In every request each call is followed by exactly one result, and each result answers a call.

    The calls of one assistant message are all there, with all their results, or none of them is.
    """
    for index, build in trace.builds("main", "roomy", "other_live"):
        if isinstance(build.answer, a.Built):
            log = trace.log[: build.inputs.log_length]
            problem = _problem(build.answer.request.blocks, log)
            yield judge(
                not problem,
                at=at(index, build.context),
                seen=problem,
                required="each call with exactly one result after it, and messages' calls together",
                witnesses=_situations(log, build),
            )


def _problem(blocks: Sequence[Block], log: Sequence[LogItem]) -> str:
    """What is wrong with the pairs of a request; nothing where they are whole."""
    beats = block_beats(blocks)
    names = [beat.name for beat in beats if beat.kind != "message"]
    twice = {name for name in names if names.count(name) > 1}
    sent = pair(beats)
    true_pairs = dict(pair(log_beats(log)).pairs)
    swapped = [(c, r) for c, r in sent.pairs if true_pairs.get(c, r) != r]
    torn = [
        message
        for message, calls in calls_by_message(log).items()
        if 0 < sum(call.id in names for call in calls) < len(calls)
    ]
    if twice:
        return f"more than once: {listed(sorted(twice))}"
    if sent.unanswered:
        return f"calls without a result after them: {listed(sent.unanswered)}"
    if sent.stray:
        return f"results without a call before them: {listed(sent.stray)}"
    if swapped:
        return f"result {quoted(swapped[0][1])} stands as the answer to {quoted(swapped[0][0])}"
    return f"only some of the calls of message {listed(torn)}" if torn else ""


def _situations(log: Sequence[LogItem], build: BuildRecord) -> Iterator[str]:
    by_message = calls_by_message(log)
    order = {name: n for n, name in enumerate(call.id for c in by_message.values() for call in c)}
    pairs = pair(log_beats(log)).pairs
    answered = [order[call] for call, _ in pairs if call in order]
    ids = [call.call_id for calls in by_message.values() for call in calls]
    checkpoint = build.inputs.checkpoint
    if any(len(calls) > 1 for calls in by_message.values()):
        yield PARALLEL_CALLS
    if answered != sorted(answered):
        yield RESULTS_OUT_OF_ORDER
    if len(set(ids)) < len(ids):
        yield REUSED_CALL_ID
    if any(isinstance(item, ToolResult) and not item.can_truncate for item in log):
        yield DENIED_OR_INTERRUPTED
    if checkpoint and any(isinstance(item, ToolResult) for item in covered(checkpoint, log)):
        yield BESIDE_CHECKPOINT


@requirement(
    "CTX-09.2",
    MUST,
    gate=Gate.WHOLE_PAIRS,
    scenarios="pairs",
    witnesses=(WELL_FORMED, ORPHANED, DUPLICATED, MISORDERED),
    ports=("validate",),
    cost="A malformed request reaches the provider, or a good one never does.",
)
def validator_tells_whole_from_torn(trace: Trace) -> Iterator[Judgement]:
    """The validator accepts every well-formed request.

    It rejects each one with an orphaned, duplicated or misplaced half.
    """
    for index, record in enumerate(trace.records):
        if not isinstance(record, ValidateRecord):
            continue
        whole = pair(block_beats(record.request.blocks)).is_whole
        found = record.answer.violations
        # What the play calls a defect must be one by this oracle too, and the other way round.
        if whole is not (record.defect is None):
            continue
        yield judge(
            bool(found) is not whole,
            at=at(index, record.context),
            seen=f"{listed(v.kind for v in found)} found in a request with {record.defect or 'no defect'}",
            required="no violation" if whole else "at least one violation",
            witnesses=_shape(record),
        )


def _shape(record: ValidateRecord) -> Iterator[str]:
    beats = block_beats(record.request.blocks)
    halves = [beat for beat in beats if beat.kind != "message"]
    if record.defect is None:
        if halves:
            yield WELL_FORMED
        return
    names = [beat.name for beat in halves]
    torn = pair(beats)
    if len(set(names)) < len(names):
        yield DUPLICATED
    elif torn.unanswered and torn.stray:
        yield MISORDERED
    else:
        yield ORPHANED


@requirement(
    "CTX-09.3",
    MUST,
    gate=Gate.WHOLE_PAIRS,
    scenarios="compactions",
    witnesses=(COMPACTED_PAIRS, COMPACTED_PARALLEL_CALLS, TRUNCATED_RESULT),
    ports=("build", "compact"),
    cost="Half a pair stays behind, and every later request of the session is malformed.",
)
def yielding_keeps_pairs_whole(trace: Trace) -> Iterator[Judgement]:
    """Compaction covers all calls and results of an assistant message, or none of them.

    Where a result becomes a pointer, its call stands in the request beside it.
    """
    for index, record in enumerate(trace.records):
        if isinstance(record, CompactRecord) and isinstance(record.answer, a.Compacted):
            yield from _cut(trace, index, record, record.answer)
    for index, build in trace.builds("main"):
        if isinstance(build.answer, a.Built):
            yield from _pointers(index, build, build.answer.request.blocks)


def _cut(trace: Trace, index: int, record: CompactRecord, answer: a.Compacted) -> Iterator[Judgement]:
    log = trace.log[: record.inputs.log_length]
    gone = {item.id for item in covered(answer.checkpoint, log)}
    results = dict(pair(log_beats(log)).pairs)
    for message, calls in calls_by_message(log).items():
        halves = [call.id for call in calls] + [results[call.id] for call in calls if call.id in results]
        inside = [name for name in halves if name in gone]
        if inside:
            parallel = (COMPACTED_PARALLEL_CALLS,) if len(calls) > 1 else ()
            yield judge(
                len(inside) == len(halves),
                at=at(index, record.context, message),
                seen=f"of message {quoted(message)} the checkpoint covers {listed(inside)} but not "
                f"{listed(name for name in halves if name not in gone)}",
                required="all calls and results of the message, or none",
                witnesses=(COMPACTED_PAIRS, *parallel),
            )


def _pointers(index: int, record: BuildRecord, blocks: Sequence[Block]) -> Iterator[Judgement]:
    calls = {result: call for call, result in pair(block_beats(blocks)).pairs}
    for block in blocks:
        if block.pointer and block.pointer.kind is PointerKind.TRUNCATION and block.item_id:
            yield judge(
                block.type == "tool_result" and block.item_id in calls,
                at=at(index, record.context, block.item_id),
                seen=f"the pointer for result {quoted(block.item_id)} stands without its call",
                required="the call stays where its result is truncated",
                witnesses=(TRUNCATED_RESULT,),
            )


@requirement(
    "CTX-09.4",
    MUST,
    gate=Gate.WHOLE_PAIRS,
    scenarios="pairs",
    witnesses=(UNANSWERED_CALL, LATE_RESULT, DENIED_OR_INTERRUPTED),
    cost="A session with a call left open is sent malformed, or a sound one is taken for broken.",
)
def open_call_is_refused(trace: Trace) -> Iterator[Judgement]:
    """A log with an unanswered call is answered *invalid input* that names the call.

    So is one whose result comes after the user's next message. A call that was denied or interrupted
    is answered: no log is refused for it.
    """
    for index, build in trace.builds("main", "probe"):
        log = (*trace.log[: build.inputs.log_length], *build.inputs.probed)
        pairing, late = pair(log_beats(log)), late_results(log)
        if any(isinstance(item, UndeclaredItem) for item in log):
            continue
        if pairing.unanswered and not isinstance(build.answer, a.BudgetExhausted):
            named = {*pairing.unanswered, *pairing.stray}
            yield judge(
                isinstance(build.answer, a.InvalidInput) and build.answer.subject in named,
                at=at(index, build.context, pairing.unanswered[0]),
                seen=_told(build.answer),
                required=f"invalid input that names one of {listed(sorted(named))}",
                witnesses=(UNANSWERED_CALL, *((LATE_RESULT,) if late else ())),
            )
        elif pairing.is_whole:
            yield judge(
                not isinstance(build.answer, a.InvalidInput) or build.answer.kind not in _OF_PAIRS,
                at=at(index, build.context),
                seen=_told(build.answer),
                required="no complaint about pairs, since every call is answered",
                witnesses=(DENIED_OR_INTERRUPTED,) if _has_runtime_results(log) else (),
            )


_OF_PAIRS = frozenset(
    {
        a.InvalidKind.UNANSWERED_CALL,
        a.InvalidKind.ORPHANED_RESULT,
        a.InvalidKind.ORPHANED_CALL,
        a.InvalidKind.DUPLICATE_RESULT,
        a.InvalidKind.LATE_RESULT,
    }
)


def _told(answer: a.BuildAnswer) -> str:
    if isinstance(answer, a.InvalidInput):
        return f"invalid input ({answer.kind}) that names {quoted(answer.subject)}"
    return f"the build answered {answer.answer.replace('_', ' ')}"


def _has_runtime_results(log: Sequence[LogItem]) -> bool:
    closed = (ResultStatus.DENIED, ResultStatus.INTERRUPTED)
    return any(isinstance(item, ToolResult) and item.status in closed for item in log)
