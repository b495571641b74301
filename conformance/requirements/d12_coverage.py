"""Decision 12, third part: what a checkpoint covers, what it spares, and that nothing covered is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import Message, RenderedItem, ToolResult, content
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import BuildRecord, CompactRecord, Trace, tokens
from contextproof.conformance.requirements.d12_compaction import Compaction, compactions
from contextproof.conformance.requirements.oracles_checkpoint import (
    covered,
    first_build_after,
    given_whole,
    names,
)
from contextproof.conformance.requirements.oracles_depth import is_kept, readable, was_given
from contextproof.conformance.requirements.oracles_log import latest_corrections, never_covered
from contextproof.conformance.requirements.oracles_rendering import Lookup
from contextproof.conformance.requirements.oracles_text import is_whole
from contextproof.conformance.requirements.oracles_working_state import missing_entries
from contextproof.conformance.requirements.registry import MUST, requirement
from contextproof.conformance.requirements.telling import at, listed

SECOND_COMPACTION = "a compaction over an earlier checkpoint"

COMPACTED_IN_A_TURN = "a compaction between the calls of a turn"
STATE_BESIDE_IT = "a compaction with working state, corrections or environment beside it"

SUMMARIZED = "a covered item that was summarized"
POINTED_TO = "a covered item that a pointer names"
COVERED_BEFORE = "an item that an earlier checkpoint covered"

_COMPACTOR = ("build", "compact")


@requirement(
    "CTX-12.7",
    MUST,
    scenarios="compactions",
    witnesses=(SECOND_COMPACTION,),
    ports=("compact",),
    cost="What was summarized comes back beside its summary, and is said twice.",
)
def coverage_only_grows(trace: Trace) -> Iterator[Judgement]:
    """A checkpoint covers all that the one before it covered, and nothing beyond the log."""
    for index, record, old, new, log in compactions(trace):
        now = {item.id for item in covered(new, log)}
        lost = [item.id for item in covered(old, log) if item.id not in now]
        yield judge(
            not lost and new.covers <= len(log),
            at=at(index, record.context, new.id),
            seen=f"covers {new.covers} of {len(log)} entries, and no longer {listed(lost)}",
            required="all that was covered before, and no more than the log has",
            witnesses=(SECOND_COMPACTION,) if old is not None else (),
        )


@requirement(
    "CTX-12.8",
    MUST,
    scenarios="compactions",
    witnesses=(COMPACTED_IN_A_TURN, STATE_BESIDE_IT),
    ports=_COMPACTOR,
    cost="The run forgets what it was asked, or works on with a call whose result is gone.",
)
def compaction_spares_what_never_yields(trace: Trace) -> Iterator[Judgement]:
    """The current user message, the active pairs and all standing content come through verbatim.

    Standing content is working state, corrections and environment. An active result may be a
    pointer, where the cap on results made it one.
    """
    lookup = Lookup(trace)
    for index, record, _, new, log in compactions(trace):
        barred = never_covered(log)
        taken = [item.id for item in covered(new, log) if item.id in barred]
        yield judge(
            not taken,
            at=at(index, record.context, new.id),
            seen=f"the checkpoint covers {listed(taken)}",
            required="neither the current user message nor the active pairs",
            witnesses=(COMPACTED_IN_A_TURN,) if len(barred) > 1 else (),
        )
        found = first_build_after(trace, index)
        if found is None or not isinstance(found[1].answer, a.Built):
            continue
        place, build = found
        blocks = found[1].answer.request.blocks
        lost = list(_not_verbatim(trace, build, blocks))
        lost += missing_entries(build.inputs.working_state, blocks, trace.manifest, lookup.trust(build))
        yield judge(
            not lost,
            at=at(place, build.context),
            seen=f"not there verbatim after the compaction: {listed(lost)}",
            required="all never-yield content as it was",
            witnesses=(STATE_BESIDE_IT,) if _has_standing(build) else (),
        )


def _has_standing(build: BuildRecord) -> bool:
    given = build.inputs
    return bool(given.corrections or given.environment or list(given.working_state.entries()))


def _not_verbatim(trace: Trace, build: BuildRecord, blocks: Sequence[Block]) -> Iterator[str]:
    log = trace.log[: build.inputs.log_length]
    barred = never_covered(log)
    items: list[RenderedItem] = [i for i in log if isinstance(i, Message) and i.id in barred]
    items += [*latest_corrections(build.inputs.corrections), *build.inputs.environment]
    by_id: Mapping[tuple[str, str | None], Block] = {(b.type, b.item_id): b for b in blocks}
    for item in items:
        block = by_id.get((item.type, item.id))
        capped = isinstance(item, ToolResult) and block is not None and block.pointer is not None
        if block is None or not (capped or is_whole(trace.manifest, block, item)):
            yield item.id


@requirement(
    "CTX-12.10",
    MUST,
    scenarios="compactions",
    witnesses=(SUMMARIZED, POINTED_TO, COVERED_BEFORE),
    ports=("compact",),
    cost="Something the user said is gone, and neither the summary nor a pointer tells of it.",
)
def nothing_covered_is_lost(trace: Trace) -> Iterator[Judgement]:
    """Every covered item was given to the summarizer whole, or is named by exactly one pointer.

    What an earlier checkpoint had summarized lives on in a summary that was kept or given again, or
    was itself given again. What is not untrusted is elided only where it would fill half of a call.
    What one call hands the summarizer fits the window less the reserve.
    """
    for compaction in compactions(trace):
        record = compaction.record
        for call in record.calls:
            size = sum(tokens(record.context, part.text) for part in call.parts)
            yield judge(
                size <= record.context.model.limit,
                at=at(compaction.place, record.context),
                seen=f"one call handed the summarizer {size} tokens",
                required=f"at most the limit of {record.context.model.limit}",
            )
        yield from _accounted_for(trace, compaction)


def _is_elided_needlessly(record: CompactRecord, item: Message, trust: Trust) -> bool:
    """Whether a trusted item is elided that one call of the summarizer could hold twice over."""
    size = tokens(record.context, content(item))
    return trust is not Trust.EXTERNAL_UNTRUSTED and 2 * size < record.context.model.limit


def _needlessly_elided(compaction: Compaction, item: Message) -> Judgement:
    context = compaction.record.context
    return judge(
        False,
        at=at(compaction.place, context, item.id),
        seen=f"a trusted item of {tokens(context, content(item))} tokens was elided",
        required="its whole content to the summarizer, since one call can hold it",
        witnesses=(POINTED_TO,),
    )


def _accounted_for(trace: Trace, compaction: Compaction) -> Iterator[Judgement]:
    record, old, new = compaction.record, compaction.old, compaction.new
    parts = [part for call in record.calls for part in call.parts]
    newly = {item.id for item in compaction.newly_covered}
    trust = Lookup(trace).trust(record)
    lives_on = old is None or (
        not old.summary.strip() or is_kept(old, new) or was_given(old, record.calls, readable(compaction.log))
    )
    for item in covered(new, compaction.log):
        pointing = {id(p) for p, reference in names(new.pointers) if reference.item_id == item.id}
        if pointing:
            held, situation = len(pointing) == 1, POINTED_TO
            if item.id in newly and _is_elided_needlessly(record, item, trust[item.id]):
                yield _needlessly_elided(compaction, item)
        elif item.id in newly:
            held, situation = given_whole(item, parts, trace.manifest), SUMMARIZED
        else:
            held = lives_on or given_whole(item, parts, trace.manifest)
            situation = COVERED_BEFORE
        yield judge(
            held,
            at=at(compaction.place, record.context, item.id),
            seen=f"{len(pointing)} pointers name it, and the summarizer "
            + ("was not given all of it" if item.id in newly else "was not given its summary again"),
            required="its whole content to the summarizer, or exactly one pointer",
            witnesses=(situation,),
        )
