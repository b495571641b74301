"""How near a builder comes to bounds that the way it renders bears on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.contract.caps import (
    CAPS,
    MARGIN_DENOMINATOR,
    MARGIN_NUMERATOR,
    MIN_BODY,
    POINTER_TOKENS,
    TOOL_RESULTS_DIVISOR,
)
from contextproof.conformance.contract.request import Block, Extent, PointerKind
from contextproof.conformance.contract.vocabulary import (
    CHECKPOINT,
    ENVIRONMENT,
    FRAMING,
    TOOL_RESULT,
    Region,
    TokenClass,
)
from contextproof.conformance.play.trace import Sent, Trace, body_count, prefix_count, tokens

#: Tokens of an empty envelope at the most (13.9), where its source is no longer than so many characters.
_ENVELOPE_TOKENS = 80
_SHORT_SOURCE = 40
_THOUSAND = 1000
#: A measure so near its bound is close to it.
_CLOSE = Fraction(9, 10)


class Margin(Frozen):
    """A measure and its bound. ``at_least`` where the bound is the least allowed, not the most."""

    requirement: str
    what: str
    measured: Count
    bound: Count
    unit: str = "tokens"
    at_least: bool = False

    @property
    def share(self) -> Fraction:
        """How much of the bound is used up: beyond 1, the requirement is violated."""
        used, allowed = (self.bound, self.measured) if self.at_least else (self.measured, self.bound)
        return Fraction(used, allowed) if allowed else Fraction(used > 0) * 2

    @property
    def crossed(self) -> bool:
        """Whether it is beyond its bound."""
        return self.share > 1

    @property
    def close(self) -> bool:
        """Whether nine tenths of the bound are used up."""
        return self.share >= _CLOSE


def margins(traces: Iterable[Trace]) -> Iterator[Margin]:
    """Of everything measured, the nearest to its bound in these sessions; by requirement and name."""
    nearest: dict[tuple[str, str], Margin] = {}
    for trace in traces:
        for sent in trace.sent:
            for measure in _MEASURES:
                for margin in measure(trace, sent):
                    key = margin.requirement, margin.what
                    if key not in nearest or margin.share > nearest[key].share:
                        nearest[key] = margin
    yield from (nearest[key] for key in sorted(nearest))


def _framing(_: Trace, sent: Sent) -> Iterator[Margin]:
    blocks = [block for block in sent.request.blocks if block.type == FRAMING]
    if blocks:
        measured = sum(tokens(sent.build.context, block.text) for block in blocks)
        yield Margin(
            requirement="CTX-06.1", what="framing", measured=measured, bound=CAPS[TokenClass.FRAMING]
        )


def _environment(_: Trace, sent: Sent) -> Iterator[Margin]:
    items = sent.build.inputs.environment
    rendered = {block.item_id for block in sent.request.blocks if block.type == ENVIRONMENT}
    measured = sum(tokens(sent.build.context, item.text) for item in items if item.id in rendered)
    if measured:
        bound = CAPS[TokenClass.ENVIRONMENT]
        yield Margin(requirement="CTX-06.1", what="environment", measured=measured, bound=bound)


def _tool_results(_: Trace, sent: Sent) -> Iterator[Margin]:
    """The record's quarter of the body, by what results count as rendered: more than their content does."""
    context = sent.build.context
    results = [b for b in sent.request.blocks if b.type == TOOL_RESULT and b.pointer is None]
    measured = sum(tokens(context, _interior(block)) for block in results)
    body = context.model.limit - prefix_count(context, sent.request)
    if measured and body > 0:
        what = "tool results, as rendered"
        bound = body // TOOL_RESULTS_DIVISOR
        yield Margin(requirement="CTX-06.1", what=what, measured=measured, bound=bound)


def _whole(_: Trace, sent: Sent) -> Iterator[Margin]:
    limit, counted = sent.build.context.model.limit, sent.send.count
    yield Margin(requirement="CTX-06.2", what="request", measured=counted, bound=max(0, limit))


def _ceiling(_: Trace, sent: Sent) -> Iterator[Margin]:
    bound = sent.build.context.model.limit - MIN_BODY
    measured = prefix_count(sent.build.context, sent.request)
    if measured:
        yield Margin(requirement="CTX-07.2", what="prefix", measured=measured, bound=max(0, bound))


def _pointers(_: Trace, sent: Sent) -> Iterator[Margin]:
    for block in sent.request.blocks:
        if block.pointer is not None and block.pointer.kind is PointerKind.TRUNCATION:
            beside = tokens(sent.build.context, _bare(block))
            what = "truncation pointer, beside what it names"
            yield Margin(requirement="CTX-08.4", what=what, measured=beside, bound=POINTER_TOKENS)


def _estimates(_: Trace, sent: Sent) -> Iterator[Margin]:
    context, estimate = sent.build.context, sent.request.estimate
    counted = body_count(context, sent.request)
    if estimate.by_class and counted:
        yield Margin(
            requirement="CTX-11.2",
            what="body's estimate over its count",
            measured=max(0, estimate.body_tokens) * _THOUSAND // counted,
            bound=MARGIN_NUMERATOR * _THOUSAND // MARGIN_DENOMINATOR,
            unit="thousandths",
            at_least=True,
        )


def _summaries(trace: Trace, sent: Sent) -> Iterator[Margin]:
    for block in sent.request.blocks:
        if block.type == CHECKPOINT and block.pointer is None and trace.manifest.summary_bound:
            measured = tokens(sent.build.context, block.text)
            bound = trace.manifest.summary_bound
            yield Margin(requirement="CTX-12.9", what="rendered summary", measured=measured, bound=bound)


def _envelopes(_: Trace, sent: Sent) -> Iterator[Margin]:
    for block in sent.request.blocks:
        if block.envelope is not None and len(block.source) <= _SHORT_SOURCE:
            empty = block.envelope.opening.of(block.text) + block.envelope.closing.of(block.text)
            cost = tokens(sent.build.context, empty.decode(errors="replace"))
            where = "prefix" if block.region is Region.A else "body"
            what = f"empty envelope in the {where}"
            yield Margin(requirement="CTX-13.9", what=what, measured=cost, bound=_ENVELOPE_TOKENS)


_MEASURES: tuple[Callable[[Trace, Sent], Iterator[Margin]], ...] = (
    _framing,
    _environment,
    _tool_results,
    _whole,
    _ceiling,
    _pointers,
    _estimates,
    _summaries,
    _envelopes,
)


def _interior(block: Block) -> str:
    if block.envelope is None:
        return block.text
    return block.envelope.interior.of(block.text).decode(errors="replace")


def _bare(block: Block) -> str:
    """A pointer's text without excerpt, source and reference."""
    assert block.pointer is not None
    cut = [block.pointer.reference, block.pointer.excerpt]
    cut += [block.envelope.source] if block.envelope is not None else []
    data, kept, place = block.text.encode(), b"", 0
    for extent in sorted((e for e in cut if e is not None), key=_start):
        kept, place = kept + data[place : extent.start], extent.end
    return (kept + data[place:]).decode(errors="replace")


def _start(extent: Extent) -> int:
    return extent.start
