"""Decision 3: the prefix is stable, and every request proves it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextproof.conformance.contract.items import (
    CompactionRecorded,
    ResultStatus,
    ToolResult,
)
from contextproof.conformance.contract.request import prefix_sha256
from contextproof.conformance.contract.vocabulary import TOOL_DEFINITION, Region
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import AuthorizeRecord, CompactRecord, Trace
from contextproof.conformance.requirements.oracles_prefix import change_between, over_a_resume
from contextproof.conformance.requirements.oracles_views import Made, made, played, region
from contextproof.conformance.requirements.registry import MUST, Gate, requirement

#: The scenario that the record itself scripts, and the turns it has.
FIFTY_TURNS = "fifty_turns"
_TURNS = 50

A_REQUEST = "a request with tools in its prefix"

SECOND_REQUEST = "a second request in the epoch"
CROSSED_MIDNIGHT = "the clock crossed midnight"
PERMISSIONS_CHANGED = "permissions changed since"
TOOLS_REGISTERED = "tools were registered anew since"
MEMORY_WRITTEN = "memory was written or corrected since"
AFTER_COMPACTION = "a compaction since"

CALLED_AFTER_REVOCATION = "a tool revoked in mid-session and called afterwards"
MEMORY_CORRECTED = "memory written and corrected"
FORCED_COMPACTION = "a forced compaction"
PLAYED_TO_THE_END = "all fifty turns played"


@requirement(
    "CTX-03.1",
    MUST,
    gate=Gate.ONE_PREFIX,
    scenarios="sessions",
    witnesses=(A_REQUEST,),
    cost="A broken cache goes unseen, since the recorded hash is not that of what was sent.",
)
def hash_is_of_what_is_sent(trace: Trace) -> Iterator[Judgement]:
    """Each request records the SHA-256 of its region A.

    That is of the blocks' texts, concatenated as UTF-8, exactly as they are sent.
    """
    for built in made(trace):
        true_hash = prefix_sha256(built.blocks)
        recorded = built.request.prefix_sha256
        tools = any(b.type == TOOL_DEFINITION for b in region(built.blocks, Region.A))
        yield judge(
            recorded == true_hash,
            at=built.at(),
            seen=f"the request records {recorded[:12]}… for a prefix whose hash is {true_hash[:12]}…",
            required="the SHA-256 of region A's texts as sent, in the order sent",
            witnesses=(A_REQUEST,) if tools else (),
        )


@requirement(
    "CTX-03.2",
    MUST,
    gate=Gate.ONE_PREFIX,
    scenarios="sessions",
    witnesses=(
        SECOND_REQUEST,
        CROSSED_MIDNIGHT,
        PERMISSIONS_CHANGED,
        TOOLS_REGISTERED,
        MEMORY_WRITTEN,
        AFTER_COMPACTION,
    ),
    cost="Every change re-caches the whole prefix at many times the price of a cached one.",
)
def one_hash_per_epoch(trace: Trace) -> Iterator[Judgement]:
    """Within an epoch every request has one and the same prefix hash, recorded and recomputed."""
    firsts: dict[int, Made] = {}
    latest: dict[int, Made] = {}
    for built in played(trace):
        epoch = built.plan.epoch
        first = firsts.setdefault(epoch, built)
        before = latest.get(epoch, built)
        latest[epoch] = built
        change = change_between(before.request, built.request)
        yield judge(
            change is None,
            at=built.at(),
            seen=f"since request {before.request.request} of epoch {epoch}, {change}",
            required=f"one prefix hash in epoch {epoch}",
            witnesses=_since(first, built),
            follows=(*change.follows, *over_a_resume(trace, first.record, built.record)) if change else (),
        )


def _since(first: Made, built: Made) -> Iterator[str]:
    if built is first:
        return
    then, now = first.build.inputs, built.build.inputs
    yield SECOND_REQUEST
    if then.live.clock[:10] != now.live.clock[:10]:
        yield CROSSED_MIDNIGHT
    if set(then.live.permissions) != set(now.live.permissions):
        yield PERMISSIONS_CHANGED
    if then.live.tools != now.live.tools:
        yield TOOLS_REGISTERED
    if then.live.memory != now.live.memory:
        yield MEMORY_WRITTEN
    if then.checkpoint != now.checkpoint:
        yield AFTER_COMPACTION


@requirement(
    "CTX-03.3",
    MUST,
    gate=Gate.ONE_PREFIX,
    scenarios="scripted",
    witnesses=(
        CROSSED_MIDNIGHT,
        CALLED_AFTER_REVOCATION,
        MEMORY_CORRECTED,
        FORCED_COMPACTION,
        PLAYED_TO_THE_END,
    ),
    optional=(PLAYED_TO_THE_END,),  # a run may have to go on in a child run before
    cost="An ordinary working day with the agent costs a multiple of what was budgeted.",
)
def fifty_turns_with_one_hash(trace: Trace) -> Iterator[Judgement]:
    """The scripted session of fifty turns ends with one prefix hash, in one epoch."""
    requests = list(played(trace)) if trace.scenario == FIFTY_TURNS else []
    if not requests:
        return
    hashes = {prefix_sha256(built.blocks) for built in requests}
    hashes |= {built.request.prefix_sha256 for built in requests}
    epochs = {built.plan.epoch for built in requests}
    yield judge(
        len(hashes) == 1 and len(epochs) == 1,
        at=requests[-1].at(),
        seen=f"{len(requests)} requests had {len(hashes)} prefix hashes in {len(epochs)} epochs",
        required="one prefix hash in one epoch from the first request to the last",
        witnesses=_script(trace, requests),
    )


def _script(trace: Trace, requests: Sequence[Made]) -> Iterator[str]:
    days = {built.build.inputs.live.clock[:10] for built in requests}
    last = requests[-1]
    if len(days) > 1:
        yield CROSSED_MIDNIGHT
    if _called_after_revocation(trace):
        yield CALLED_AFTER_REVOCATION
    if last.build.inputs.corrections:
        yield MEMORY_CORRECTED
    if any(isinstance(r, CompactRecord) and r.forced for r in trace.records) and any(
        isinstance(item, CompactionRecorded) and item.outcome == "completed" for item in last.log
    ):
        yield FORCED_COMPACTION
    if last.build.context.turn >= _TURNS:
        yield PLAYED_TO_THE_END


def _called_after_revocation(trace: Trace) -> bool:
    denied = any(isinstance(item, ToolResult) and item.status is ResultStatus.DENIED for item in trace.log)
    return denied and any(
        isinstance(record, AuthorizeRecord)
        and record.call.name not in record.live.permissions
        and record.call.name in trace.plans[0].opening.permissions
        for record in trace.records
    )
