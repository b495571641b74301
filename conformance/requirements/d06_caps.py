"""Decision 6: every class but history has an absolute cap, and the output reserve comes first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.caps import CAPS
from contextproof.conformance.contract.items import RecallItem, content
from contextproof.conformance.contract.measures import Measure, tokens_of
from contextproof.conformance.contract.request import Block, YieldStep
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import (
    ENVIRONMENT,
    MEMORY_CORRECTION,
    RECALL,
    WORKING_STATE,
    Region,
    Slot,
    TokenClass,
)
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import (
    RecordedInputs,
    Trace,
    body_count,
    prefix_count,
)
from contextproof.conformance.requirements.oracles_caps import (
    request_measures,
    results_cap,
)
from contextproof.conformance.requirements.oracles_log import older_results
from contextproof.conformance.requirements.oracles_text import interior, is_whole
from contextproof.conformance.requirements.oracles_views import (
    Made,
    beside,
    known_items,
    made,
    name,
    of_type,
    prefix_text,
    request_of,
    tokenizer_changed,
)
from contextproof.conformance.requirements.oracles_yield import IMPURE
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import listed, quoted

RECALL_OVER = "more recalled than the cap holds"
RESULTS_OVER = "more tool results than a quarter of the body"
STATE_FULL = "working state at nine tenths of its cap or more"

NEARLY_FULL = "a request estimated at nine tenths of the limit or more"

RECALL_YIELDED = "a build whose roomier twin keeps recall that it gave up"
EVERY_CLASS = "working state, a correction and environment in one request"

ITEM_OVER_CAP = "a recalled item that alone exceeds the cap"
RECALL_DROPPED = "a request with some of the recall left out"

#: Types of region B that no window changes.
_FIXED = (WORKING_STATE, MEMORY_CORRECTION, ENVIRONMENT)
#: Nine tenths, as a ratio of integers.
_NEAR_NUMERATOR, _NEAR_DENOMINATOR = 9, 10


@requirement(
    "CTX-06.1",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="pressure",
    witnesses=(RECALL_OVER, RESULTS_OVER, STATE_FULL),
    cost="One class crowds out the others, and attention with them.",
)
def classes_within_caps(trace: Trace) -> Iterator[Judgement]:
    """Each class is within its cap in every request, by the content of the items it renders.

    After a change of tokenizer, what was written before it may stand until it is next written.
    """
    for built in made(trace, "main", "retry", "roomy"):
        prefix = prefix_count(built.build.context, built.request)
        items = known_items(trace, built)
        over = [
            measure
            for measure in request_measures(trace.manifest, built, items, prefix)
            if measure.is_over and not _is_exempt(trace, built, measure.token_class)
        ]
        yield judge(
            not over,
            at=built.at(),
            seen=f"over its cap: {'; '.join(str(measure) for measure in over)}",
            required="every class within its cap",
            witnesses=_fullness(built, prefix),
            follows=("CTX-06.2",) if _is_of_the_reserve(over, built, prefix) else (),
        )


def _is_of_the_reserve(over: Sequence[Measure], built: Made, prefix: int) -> bool:
    """Whether only results are over, by a body that the output reserve was not taken off."""
    whole = built.model.model_copy(update={"output_reserve": 0})
    return all(
        measure.token_class is TokenClass.TOOL_RESULTS and measure.measured <= results_cap(whole, prefix)
        for measure in over
    )


def _fullness(built: Made, prefix: int) -> Iterator[str]:
    given, tokenizer = built.build.inputs, built.model.tokenizer
    if tokens_of(tokenizer, given.recall) > CAPS[TokenClass.RECALL]:
        yield RECALL_OVER
    results = older_results(built.log, given.checkpoint)
    if tokens_of(tokenizer, results) > results_cap(built.model, prefix):
        yield RESULTS_OVER
    state = sum(count(tokenizer, entry.text) for entry in given.working_state.entries())
    if state * _NEAR_DENOMINATOR >= CAPS[TokenClass.WORKING_STATE] * _NEAR_NUMERATOR:
        yield STATE_FULL


#: Classes that are written during a session, and stand exempt after a change of tokenizer.
_WRITTEN = frozenset({TokenClass.WORKING_STATE, TokenClass.MEMORY_CORRECTIONS, TokenClass.ENVIRONMENT})


def _is_exempt(trace: Trace, built: Made, token_class: TokenClass) -> bool:
    """Whether a class may hold what was written under a model with another tokenizer.

    From its inputs an engine cannot tell what of it was written since.
    """
    return token_class in _WRITTEN and tokenizer_changed(trace, built.record)


@requirement(
    "CTX-06.2",
    MUST,
    gate=Gate.SOUND_BUDGET,
    scenarios="pressure",
    witnesses=(NEARLY_FULL,),
    cost="The provider refuses the request deep into a run, or cuts the model's answer short.",
)
def request_leaves_the_output_reserve(trace: Trace) -> Iterator[Judgement]:
    """The count of prefix and body is at most the window less the output reserve."""
    for built in made(trace):
        context, model = built.build.context, built.model
        total = prefix_count(context, built.request) + body_count(context, built.request)
        estimated = built.request.estimate.total
        near = estimated * _NEAR_DENOMINATOR >= model.limit * _NEAR_NUMERATOR
        yield judge(
            total <= model.limit,
            at=built.at(),
            seen=f"the request counts {total} tokens of a window of {model.window}, "
            f"{total - model.limit} into the output reserve of {model.output_reserve}",
            required=f"at most {model.limit} tokens (window {model.window} − output reserve "
            f"{model.output_reserve})",
            witnesses=(NEARLY_FULL,) if near else (),
        )


@requirement(
    "CTX-06.3",
    MUST,
    scenarios="pressure",
    witnesses=(EVERY_CLASS, RECALL_YIELDED),
    cost="The agent behaves otherwise on a larger window for no reason that anybody chose.",
)
def window_size_scales_only_history(trace: Trace) -> Iterator[Judgement]:
    """The same inputs under a larger window change nothing that has an absolute cap.

    Prefix, working state, corrections, environment and the user message are the same bytes; recall
    differs only in what the smaller window made yield.
    """
    for pair in beside(trace, "roomy"):
        small, large = pair.main.answer, pair.side.answer
        if not isinstance(small, a.Built) or not isinstance(large, a.Built):
            continue
        problem = _scaled(pair.main.inputs, small, large)
        only_nonces = _differ_in_nonces_alone(small.request.blocks, large.request.blocks)
        yield judge(
            not problem,
            at=pair.at(),
            seen=problem,
            required=f"the same bytes in windows of {pair.main.context.model.window} and "
            f"{pair.side.context.model.window} tokens",
            witnesses=_pair_situations(request_of(trace, pair.record, pair.main, small), large),
            follows=IMPURE if only_nonces else (),
        )


def _differ_in_nonces_alone(small: Sequence[Block], large: Sequence[Block]) -> bool:
    """Whether what has an absolute cap is the same between opening and closing."""

    def held(blocks: Sequence[Block]) -> list[str]:
        capped = [b for b in blocks if b.region is Region.A or b.type in _FIXED or b.slot is Slot.CURRENT]
        return [interior(block) for block in capped]

    return held(small) == held(large)


def _scaled(given: RecordedInputs, small: a.Built, large: a.Built) -> str:
    """What the larger window changed and should not have."""
    if prefix_text(small.request.blocks) != prefix_text(large.request.blocks):
        return "the prefix differs with the window"
    for item_type in _FIXED:
        before, after = of_type(small.request.blocks, item_type), of_type(large.request.blocks, item_type)
        if [b.text for b in before] != [b.text for b in after]:
            return f"{item_type} differs with the window"
    current = [[b.text for b in answer.request.blocks if b.slot is Slot.CURRENT] for answer in (small, large)]
    if current[0] != current[1]:
        return "the current user message differs with the window"
    listed_as_gone = {
        entry.item_id for entry in (*given.yielded, *small.yielded) if entry.step is YieldStep.RECALL
    }
    return _recall_scaled(
        of_type(small.request.blocks, RECALL), of_type(large.request.blocks, RECALL), listed_as_gone
    )


def _recall_scaled(small: Sequence[Block], large: Sequence[Block], gone: set[str]) -> str:
    texts = {block.item_id: block.text for block in large}
    for block in small:
        if texts.get(block.item_id) != block.text:
            return f"{name(block)} differs with the window"
    kept = {block.item_id for block in small}
    silent = [item_id for item_id in texts if item_id not in kept and item_id not in gone]
    return f"{listed(str(item) for item in silent)} was left out and not listed as yielded" if silent else ""


def _pair_situations(built: Made, large: a.Built) -> Iterator[str]:
    given = built.build.inputs
    if any(given.working_state.entries()) and given.corrections and given.environment:
        yield EVERY_CLASS
    if len(of_type(built.blocks, RECALL)) < len(of_type(large.request.blocks, RECALL)):
        yield RECALL_YIELDED


@requirement(
    "CTX-06.4",
    MUST,
    scenarios="pressure",
    witnesses=(RECALL_DROPPED, ITEM_OVER_CAP),
    cost="The model is given a worse memory while a better one was at hand, or half of one.",
)
def recall_is_a_leading_part(trace: Trace) -> Iterator[Judgement]:
    """Recall drops whole items from the end of the ranking.

    What a request keeps is a leading part of it, once items that alone exceed the cap are removed.
    """
    for built in made(trace):
        ranking = built.build.inputs.recall
        if not ranking:
            continue
        tokenizer, cap = built.model.tokenizer, CAPS[TokenClass.RECALL]
        fitting = [item for item in ranking if count(tokenizer, content(item)) <= cap]
        problem = _not_leading(trace, of_type(built.blocks, RECALL), ranking, fitting)
        kept = len(of_type(built.blocks, RECALL))
        yield judge(
            not problem,
            at=built.at(),
            seen=problem,
            required=f"a leading part of {listed(item.id for item in fitting)}, each item whole",
            witnesses=(
                *([RECALL_DROPPED] if kept < len(ranking) else []),
                *([ITEM_OVER_CAP] if len(fitting) < len(ranking) else []),
            ),
        )


def _not_leading(
    trace: Trace,
    blocks: Sequence[Block],
    ranking: Sequence[RecallItem],
    fitting: Sequence[RecallItem],
) -> str:
    kept = [block.item_id for block in blocks]
    if kept != [item.id for item in fitting][: len(kept)]:
        ranked = listed(item.id for item in ranking)
        return f"of the ranking {ranked} it keeps {listed(str(item) for item in kept)}"
    for block, item in zip(blocks, fitting, strict=False):
        if not is_whole(trace.manifest, block, item):
            return f"{name(block)} is cut: {quoted(block.text)}"
    return ""
