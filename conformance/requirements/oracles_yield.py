"""What gave way in a build, what could still have, and what certainly fits or certainly does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.caps import POINTER_TOKENS
from contextproof.conformance.contract.items import (
    ToolResult,
    UserMessage,
    content,
)
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.measures import Measure, tokens_of
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.request import Block, PointerKind, YieldStep, token_class
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.play.trace import BuildRecord, SendRecord, Trace, prefix_count
from contextproof.conformance.requirements.oracles_caps import (
    CONTENT_FACTOR,
    ENVELOPE_BOUND,
    bound,
    results_cap,
    standing_measures,
)
from contextproof.conformance.requirements.oracles_log import (
    active_pairs,
    current_place,
    latest_corrections,
    standing,
)
from contextproof.conformance.requirements.oracles_text import excerpt
from contextproof.conformance.requirements.oracles_views import (
    Beside,
    Made,
    log_of,
    of_type,
    request_of,
)

#: Above what one item costs in elision pointers beside its id, in tokens, merged or not.
_REFERENCE_BOUND = POINTER_TOKENS

#: Never-yield classes as an estimate itemizes them; the turn's own part is counted apart.
STANDING = (
    TokenClass.CURRENT_USER_MESSAGE,
    TokenClass.WORKING_STATE,
    TokenClass.MEMORY_CORRECTIONS,
    TokenClass.ENVIRONMENT,
)


#: Where builds of the same inputs differ by themselves, comparing two of them says little.
IMPURE = ("CTX-10.1", "CTX-13.5")


def is_truncated(block: Block) -> bool:
    """Whether a block is a truncation pointer."""
    return block.pointer is not None and block.pointer.kind is PointerKind.TRUNCATION


def pointed(blocks: Sequence[Block]) -> set[str]:
    """Ids of the results that a request holds as pointers."""
    return {block.item_id for block in blocks if is_truncated(block) and block.item_id}


def new_pointers(made: Made) -> set[str]:
    """Results that became pointers first in this request: those listed so, and those only seen."""
    before = {entry.item_id for entry in made.build.inputs.yielded}
    told = {entry.item_id for entry in made.newly if entry.step is YieldStep.TOOL_RESULT}
    return told | (pointed(made.blocks) - before)


def told_for(made: Made, step: YieldStep, cause: str) -> set[str]:
    """What a build says gave way in one step, for one cause."""
    return {e.item_id for e in made.newly if e.step is step and e.cause == cause}


def verbatim_results(made: Made) -> tuple[ToolResult, ...]:
    """Ok and error results that stand whole in a request, in log order."""
    whole = {
        block.item_id
        for block in of_type(made.blocks, "tool_result")
        if block.pointer is None and block.item_id
    }
    return tuple(
        item
        for item in standing(made.log, made.build.inputs.checkpoint)
        if isinstance(item, ToolResult) and item.can_truncate and item.id in whole
    )


def worth_truncating(tokenizer: TokenizerName, item: ToolResult) -> bool:
    """Whether a result is beyond doubt larger than the largest pointer."""
    return count(tokenizer, content(item)) > POINTER_TOKENS


def results_held(manifest: Manifest, made: Made) -> int:
    """Content of ok and error results in a request, verbatim and excerpts. Tokens."""
    excerpts = [
        excerpt(manifest, block) or "" for block in of_type(made.blocks, "tool_result") if is_truncated(block)
    ]
    tokenizer = made.model.tokenizer
    return tokens_of(tokenizer, verbatim_results(made)) + sum(count(tokenizer, t) for t in excerpts)


def gave_way(answer: a.BuildAnswer) -> set[tuple[YieldStep, str]]:
    """What an answer says newly gave way."""
    if isinstance(answer, a.Built | a.CompactionNeeded):
        return {(entry.step, entry.item_id) for entry in answer.yielded}
    return set()


# What fits beyond doubt, and what does not ------------------------------------------------------


def side_request(trace: Trace, pair: Beside) -> Made | None:
    """The request of a side build, if it gave one."""
    answer = pair.side.answer
    if not isinstance(answer, a.Built):
        return None
    return request_of(trace, pair.side_record, pair.side, answer)


def fits_whole(trace: Trace, pair: Beside, roomy: Made, *, recall: bool = True) -> bool:
    """Whether a roomy build fits the small limit and caps, by the builder's own itemized estimate.

    With ``recall`` False, whether it would without its recall.
    """
    small = pair.main.context.model
    estimate = roomy.request.estimate
    total = estimate.total - (0 if recall else estimate.of(TokenClass.RECALL))
    cap = results_cap(small, prefix_count(roomy.build.context, roomy.request))
    return total <= small.limit and results_held(trace.manifest, roomy) <= cap


def over_standing_cap(build: BuildRecord) -> tuple[Measure, ...]:
    """Classes a build was handed, cannot make smaller, and that are over their cap."""
    measures = standing_measures(build.inputs, build.context.model.tokenizer)
    return tuple(measure for measure in measures if measure.is_over)


def prefix_tokens(trace: Trace, build: BuildRecord) -> int:
    """The count of the prefix that a build has to send."""
    model = build.context.model
    return sum(
        count(model.tokenizer, block.text) + model.overhead_per_block
        for block in trace.plans[build.plan].blocks
    )


def never_yields(trace: Trace, build: BuildRecord) -> dict[TokenClass, int]:
    """Content that never yields, by class: what no engine can send less of. Tokens.

    Active results are left out, since the cap on results may turn them into pointers.
    """
    log, tokenizer = log_of(trace, build), build.context.model.tokenizer
    current = current_place(log)
    fixed = [i for i in active_pairs(log) if not (isinstance(i, ToolResult) and i.can_truncate)]
    found = {m.token_class: m.measured for m in standing_measures(build.inputs, tokenizer)}
    message = log[current] if current is not None else None
    if isinstance(message, UserMessage):
        found[TokenClass.CURRENT_USER_MESSAGE] = count(tokenizer, message.text)
    found[TokenClass.ACTIVE] = tokens_of(tokenizer, fixed)
    return found


def standing_floor(trace: Trace, build: BuildRecord, roomy: Made | None) -> int:
    """Less than any request of these inputs takes: by content, or as the roomy build renders it."""
    content_only = never_yields(trace, build)
    model, rendered = build.context.model, Counter[TokenClass]()
    for block in roomy.blocks if roomy is not None else ():
        rendered[token_class(block)] += count(model.tokenizer, block.text) + model.overhead_per_block
    total = prefix_tokens(trace, build) + content_only[TokenClass.ACTIVE]
    return total + sum(max(content_only.get(name, 0), rendered[name]) for name in STANDING)


def everything_bound(trace: Trace, index: int, build: BuildRecord) -> int:
    """More than any engine's estimate of all these inputs, nothing yielded."""
    given, tokenizer = build.inputs, build.context.model.tokenizer
    log = log_of(trace, build)
    items = (
        *standing(log, given.checkpoint),
        *latest_corrections(given.corrections),
        *given.recall,
        *given.environment,
    )
    total = bound(tokenizer, items)
    texts = [entry.text for entry in given.working_state.entries()]
    if given.checkpoint is not None:
        texts.append(given.checkpoint.summary)
        total += _references_bound(tokenizer, given.checkpoint)
    total += sum(CONTENT_FACTOR * count(tokenizer, text) + ENVELOPE_BOUND for text in texts)
    return prefix_tokens(trace, build) + total * _drift(trace, index)


def compacted_bound(trace: Trace, index: int, build: BuildRecord, roomy: Made) -> int:
    """More than an empty summary, merged pointers and all that never yields take, by its estimate."""
    estimate, tokenizer = roomy.request.estimate, build.context.model.tokenizer
    given, log = build.inputs, log_of(trace, build)
    kept = sum(estimate.of(name) for name in (*STANDING, TokenClass.ACTIVE))
    pointers = ENVELOPE_BOUND + sum(
        count(tokenizer, item.id) + _REFERENCE_BOUND for item in standing(log, given.checkpoint)
    )
    if given.checkpoint is not None:
        pointers += _references_bound(tokenizer, given.checkpoint)
    return prefix_tokens(trace, build) + kept + pointers * _drift(trace, index)


def _references_bound(tokenizer: TokenizerName, checkpoint: Checkpoint) -> int:
    return ENVELOPE_BOUND + sum(
        count(tokenizer, reference.item_id) + _REFERENCE_BOUND
        for pointer in checkpoint.pointers
        for reference in pointer.references
    )


def _drift(trace: Trace, index: int) -> int:
    """How far usage went beyond the count before a record: as far may an estimate go. At least 1."""
    ratios = [
        ceil(record.usage / record.count)
        for record in trace.records[:index]
        if isinstance(record, SendRecord) and record.usage and record.count
    ]
    return max([1, *ratios])
