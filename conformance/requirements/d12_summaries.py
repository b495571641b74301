"""Decision 12, second part: how deep summaries are, how large, and that compaction gains something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.caps import MAX_SUMMARY_DEPTH, SUMMARY_DIVISOR
from contextproof.conformance.contract.events import CompactionCompleted, CompactionEscalated
from contextproof.conformance.contract.items import LogItem, Message
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import CHECKPOINT
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import BuildRecord, CompactRecord, Trace, tokens
from contextproof.conformance.requirements.d12_compaction import Compaction, compactions
from contextproof.conformance.requirements.oracles_depth import possible_depths, readable
from contextproof.conformance.requirements.oracles_log import (
    never_covered,
    standing,
)
from contextproof.conformance.requirements.oracles_rendering import content_of, interior
from contextproof.conformance.requirements.oracles_sizes import rendered_sizes, size_of_checkpoint
from contextproof.conformance.requirements.registry import MUST, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

FIRST_SUMMARY = "a first summary"
SUMMARY_OVER_SUMMARY = "a compaction over a checkpoint that has a summary"
ESCALATED = "a run that was escalated"

COMPACTED_ON_DEMAND = "a compaction that a build asked for"
COMPACTED_BY_ORDER = "a forced compaction"
NOTHING_GAINED = "a compaction that had nothing to gain"

LONG_SUMMARY = "a summary longer than was asked for"
EMPTY_SUMMARY = "a summarizer that wrote nothing"
SUMMARY_WITH_DELIMITER = "a summary that holds the builder's own delimiter"

_COMPACTOR = ("build", "compact")


@requirement(
    "CTX-12.5",
    MUST,
    scenarios="compactions",
    witnesses=(FIRST_SUMMARY, SUMMARY_OVER_SUMMARY, ESCALATED),
    optional=(ESCALATED,),
    ports=("compact",),
    cost="Summaries of summaries pile up until nobody can check what the run was told.",
)
def depth_is_told_truly(trace: Trace) -> Iterator[Judgement]:
    """A checkpoint's depth is the greater of a kept summary's and 1 + that of any summary summarized.

    It is never above 2. A run escalates to a child run only over a checkpoint of depth 2, with one
    event of it and none of a checkpoint.
    """
    for index, record, old, new, log in compactions(trace):
        true = possible_depths(old, new, record.calls, readable(log)) & set(range(MAX_SUMMARY_DEPTH + 1))
        yield judge(
            new.depth in true,
            at=at(index, record.context, new.id),
            seen=f"depth {new.depth}, over {_told(old)}",
            required="depth " + " or ".join(str(depth) for depth in sorted(true))
            if true
            else "no checkpoint, since its depth would be above 2",
            witnesses=_depth_situations(old, record),
        )
    for index, escalated in enumerate(trace.records):
        if isinstance(escalated, CompactRecord) and isinstance(escalated.answer, a.Escalated):
            problem = _early_escalation(trace, escalated)
            yield judge(
                not problem,
                at=at(index, escalated.context),
                seen=problem,
                required="escalation in place of depth 3 alone, told by one event",
                witnesses=(ESCALATED,),
            )


def _told(checkpoint: Checkpoint | None) -> str:
    return "no checkpoint" if checkpoint is None else f"one of depth {checkpoint.depth}"


def _depth_situations(old: Checkpoint | None, record: CompactRecord) -> Iterator[str]:
    if record.calls and old is None:
        yield FIRST_SUMMARY
    if record.calls and old is not None and old.summary.strip():
        yield SUMMARY_OVER_SUMMARY


def _early_escalation(trace: Trace, record: CompactRecord) -> str:
    old = record.inputs.checkpoint
    told = record.answer.events
    escalations = [event for event in told if isinstance(event, CompactionEscalated)]
    if old is None or old.depth < MAX_SUMMARY_DEPTH:
        return f"escalated over {_told(old)}"
    if len(escalations) != 1 or any(isinstance(event, CompactionCompleted) for event in told):
        return f"escalated with events {listed(event.type for event in told)}"
    left = _compactable(trace.log[: record.inputs.log_length], old)
    if not left and not old.summary.strip():
        return "escalated where there was nothing left to compact"
    return ""


def _compactable(log: Sequence[LogItem], checkpoint: Checkpoint | None) -> list[Message]:
    barred = never_covered(log)
    return [item for item in standing(log, checkpoint) if item.id not in barred]


@requirement(
    "CTX-12.6",
    MUST,
    scenarios="compactions",
    witnesses=(COMPACTED_ON_DEMAND, COMPACTED_BY_ORDER, NOTHING_GAINED),
    ports=_COMPACTOR,
    cost="The session pays for a summary that is longer than what it replaces, again and again.",
)
def compaction_makes_history_smaller(trace: Trace) -> Iterator[Judgement]:
    """A compaction lowers what history costs, or answers *nothing to gain* and writes nothing.

    A build asks for compaction only where there is something left to compact.
    """
    for compaction in compactions(trace):
        before, after = _history_tokens(trace, compaction)
        if before is None or after is None:
            continue
        yield judge(
            after < before,
            at=at(compaction.place, compaction.record.context, compaction.new.id),
            seen=f"the checkpoint costs {after} tokens, and what it replaces {before}",
            required="fewer tokens than before",
            witnesses=(COMPACTED_BY_ORDER if compaction.record.forced else COMPACTED_ON_DEMAND,),
        )
    for index, record in enumerate(trace.records):
        if isinstance(record, CompactRecord) and isinstance(record.answer, a.NothingToGain):
            yield judge(
                not record.answer.events,
                at=at(index, record.context),
                seen=f"nothing to gain, with {listed(e.type for e in record.answer.events)}",
                required="no event of a checkpoint that was not written",
                witnesses=(NOTHING_GAINED,),
            )
    yield from _asked_in_vain(trace)


def _history_tokens(trace: Trace, compaction: Compaction) -> tuple[int | None, int | None]:
    """Tokens of what the new checkpoint replaces and of itself; None where never seen rendered."""
    record = compaction.record
    sizes = rendered_sizes(trace, compaction.place, record)
    replaced = [sizes.get(item.id) for item in compaction.newly_covered]
    old = 0 if compaction.old is None else size_of_checkpoint(trace, compaction.old, record.context)
    after = size_of_checkpoint(trace, compaction.new, record.context)
    if old is None or any(size is None for size in replaced):
        return None, after
    return old + sum(size for size in replaced if size is not None), after


def _asked_in_vain(trace: Trace) -> Iterator[Judgement]:
    for index, build in trace.builds("main"):
        if isinstance(build.answer, a.CompactionNeeded):
            old = build.inputs.checkpoint
            left = _compactable(trace.log[: build.inputs.log_length], old)
            gains = bool(left) or (old is not None and (bool(old.summary.strip()) or len(old.pointers) > 1))
            yield judge(
                gains,
                at=at(index, build.context),
                seen="compaction was asked for, and all history is covered by an empty summary",
                required="budget exhausted, since no compaction can help",
            )


@requirement(
    "CTX-12.9",
    MUST,
    scenarios="compactions",
    witnesses=(LONG_SUMMARY, EMPTY_SUMMARY, SUMMARY_WITH_DELIMITER),
    ports=_COMPACTOR,
    cost="Summaries grow until they fill the window, or one of them breaks out of its envelope.",
)
def summary_is_bounded(trace: Trace) -> Iterator[Judgement]:
    """A rendered summary is within the manifest's bound and a quarter of the body, whichever is less.

    Where the summarizer writes nothing, no summary is made up; delimiters in a summary are data.
    """
    for compaction in compactions(trace):
        blank = [not c.summary.text.strip() for c in compaction.record.calls if c.summary]
        if blank and all(blank):
            old = compaction.old.summary.strip() if compaction.old else ""
            made_up = compaction.new.summary.replace(old, "", 1).strip()
            yield judge(
                not made_up,
                at=at(compaction.place, compaction.record.context, compaction.new.id),
                seen=f"the summarizer wrote nothing, and the summary says {quoted(made_up)}",
                required="a failure, or an empty summary",
                witnesses=(EMPTY_SUMMARY,),
            )
        rendered = _rendered_summary(trace, compaction.new)
        if rendered is not None:
            yield _bounded(trace, compaction, *rendered)
    for index, record in enumerate(trace.records):
        if isinstance(record, CompactRecord) and not isinstance(record.answer, a.Compacted):
            # A failure is as good an answer to a summary of no use as a cut or an empty one.
            situations = list(_summary_situations(trace, record))
            if isinstance(record.answer, a.CompactionFailed) and situations:
                yield judge(True, at=at(index, record.context), witnesses=situations)


def _rendered_summary(trace: Trace, checkpoint: Checkpoint) -> tuple[int, BuildRecord, Block] | None:
    for index, build in trace.builds("main", "roomy"):
        if build.inputs.checkpoint == checkpoint and isinstance(build.answer, a.Built):
            for block in build.answer.request.blocks:
                if block.type == CHECKPOINT and block.pointer is None:
                    return index, build, block
    return None


def _bounded(trace: Trace, compaction: Compaction, index: int, build: BuildRecord, block: Block) -> Judgement:
    record, manifest = compaction.record, trace.manifest
    body = record.context.model.limit - trace.plans[record.plan].prefix_tokens
    bound = min(manifest.summary_bound, max(0, body) // SUMMARY_DIVISOR)
    size = tokens(record.context, interior(block))
    recovered = content_of(block, manifest) == compaction.new.summary
    escaped = not any(delimiter in interior(block) for delimiter in manifest.delimiters)
    return judge(
        size <= bound and recovered and escaped,
        at=at(index, build.context, compaction.new.id),
        seen=f"a summary of {size} tokens"
        + ("" if recovered else ", not recovered by its codec")
        + ("" if escaped else ", with a delimiter that is not escaped"),
        required=f"at most {bound} tokens, and all of it data",
        witnesses=_summary_situations(trace, record),
    )


def _summary_situations(trace: Trace, record: CompactRecord) -> Iterator[str]:
    for call in record.calls:
        if call.summary is None:
            continue
        if tokens(record.context, call.summary.text) > call.max_tokens:
            yield LONG_SUMMARY
        if not call.summary.text.strip():
            yield EMPTY_SUMMARY
        if any(delimiter in call.summary.text for delimiter in trace.manifest.delimiters):
            yield SUMMARY_WITH_DELIMITER
