"""Decision 11: the prefix is measured exactly; the body is estimated, and never too low."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.caps import MARGIN_DENOMINATOR, MARGIN_NUMERATOR
from contextproof.conformance.contract.events import UsageReconciled
from contextproof.conformance.contract.items import Message, content
from contextproof.conformance.contract.request import Request, token_class
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import Region
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import (
    ApplyRecord,
    BuildRecord,
    EstimateRecord,
    OpenRecord,
    ReconcileRecord,
    Trace,
    body_count,
    prefix_count,
    tokens,
)
from contextproof.conformance.requirements.registry import MUST, SHOULD, requirement
from contextproof.conformance.requirements.telling import at, listed

AT_OPENING = "a plan at the opening"
AFTER_ROTATION = "a plan after a rotation"

UNCALIBRATED = "a request estimated before any usage was reported"
CALIBRATED = "a request estimated after usage was reported"
PRESSED = "a request that something gave way for"

USAGE_ABOVE_ESTIMATE = "a usage above its estimate"

ORDINARY_BODY = "a body of ordinary prose or code, uncalibrated"

SPECIAL_TOKENS = "text that looks like special tokens"
LONG_RUN = "a long run without spaces"
EMOJI = "emoji"
CJK = "Chinese, Japanese or Korean text"
CONTROL_CHARACTERS = "control characters"

RESPONSE = "a response with its usage"


@requirement(
    "CTX-11.1",
    MUST,
    scenarios="openings",
    witnesses=(AT_OPENING, AFTER_ROTATION),
    ports=("open_session",),
    cost="Every budget of the session is wrong by the same amount.",
)
def prefix_is_measured_exactly(trace: Trace) -> Iterator[Judgement]:
    """A plan's prefix_tokens is the count of its prefix by its model's tokenizer, overhead included."""
    for index, record in enumerate(trace.records):
        if not isinstance(record, OpenRecord | ApplyRecord):
            continue
        if not isinstance(record.answer, a.Planned):
            continue
        plan = record.answer.plan
        rotated = isinstance(record, ApplyRecord)
        if isinstance(record, ApplyRecord) and plan == trace.plans[record.plan]:
            continue
        model = plan.opening.model
        counted = sum(
            tokens(record.context.model_copy(update={"model": model}), block.text) + model.overhead_per_block
            for block in plan.blocks
        )
        yield judge(
            plan.prefix_tokens == counted,
            at=at(index, record.context),
            seen=f"prefix_tokens is {plan.prefix_tokens}",
            required=f"{counted}, the count of its {len(plan.blocks)} blocks by {model.tokenizer}",
            witnesses=(AFTER_ROTATION if rotated else AT_OPENING,),
        )


@requirement(
    "CTX-11.2",
    MUST,
    scenarios="pressure",
    witnesses=(UNCALIBRATED, CALIBRATED, PRESSED),
    cost="A request that was thought to fit is refused by the provider deep into a run.",
)
def body_estimate_keeps_its_margin(trace: Trace) -> Iterator[Judgement]:
    """The estimate less the prefix is at least 1.05 times the body's count, in every request.

    It is itemized by class: every class with tokens in the request has an entry of its own.
    """
    for index, build, request in _requests(trace, "main", "roomy", "retry"):
        estimated = request.estimate.total - prefix_count(build.context, request)
        counted = body_count(build.context, request)
        named = [entry.token_class for entry in request.estimate.by_class if entry.tokens]
        missing = {token_class(b) for b in request.blocks if b.text} - set(named)
        short = MARGIN_DENOMINATOR * estimated < MARGIN_NUMERATOR * counted
        yield judge(
            not short and not missing,
            at=at(index, build.context),
            seen=f"the body is estimated at {estimated} tokens and counts {counted}; "
            f"classes without an entry: {listed(sorted(missing))}",
            required="at least 1.05 times the count, itemized by class",
            witnesses=_calibration_of(build),
        )


def _requests(trace: Trace, *purposes: str) -> Iterator[tuple[int, BuildRecord, Request]]:
    for index, build in trace.builds(*purposes):
        if isinstance(build.answer, a.Built):
            yield index, build, build.answer.request


def _calibration_of(build: BuildRecord) -> Iterator[str]:
    yield CALIBRATED if build.inputs.calibration.models else UNCALIBRATED
    if isinstance(build.answer, a.Built) and build.answer.yielded:
        yield PRESSED


@requirement(
    "CTX-11.3",
    MUST,
    scenarios="routing",
    witnesses=(USAGE_ABOVE_ESTIMATE,),
    ports=("estimate", "reconcile"),
    cost="One provider's overhead inflates, or deflates, every other model's budget.",
)
def models_are_calibrated_apart(trace: Trace) -> Iterator[Judgement]:
    """What is learned about one model leaves the estimates for every other model as they were."""
    before: EstimateRecord | None = None
    drifted = False
    for index, record in enumerate(trace.records):
        if isinstance(record, ReconcileRecord):
            drifted = record.usage > record.estimate.total
        if not isinstance(record, EstimateRecord):
            continue
        if record.when == "other_model_before":
            before = record
        elif record.when == "other_model_after" and before is not None:
            yield judge(
                record.answer.by_class == before.answer.by_class,
                at=at(index, record.context),
                seen=f"for {record.context.model.name} the same blocks were estimated at "
                f"{_total(before)} tokens before another model's usage, and {_total(record)} after",
                required="the same estimate before and after",
                witnesses=(USAGE_ABOVE_ESTIMATE,) if drifted else (),
            )


def _total(record: EstimateRecord) -> int:
    return sum(entry.tokens for entry in record.answer.by_class)


@requirement(
    "CTX-11.4",
    MUST,
    scenarios="routing",
    witnesses=(USAGE_ABOVE_ESTIMATE,),
    ports=("estimate", "reconcile"),
    cost="The same overrun happens on every request, though the provider reported it.",
)
def overrun_is_learned_from(trace: Trace) -> Iterator[Judgement]:
    """Once usage exceeded an estimate, the same content is estimated at no less than that usage."""
    exceeded: ReconcileRecord | None = None
    for index, record in enumerate(trace.records):
        if isinstance(record, ReconcileRecord):
            exceeded = record if record.usage > record.estimate.total else None
        elif isinstance(record, EstimateRecord) and record.when == "after" and exceeded is not None:
            yield judge(
                _total(record) >= exceeded.usage,
                at=at(index, record.context),
                seen=f"estimated at {_total(record)} tokens after a usage of {exceeded.usage} "
                f"was reported for the same blocks",
                required="at least the usage reported",
                witnesses=(USAGE_ABOVE_ESTIMATE,),
            )


def _ordinary_requests(trace: Trace) -> Iterator[tuple[int, BuildRecord, int, int]]:
    """Uncalibrated requests of ordinary text, with the body's estimate and count in tokens."""
    for index, build, request in _requests(trace, "main", "roomy"):
        if not build.inputs.calibration.models and _is_ordinary(trace, build, request):
            estimated = request.estimate.total - prefix_count(build.context, request)
            yield index, build, estimated, body_count(build.context, request)


#: Prose and code are words, numbers, punctuation and spaces, in runs no longer than this.
_ORDINARY = re.compile(r"[\n\t\x20-\x7e]*")
_LONGEST_WORD = 40
#: What content must make up of the body's text, so that it is content and not envelopes that is judged.
_MOSTLY = 2


def _is_ordinary(trace: Trace, build: BuildRecord, request: Request) -> bool:
    """Whether a body holds ordinary prose or code, by the content of its items, and mostly that."""
    texts = _body_texts(trace, build)
    whole = "\n".join(texts)
    plain = _ORDINARY.fullmatch(whole) is not None and "<|" not in whole
    words = max((len(word) for word in whole.split()), default=0)
    shown = sum(len(block.text) for block in request.blocks if block.region is Region.B)
    return plain and words <= _LONGEST_WORD and _MOSTLY * len(whole) >= shown > 0


def _body_texts(trace: Trace, build: BuildRecord) -> list[str]:
    given = build.inputs
    assert isinstance(build.answer, a.Built)
    ids = {b.item_id for b in build.answer.request.blocks if b.region is Region.B}
    messages = [item for item in trace.log[: given.log_length] if isinstance(item, Message)]
    standing = (*messages, *given.corrections, *given.recall, *given.environment)
    texts = [content(item) for item in standing if item.id in ids]
    texts += [entry.text for entry in given.working_state.entries()]
    return [*texts, given.checkpoint.summary if given.checkpoint else ""]


@requirement(
    "CTX-11.5",
    SHOULD,
    scenarios="sessions",
    witnesses=(ORDINARY_BODY,),
    cost="A fifth of the window stays empty, and history is compacted before it must be.",
)
def estimate_is_close(trace: Trace) -> Iterator[Judgement]:
    """Uncalibrated, a body of ordinary prose and code is estimated at no more than 1.25 of its count."""
    for index, build, estimated, counted in _ordinary_requests(trace):
        yield judge(
            4 * estimated <= 5 * counted,
            at=at(index, build.context),
            seen=f"a body that counts {counted} tokens is estimated at {estimated}",
            required="at most 1.25 times the count",
            witnesses=(ORDINARY_BODY,),
        )


_SITUATIONS: dict[str, Callable[[str], bool]] = {
    SPECIAL_TOKENS: lambda text: re.search(r"<\|[\w ]+\|>", text) is not None,
    LONG_RUN: lambda text: re.search(r"\S{400}", text) is not None,
    EMOJI: lambda text: re.search("[\U0001f300-\U0001faff]", text) is not None,
    CJK: lambda text: re.search("[぀-ヿ一-鿿가-힣]", text) is not None,
    CONTROL_CHARACTERS: lambda text: re.search(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", text) is not None,
}


@requirement(
    "CTX-11.6",
    MUST,
    scenarios="hostile",
    witnesses=(SPECIAL_TOKENS, LONG_RUN, EMOJI, CJK, CONTROL_CHARACTERS),
    ports=("estimate",),
    cost="One web page with the wrong characters blocks a session for good.",
)
def any_text_is_estimated(trace: Trace) -> Iterator[Judgement]:
    """Any text is estimated, at no less than its count, and none is an error.

    Not what looks like special tokens, nor long runs, emoji, Chinese, Japanese and Korean text, or
    control characters.
    """
    contents = {item.id: content(item) for item in trace.log if isinstance(item, Message)}
    for index, record in enumerate(trace.records):
        if isinstance(record, EstimateRecord) and record.when == "before":
            counted = _count(record.context, record.request)
            whole = [b for b in record.request.blocks if b.pointer is None and b.item_id]
            texts = "\n".join(contents.get(b.item_id or "", "") for b in whole)
            yield judge(
                _total(record) >= counted,
                at=at(index, record.context),
                seen=f"estimated at {_total(record)} tokens, and it counts {counted}",
                required="an estimate no lower than the count, whatever the text",
                witnesses=[name for name, is_there in _SITUATIONS.items() if is_there(texts)],
            )


def _count(context: CallContext, request: Request) -> int:
    return prefix_count(context, request) + body_count(context, request)


@requirement(
    "CTX-11.7",
    MUST,
    scenarios="sessions",
    witnesses=(ORDINARY_BODY,),
    cost="Half of the window is paid for and never used.",
)
def estimate_is_not_absurd(trace: Trace) -> Iterator[Judgement]:
    """Uncalibrated, a body of ordinary prose and code is estimated at no more than twice its count."""
    for index, build, estimated, counted in _ordinary_requests(trace):
        yield judge(
            estimated <= 2 * counted,
            at=at(index, build.context),
            seen=f"a body that counts {counted} tokens is estimated at {estimated}",
            required="at most twice the count",
            witnesses=(ORDINARY_BODY,),
        )


@requirement(
    "CTX-11.8",
    MUST,
    scenarios="sessions",
    witnesses=(RESPONSE, USAGE_ABOVE_ESTIMATE),
    ports=("reconcile",),
    cost="Drift of an estimator goes unseen until requests are refused.",
)
def every_response_is_reconciled_once(trace: Trace) -> Iterator[Judgement]:
    """Each response's usage is told in one `context.usage.reconciled`, and nothing else tells any."""
    for index, record in enumerate(trace.records):
        events = getattr(getattr(record, "answer", None), "events", ())
        told = [event for event in events if isinstance(event, UsageReconciled)]
        if isinstance(record, ReconcileRecord):
            true = (record.context.model.name, record.estimate.total, record.usage)
            said = [(event.model, event.estimated, event.reported) for event in told]
            drifted = record.usage > record.estimate.total
            yield judge(
                said == [true],
                at=at(index, record.context),
                seen=f"{len(told)} events, of (model, estimated, reported): {said}",
                required=f"one event of {true}",
                witnesses=(RESPONSE, USAGE_ABOVE_ESTIMATE) if drifted else (RESPONSE,),
            )
        elif told:
            yield judge(
                False,
                at=at(index, record.context),
                seen=f"the answer to {record.record} tells of a usage that nobody reported then",
                required="no such event outside of a reconciliation",
            )
