"""A session request by request, in figures: what its picture is drawn from."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from contextproof.conformance.contract.answers import Built
from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.contract.request import Request, YieldStep, token_class
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.metrics import repeated_tokens
from contextproof.conformance.play.trace import CompactRecord, Sent, Trace, tokens

#: Characters of a hash that tell it from its neighbours.
_HASH = 12


class Point(Frozen):
    """One request that was delivered. Figures are tokens.

    Attributes:
        limit: what the window leaves when the output reserve is taken off.
        count: the whole request's, by the model's own tokenizer. ``by_class`` are its parts.
        estimate: what the engine said it would cost; 0 where it estimates nothing.
        repeated: its leading part that repeats the request before.
        recall, results: items that newly gave way: recall items left out, results made pointers.
        compactions: checkpoints written since the request before.
    """

    turn: Count
    request: Count
    epoch: Count
    prefix_sha256: str
    window: Count
    limit: Count
    count: Count
    estimate: Count
    repeated: Count
    by_class: tuple[tuple[TokenClass, int], ...]
    recall: Count
    results: Count
    compactions: Count


class Series(Frozen):
    """All requests of a session, in order."""

    session: str
    points: tuple[Point, ...]


def series(trace: Trace) -> Series:
    """The series of a trace."""
    found: list[Point] = []
    previous: Sent | None = None
    for sent in trace.sent:
        found.append(_point(trace, previous, sent))
        previous = sent
    return Series(session=trace.scenario, points=tuple(found))


def _point(trace: Trace, previous: Sent | None, sent: Sent) -> Point:
    model, request = sent.build.context.model, sent.request
    answer = sent.build.answer
    gave_way = Counter(one.step for one in answer.yielded) if isinstance(answer, Built) else Counter()
    return Point(
        turn=request.turn,
        request=request.request,
        epoch=request.epoch,
        prefix_sha256=request.prefix_sha256[:_HASH],
        window=model.window,
        limit=max(0, model.limit),
        count=sent.send.count,
        estimate=request.estimate.total,
        repeated=repeated_tokens(previous, sent) if previous is not None else 0,
        by_class=_by_class(sent.build.context, request),
        recall=gave_way[YieldStep.RECALL],
        results=gave_way[YieldStep.TOOL_RESULT],
        compactions=_compactions(trace, previous.record if previous else 0, sent.record),
    )


def _by_class(context: CallContext, request: Request) -> tuple[tuple[TokenClass, int], ...]:
    counted: Counter[TokenClass] = Counter()
    for block in request.blocks:
        with suppress(ValueError):  # a block of no declared type is in no class
            counted[token_class(block)] += tokens(context, block.text) + context.model.overhead_per_block
    return tuple((name, counted[name]) for name in TokenClass if counted[name])


def _compactions(trace: Trace, start: int, end: int) -> int:
    return sum(
        isinstance(record, CompactRecord) and record.answer.answer == "compacted"
        for record in trace.records[start:end]
    )
