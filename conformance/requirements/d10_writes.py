"""Decision 10, second half: build never compacts, and a compaction that fails writes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.events import CompactionCompleted, CompactionEscalated
from contextproof.conformance.contract.items import Message
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.request import Estimate, Request
from contextproof.conformance.contract.vocabulary import CHECKPOINT, TokenClass
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import (
    BuildRecord,
    CompactRecord,
    Trace,
    body_count,
    prefix_count,
)
from contextproof.conformance.requirements.oracles_checkpoint import (
    covered,
    first_build_after,
    last_build_before,
)
from contextproof.conformance.requirements.oracles_difference import first_difference
from contextproof.conformance.requirements.oracles_rendering import content_of
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

ASKED_FOR_COMPACTION = "a build that asked for compaction"
OVER_A_CHECKPOINT = "a build over a checkpoint"

REBUILT = "a request rebuilt after the compaction it asked for"
REBUILT_AFTER_FORCED = "a request built after a forced compaction"

SUMMARIZER_FAILED = "a compaction whose summarizer failed"
SUMMARY_CUT_SHORT = "a compaction whose summary ended short"


@requirement(
    "CTX-10.4",
    MUST,
    gate=Gate.SAME_IN_SAME_OUT,
    scenarios="compactions",
    witnesses=(ASKED_FOR_COMPACTION, OVER_A_CHECKPOINT),
    cost="What is lost is lost in passing: no event, no checkpoint, and no retry that agrees.",
)
def build_never_compacts(trace: Trace) -> Iterator[Judgement]:
    """A build writes no checkpoint: it says that compaction is needed.

    What it renders of a checkpoint is the one it was handed, as it was handed over.
    """
    for index, build in trace.builds("main", "retry", "roomy"):
        problem = _inline_compaction(trace, build)
        yield judge(
            not problem,
            at=at(index, build.context),
            seen=problem,
            required="the checkpoint as handed over, and no compaction within a build",
            witnesses=_checkpoint_situations(build),
        )


def _inline_compaction(trace: Trace, build: BuildRecord) -> str:
    written = (CompactionCompleted, CompactionEscalated)
    told = [event.type for event in build.answer.events if isinstance(event, written)]
    if told:
        return f"the build's own answer carries {listed(told)}"
    if not isinstance(build.answer, a.Built):
        return ""
    handed = build.inputs.checkpoint
    for block in build.answer.request.blocks:
        if block.type != CHECKPOINT:
            continue
        if handed is None:
            return f"a checkpoint {quoted(block.item_id or '')} that no compaction wrote"
        if block.item_id != handed.id:
            return f"checkpoint {quoted(block.item_id or '')} instead of {quoted(handed.id)}"
        if block.pointer is None and content_of(block, trace.manifest) != handed.summary:
            return f"another summary than that of checkpoint {quoted(handed.id)}"
    return ""


def _checkpoint_situations(build: BuildRecord) -> Iterator[str]:
    if isinstance(build.answer, a.CompactionNeeded):
        yield ASKED_FOR_COMPACTION
    if isinstance(build.answer, a.Built) and build.inputs.checkpoint is not None:
        yield OVER_A_CHECKPOINT


@requirement(
    "CTX-10.5",
    MUST,
    scenarios="compactions",
    witnesses=(REBUILT, REBUILT_AFTER_FORCED),
    ports=("build", "compact"),
    cost="A summary is paid for and not used, or the session compacts for ever.",
)
def rebuild_uses_the_checkpoint(trace: Trace) -> Iterator[Judgement]:
    """After a compaction the next build stands on its checkpoint and fits.

    Or it asks for compaction again, over strictly less history than before.
    """
    for index, record in enumerate(trace.records):
        if not isinstance(record, CompactRecord) or not isinstance(record.answer, a.Compacted):
            continue
        found = first_build_after(trace, index)
        if found is None or found[1].inputs.checkpoint != record.answer.checkpoint:
            continue
        place, rebuilt = found
        problem = _rebuild_problem(trace, index, record, rebuilt)
        built = isinstance(rebuilt.answer, a.Built)
        yield judge(
            not problem,
            at=at(place, rebuilt.context),
            seen=problem,
            required="a request over the new checkpoint that fits, or strictly less history",
            witnesses=((REBUILT_AFTER_FORCED if record.forced else REBUILT),) if built else (),
        )


def _rebuild_problem(trace: Trace, index: int, record: CompactRecord, rebuilt: BuildRecord) -> str:
    answer = rebuilt.answer
    assert isinstance(record.answer, a.Compacted)
    if isinstance(answer, a.Built):
        return _stands_on(trace, record.answer.checkpoint, rebuilt, answer.request)
    if record.forced:
        return ""  # the log or the user's message may have grown since
    if isinstance(answer, a.CompactionNeeded):
        asked = last_build_before(trace, index)
        if asked is None or not isinstance(asked[1].answer, a.CompactionNeeded):
            return ""
        before, after = _history(asked[1].answer.estimate), _history(answer.estimate)
        return "" if after < before else f"asked again over {after} tokens of history, after {before}"
    return f"the rebuild answered {answer.answer.replace('_', ' ')}"


def _stands_on(trace: Trace, checkpoint: Checkpoint, rebuilt: BuildRecord, request: Request) -> str:
    sent = {block.item_id for block in request.blocks if block.slot is not None}
    log = trace.log[: rebuilt.inputs.log_length]
    again = [item.id for item in covered(checkpoint, log) if item.id in sent]
    if again:
        return f"covered items are in the request: {listed(again)}"
    rendered = [block for block in request.blocks if block.type == CHECKPOINT]
    if checkpoint.summary.strip() and all(block.pointer for block in rendered):
        return f"the summary of checkpoint {quoted(checkpoint.id)} is not in the request"
    total = prefix_count(rebuilt.context, request) + body_count(rebuilt.context, request)
    limit = rebuilt.context.model.limit
    return "" if total <= limit else f"a request of {total} tokens, over the limit of {limit}"


def _history(estimate: Estimate) -> int:
    classes = (TokenClass.CHECKPOINT, TokenClass.HISTORY, TokenClass.ACTIVE)
    return sum(estimate.of(token_class) for token_class in classes)


@requirement(
    "CTX-10.6",
    MUST,
    scenarios="compactions",
    witnesses=(SUMMARIZER_FAILED, SUMMARY_CUT_SHORT),
    ports=("build", "compact"),
    cost="A provider's hiccup erases the history, or leaves half a summary in its place.",
)
def failed_compaction_leaves_no_trace(trace: Trace) -> Iterator[Judgement]:
    """A compaction whose summarizer raises, times out or ends short answers *failed*.

    It writes no checkpoint, and a build over the same inputs answers as it did before.
    """
    for index, record in enumerate(trace.records):
        if not isinstance(record, CompactRecord):
            continue
        failure = _failure(record)
        if not failure:
            continue
        told = [event.type for event in record.answer.events]
        yield judge(
            isinstance(record.answer, a.CompactionFailed) and not told,
            at=at(index, record.context),
            seen=f"{failure}, and the compaction answered "
            f"{record.answer.answer.replace('_', ' ')} with events {listed(told)}",
            required="failed, with no checkpoint and no event of one",
            witnesses=(SUMMARY_CUT_SHORT,) if "short" in failure else (SUMMARIZER_FAILED,),
        )
        yield from _answers_as_before(trace, index)


def _failure(record: CompactRecord) -> str:
    """What failed for good: a call that no later one over the same items made up for."""
    made_up: set[str] = set()
    for call in reversed(record.calls):
        items = {item_id for part in call.parts for item_id in part.item_ids}
        if call.summary is not None and call.summary.complete:
            made_up |= items
        elif not items <= made_up or not items:
            return (
                "the summary ended short"
                if call.summary is not None
                else f"the summarizer failed ({call.error})"
            )
    return ""


def _answers_as_before(trace: Trace, index: int) -> Iterator[Judgement]:
    """Compares the builds on either side, where nothing but bookkeeping came between them."""
    before, after = last_build_before(trace, index), first_build_after(trace, index)
    if before is None or after is None:
        return
    (_, old), (place, new) = before, after
    if _depends_on(trace, old) != _depends_on(trace, new):
        return
    if not isinstance(old.answer, a.Built) or not isinstance(new.answer, a.Built):
        return
    if old.answer.yielded or new.answer.yielded:
        return  # the calibration may have changed since, and with it what fits
    difference = first_difference(old.answer.request.blocks, new.answer.request.blocks)
    yield judge(
        difference is None,
        at=at(place, new.context),
        seen=f"after the failed compaction the request differs at {difference}",
        required="the same request as before it",
    )


def _depends_on(trace: Trace, build: BuildRecord) -> tuple[object, ...]:
    given = build.inputs
    messages = [item for item in trace.log[: given.log_length] if isinstance(item, Message)]
    standing = (given.corrections, given.recall, given.environment, given.yielded)
    return build.plan, messages, given.checkpoint, given.working_state, *standing
