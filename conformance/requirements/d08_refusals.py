"""Decision 8, when nothing can be sent: refusals that have to be, and refusals that may not be."""

from __future__ import annotations

from collections.abc import Iterator

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.request import token_class
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import (
    TokenClass,
)
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import BuildRecord, Trace
from contextproof.conformance.requirements.oracles_log import active_pairs
from contextproof.conformance.requirements.oracles_pairing import log_beats
from contextproof.conformance.requirements.oracles_pairing import pair as pair_up
from contextproof.conformance.requirements.oracles_views import (
    Made,
    beside,
    log_of,
    tokenizer_changed,
)
from contextproof.conformance.requirements.oracles_yield import (
    IMPURE,
    STANDING,
    compacted_bound,
    everything_bound,
    fits_whole,
    never_yields,
    over_standing_cap,
    side_request,
    standing_floor,
)
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import at

CLASS_OVER_CAP = "corrections or environment over their cap"
NEVER_YIELD_OVER_LIMIT = "what never yields is over the limit"
EXHAUSTED = "a build that answered budget exhausted"
COMPACTION_ASKED = "a build that asked for compaction"


@requirement(
    "CTX-08.5",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="pressure",
    witnesses=(CLASS_OVER_CAP, NEVER_YIELD_OVER_LIMIT),
    cost="What cannot fit is sent cut, or compacted over and over without end.",
)
def unyielding_excess_is_exhausted(trace: Trace) -> Iterator[Judgement]:
    """Where what never yields exceeds the limit or a cap, the build answers *budget exhausted*.

    The checkpoint is not counted. The answer names the largest such class, with more needed than
    available.
    """
    roomy = {pair.record: side_request(trace, pair) for pair in beside(trace, "roomy")}
    for index, build in trace.builds("main"):
        over = over_standing_cap(build)
        floor = standing_floor(trace, build, roomy.get(index))
        limit = build.context.model.limit
        if (over and tokenizer_changed(trace, index)) or (not over and floor <= limit):
            continue
        if not pair_up(log_beats(log_of(trace, build))).is_whole:
            continue  # a malformed log may be refused as that first
        largest = _largest(trace, build, roomy.get(index))
        if over:
            worst = max(measure.measured for measure in over)
            largest = {m.token_class for m in over if m.measured == worst} | (
                largest if floor > limit else set()
            )
        answer = build.answer
        yield judge(
            isinstance(answer, a.BudgetExhausted)
            and answer.token_class in largest
            and answer.needed > answer.available,
            at=at(index, build.context),
            seen=_answered(answer),
            required=f"budget exhausted, naming {' or '.join(sorted(largest))}: "
            + (str(over[0]) if over else f"at least {floor} of {limit} tokens"),
            witnesses=(CLASS_OVER_CAP,) if over else (NEVER_YIELD_OVER_LIMIT,),
            # An engine that always refuses, or that counts with another limit, is wrong about that.
            follows=("CTX-06.2",) if isinstance(answer, a.Built) else ("CTX-08.9",),
        )


def _largest(trace: Trace, build: BuildRecord, roomy: Made | None) -> set[TokenClass]:
    """The largest class that never yields: by content, by the builder's estimate, or as rendered."""
    contents = never_yields(trace, build)
    found = {name for name, n in contents.items() if n == max(contents.values())}
    if roomy is not None:
        estimated = {name: roomy.request.estimate.of(name) for name in (*STANDING, TokenClass.ACTIVE)}
        rendered = _rendered(trace, build, roomy)
        for sizes in (estimated, rendered):
            found |= {name for name, n in sizes.items() if n == max(sizes.values())}
    return found | ({TokenClass.TOOL_RESULTS} if TokenClass.ACTIVE in found else set())


def _rendered(trace: Trace, build: BuildRecord, roomy: Made) -> dict[TokenClass, int]:
    """Tokens of what never yields, by class, as a roomy build renders it."""
    pairs = {item.id for item in active_pairs(log_of(trace, build))}
    sizes = dict.fromkeys((*STANDING, TokenClass.ACTIVE), 0)
    for block in roomy.blocks:
        name = token_class(block)
        if name in STANDING or (name is TokenClass.ACTIVE and block.item_id in pairs):
            sizes[name] += count(build.context.model.tokenizer, block.text)
    return sizes


def _answered(answer: a.BuildAnswer) -> str:
    match answer:
        case a.BudgetExhausted():
            return (
                f"budget exhausted, naming {answer.token_class}, {answer.needed} needed and "
                f"{answer.available} available"
            )
        case a.Built():
            return f"a request estimated at {answer.request.estimate.total} tokens"
        case _:
            return f"the build answered {answer.answer.replace('_', ' ')}"


@requirement(
    "CTX-08.9",
    MUST,
    scenarios="pressure",
    witnesses=(EXHAUSTED, COMPACTION_ASKED),
    cost="A session that could go on ends, or pays for a compaction that it did not need.",
)
def refusals_are_true(trace: Trace) -> Iterator[Judgement]:
    """*Budget exhausted* and *compaction needed* are answered only where they are true.

    The first only where what never yields, or all that compaction could leave, does not fit; the
    second only where nothing milder makes the request fit.
    """
    roomy = {pair.record: (pair, side_request(trace, pair)) for pair in beside(trace, "roomy")}
    for index, build in trace.builds("main"):
        if not isinstance(build.answer, a.BudgetExhausted | a.CompactionNeeded):
            continue
        pair, wide = roomy.get(index, (None, None))
        limit = build.context.model.limit
        if isinstance(build.answer, a.BudgetExhausted):
            witness = EXHAUSTED
            bound = 0 if over_standing_cap(build) else _exhausted_bound(trace, index, build, wide)
            problem = (
                f"{_answered(build.answer)}; all that has to be sent takes less than {bound}"
                if bound and bound <= limit
                else ""
            )
        else:
            witness = COMPACTION_ASKED
            needless = (
                fits_whole(trace, pair, wide, recall=False)
                if pair is not None and wide is not None
                else everything_bound(trace, index, build) <= limit
            )
            problem = _needless(build.answer, limit, needless=needless)
        yield judge(
            not problem,
            at=at(index, build.context),
            seen=problem,
            required=f"a request, since it fits the limit of {limit} tokens",
            witnesses=(witness,),
            follows=IMPURE,
        )


def _exhausted_bound(trace: Trace, index: int, build: BuildRecord, wide: Made | None) -> int:
    if wide is None:
        return everything_bound(trace, index, build)
    return compacted_bound(trace, index, build, wide)


def _needless(answer: a.CompactionNeeded, limit: int, *, needless: bool) -> str:
    estimated = answer.estimate.total
    if estimated <= limit:
        return f"compaction is asked for at an estimate of {estimated} tokens, which fits"
    return "compaction is asked for, and without recall the request fits" if needless else ""
