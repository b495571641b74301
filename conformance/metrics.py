"""The four tracked metrics, computed from traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median, quantiles

from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.codecs import NotDecodable
from contextproof.conformance.contract.items import LogItem, Message, content
from contextproof.conformance.contract.request import Block, Reference
from contextproof.conformance.contract.session import ForcedRevocation, RoutingChanged
from contextproof.conformance.play.trace import ApplyRecord, CompactRecord, Sent, Trace, tokens


class Spread(Frozen):
    """Minimum, median and 99th percentile of a ratio, in thousandths; and of how many."""

    minimum: int
    """The least."""
    median: int
    """The middle."""
    p99: int
    """What 99 of 100 do not exceed."""
    number: int
    """Of how many."""


class Metrics(Frozen):
    """The four metrics. Shares and ratios are in thousandths; None where nothing was there to measure."""

    epochs_per_session: int | None
    """Over sessions without a routing change or forced revocation."""
    cached_share: int | None
    """Input tokens that repeat the previous request's leading bytes, over all."""
    append_only_share: int | None
    """The same, had every request only appended to the one before."""
    uncalibrated: Spread | None
    """Estimate over count, until a response first reported more than was estimated."""
    after_drift: Spread | None
    """The same, from then on."""
    recoverable_share: int | None
    """Bytes truncated or elided that a pointer's references lead back to, over all."""


class Tally(Frozen):
    """What metrics are computed from; tallies of several runs add up.

    ``repeated``, ``appended`` and ``sent`` are input tokens; ``recovered`` and ``hidden`` bytes;
    ``before_drift`` and ``after_drift`` pairs of a ratio in thousandths and how often it occurred.
    """

    quiet_sessions: int = 0
    quiet_epochs: int = 0
    repeated: int = 0
    appended: int = 0
    sent: int = 0
    before_drift: tuple[tuple[int, int], ...] = ()
    after_drift: tuple[tuple[int, int], ...] = ()
    recovered: int = 0
    hidden: int = 0


def tally(traces: Sequence[Trace]) -> Tally:
    """The tally of some traces."""
    quiet = [trace for trace in traces if trace.sent and not _asks_to_rotate(trace)]
    repeated, appended, sent = _cached(traces)
    before, after = _ratios(traces)
    recovered, hidden = _recoverable(traces)
    return Tally(
        quiet_sessions=len(quiet),
        quiet_epochs=sum(len({one.request.epoch for one in trace.sent}) for trace in quiet),
        repeated=repeated,
        appended=appended,
        sent=sent,
        before_drift=tuple(sorted(Counter(before).items())),
        after_drift=tuple(sorted(Counter(after).items())),
        recovered=recovered,
        hidden=hidden,
    )


def measure(tallies: Iterable[Tally]) -> Metrics:
    """The four metrics over tallies added up."""
    parts = list(tallies)

    def total(field: str) -> int:
        return sum(getattr(part, field) for part in parts)

    return Metrics(
        epochs_per_session=_share(total("quiet_epochs"), total("quiet_sessions")),
        cached_share=_share(total("repeated"), total("sent")),
        append_only_share=_share(total("appended"), total("sent")),
        uncalibrated=_spread(part.before_drift for part in parts),
        after_drift=_spread(part.after_drift for part in parts),
        recoverable_share=_share(total("recovered"), total("hidden")),
    )


def _share(part: int, whole: int) -> int | None:
    return 1000 * part // whole if whole else None


def _asks_to_rotate(trace: Trace) -> bool:
    return any(
        isinstance(record, ApplyRecord) and isinstance(record.change, RoutingChanged | ForcedRevocation)
        for record in trace.records
    )


def _cached(traces: Sequence[Trace]) -> tuple[int, int, int]:
    """Tokens repeated, tokens that could have been, and all input tokens."""
    repeated = appended = total = 0
    for trace in traces:
        previous: Sent | None = None
        for sent in trace.sent:
            total += sent.send.count
            if previous is not None:
                repeated += repeated_tokens(previous, sent)
                appended += min(previous.send.count, sent.send.count)
            previous = sent
    return repeated, appended, total


def repeated_tokens(previous: Sent, sent: Sent) -> int:
    """Tokens of the leading part of a request that repeats the previous one byte for byte.

    A cache keeps nothing for another model.
    """
    context = sent.build.context
    if previous.build.context.model != context.model:
        return 0
    common = 0
    for old, new in zip(previous.request.blocks, sent.request.blocks, strict=False):
        if old.text != new.text:
            return common + tokens(context, _common_start(old.text, new.text))
        common += tokens(context, new.text) + context.model.overhead_per_block
    return common


def _common_start(one: str, other: str) -> str:
    for n, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return one[:n]
    return min(one, other, key=len)


def _ratios(traces: Sequence[Trace]) -> tuple[list[int], list[int]]:
    """Estimate over count in thousandths, before and after the first drift of each session."""
    before: list[int] = []
    after: list[int] = []
    for trace in traces:
        drifted = False
        for sent in trace.sent:
            if not sent.request.estimate.by_class:
                continue  # an engine that estimates nothing
            ratio = 1000 * sent.request.estimate.total // max(1, sent.send.count)
            (after if drifted else before).append(ratio)
            drifted = drifted or (sent.send.usage or 0) > sent.request.estimate.total
    return before, after


def _spread(parts: Iterable[tuple[tuple[int, int], ...]]) -> Spread | None:
    counted: Counter[int] = Counter()
    for part in parts:
        counted.update(dict(part))
    ratios = sorted(counted.elements())
    if not ratios:
        return None
    p99 = quantiles(ratios, n=100, method="inclusive")[98] if len(ratios) > 1 else ratios[0]
    return Spread(minimum=ratios[0], median=round(median(ratios)), p99=round(p99), number=len(ratios))


def _recoverable(traces: Sequence[Trace]) -> tuple[int, int]:
    """Bytes that references lead back to, and all bytes that pointers stand for."""
    recovered = hidden = 0
    for trace in traces:
        log = {item.id: item for item in trace.log}
        for size, shown, references in _pointers(trace):
            hidden += size
            recovered += min(size, shown + sum(_bytes(log.get(r.item_id), r) for r in references))
    return recovered, hidden


def _pointers(trace: Trace) -> Iterable[tuple[int, int, tuple[Reference, ...]]]:
    """Every truncation once, and every elision of every checkpoint: bytes hidden, bytes shown, originals.

    A pointer's size may be that of the whole, and its reference of what its excerpt does not show.
    """
    truncated: dict[str | None, Block] = {}
    for sent in trace.sent:
        for block in sent.request.blocks:
            if block.pointer is not None and block.type == "tool_result":
                truncated[block.item_id] = block
    for block in truncated.values():
        assert block.pointer is not None
        yield block.pointer.size, _excerpt_bytes(trace, block), block.pointer.references
    for record in trace.records:
        if isinstance(record, CompactRecord) and record.answer.answer == "compacted":
            for span in record.answer.checkpoint.pointers:
                yield span.size, 0, span.references


def _excerpt_bytes(trace: Trace, block: Block) -> int:
    """Bytes of content that a pointer's excerpt shows; 0 for one whose codec cannot be undone."""
    excerpt = block.pointer.excerpt if block.pointer else None
    if excerpt is None:
        return 0
    try:
        return len(trace.manifest.codec(block.type).decode(excerpt.of(block.text).decode()).encode())
    except (NotDecodable, UnicodeDecodeError):
        return 0


def _bytes(item: LogItem | None, reference: Reference) -> int:
    if not isinstance(item, Message):
        return 0
    size = len(content(item).encode())
    end = size if reference.end is None else min(size, reference.end)
    return max(0, end - (reference.start or 0))
