"""Decision 12, first part: what compaction leaves alone, and how untrusted content is elided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.events import EpochRotated
from contextproof.conformance.contract.items import LogItem, Message, content
from contextproof.conformance.contract.plan import Checkpoint
from contextproof.conformance.contract.ports import SummaryPart
from contextproof.conformance.contract.request import ElidedSpan, Extent, PointerKind, Request
from contextproof.conformance.contract.vocabulary import CHECKPOINT, Region, Trust, lowest
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import CompactRecord, Trace
from contextproof.conformance.requirements.oracles_alibis import Alibis
from contextproof.conformance.requirements.oracles_canaries import Leak, first_leak
from contextproof.conformance.requirements.oracles_checkpoint import (
    contents,
    covered,
    first_build_after,
    gaps,
    given_whole,
    names,
    original,
)
from contextproof.conformance.requirements.oracles_reading import names_an_original
from contextproof.conformance.requirements.oracles_rendering import Lookup, Seen, seen_blocks
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

COMPACTED_ON_DEMAND = "a compaction that a build asked for"
COMPACTED_BY_ORDER = "a forced compaction"

UNTRUSTED_COVERED = "an untrusted item that a checkpoint covers"
UNTRUSTED_SUMMARIZED_AROUND = "a summary of trusted items among untrusted ones"
RENDERED_POINTER = "an elision pointer in a request"

ADJACENT_SPANS = "two untrusted items in a row"
OLDER_POINTERS = "a compaction over the pointers of an earlier one"

_COMPACTOR = ("build", "compact")
#: A content shorter than this may stand in a text by chance.
_TELLING = 8


class Compaction(NamedTuple):
    """A compaction that wrote a checkpoint, with what it was handed."""

    place: int
    record: CompactRecord
    old: Checkpoint | None
    new: Checkpoint
    log: Sequence[LogItem]

    @property
    def newly_covered(self) -> list[Message]:
        """Messages that the new checkpoint covers and the old one did not."""
        before = {item.id for item in covered(self.old, self.log)}
        return [item for item in covered(self.new, self.log) if item.id not in before]


def compactions(trace: Trace) -> Iterator[Compaction]:
    """Every compaction that wrote a checkpoint, in order."""
    for index, record in enumerate(trace.records):
        if isinstance(record, CompactRecord) and isinstance(record.answer, a.Compacted):
            log = trace.log[: record.inputs.log_length]
            yield Compaction(index, record, record.inputs.checkpoint, record.answer.checkpoint, log)


@requirement(
    "CTX-12.1",
    MUST,
    scenarios="compactions",
    witnesses=(COMPACTED_ON_DEMAND, COMPACTED_BY_ORDER),
    ports=_COMPACTOR,
    cost="Each compaction re-bills the whole prefix.",
)
def compaction_leaves_the_prefix_alone(trace: Trace) -> Iterator[Judgement]:
    """A compaction touches neither region A nor the epoch: the next request has both as they were."""
    for index, record, _, new, _ in compactions(trace):
        rotated = [e for e in record.answer.events if isinstance(e, EpochRotated)]
        found = first_build_after(trace, index)
        if found is None or found[1].plan != record.plan or found[1].inputs.checkpoint != new:
            continue
        place, build = found
        if not isinstance(build.answer, a.Built):
            continue
        plan = trace.plans[record.plan]
        same = _prefix(build.answer.request) == [block.text for block in plan.blocks]
        yield judge(
            same and build.answer.request.epoch == plan.epoch and not rotated,
            at=at(place, build.context),
            seen=f"epoch {build.answer.request.epoch}, and region A is "
            f"{'the same' if same else 'other text'} than the plan's",
            required=f"epoch {plan.epoch} and region A as planned before the compaction",
            witnesses=(COMPACTED_BY_ORDER if record.forced else COMPACTED_ON_DEMAND,),
        )


def _prefix(request: Request) -> list[str]:
    return [block.text for block in request.blocks if block.region is Region.A]


@requirement(
    "CTX-12.2",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="compactions",
    witnesses=(UNTRUSTED_COVERED, UNTRUSTED_SUMMARIZED_AROUND, RENDERED_POINTER),
    ports=_COMPACTOR,
    cost="An attacker's text comes back unlabelled, as the platform's own account of the session.",
)
def untrusted_text_is_never_paraphrased(trace: Trace) -> Iterator[Judgement]:
    """No untrusted text reaches the summarizer, a summary, or an elision pointer outside its reference.

    Judged by distinctive pieces of untrusted texts, arguments, sources and tool names that nothing
    trusted holds; what the summarizer itself invented is no leak.
    """
    lookup = Lookup(trace)
    alibis = Alibis(trace, lookup)
    invented: list[str] = []
    for index, record in enumerate(trace.records):
        if not isinstance(record, CompactRecord):
            continue
        yield from _handed_to_summarizer(trace, lookup, alibis, index, record, invented)
        invented += [call.summary.text for call in record.calls if call.summary is not None]
        if isinstance(record.answer, a.Compacted):
            leak = first_leak(
                [record.answer.checkpoint.summary],
                alibis.suspects(record),
                alibis.innocent(record, invented),
            )
            yield _no_leak(leak, index, record, "the summary holds", ())
    for seen in seen_blocks(trace):
        if seen.block.pointer is not None and seen.block.pointer.kind is PointerKind.ELISION:
            yield _pointer_is_clean(seen, alibis)


def _handed_to_summarizer(
    trace: Trace,
    lookup: Lookup,
    alibis: Alibis,
    index: int,
    record: CompactRecord,
    invented: Sequence[str],
) -> Iterator[Judgement]:
    """Each call of the summarizer; what one call wrote may be given to the next."""
    trust = lookup.trust(record)
    items = {i.id: i for i in trace.log[: record.inputs.log_length] if isinstance(i, Message)}
    untrusted = {n for n in items if trust[n] is Trust.EXTERNAL_UNTRUSTED}
    suspects = alibis.suspects(record)
    written = list(invented)
    situations = _trust_situations(trace, record, untrusted)
    for call in record.calls:
        named = [
            n
            for part in call.parts
            for n in part.item_ids
            if n in untrusted and _is_rendered(items[n], part, trace)
        ]
        leak = first_leak([part.text for part in call.parts], suspects, alibis.innocent(record, written))
        if named and leak is None:
            leak = Leak(named[0], content(items[named[0]]))
        yield _no_leak(leak, index, record, "the summarizer was given", situations)
        written += [call.summary.text] if call.summary is not None else []
    if not record.calls:
        yield _no_leak(None, index, record, "", situations)


def _is_rendered(item: Message, part: SummaryPart, trace: Trace) -> bool:
    """Whether a part that names an item holds it whole; a part may also name what it leaves out."""
    return len(content(item)) >= _TELLING and given_whole(item, [part], trace.manifest)


def _trust_situations(trace: Trace, record: CompactRecord, untrusted: set[str]) -> tuple[str, ...]:
    if not isinstance(record.answer, a.Compacted):
        return ()
    log = trace.log[: record.inputs.log_length]
    ids = {item.id for item in covered(record.answer.checkpoint, log)}
    if not ids & untrusted:
        return ()
    return (UNTRUSTED_COVERED, *((UNTRUSTED_SUMMARIZED_AROUND,) if record.calls else ()))


def _no_leak(
    leak: Leak | None, index: int, record: CompactRecord, where: str, situations: tuple[str, ...]
) -> Judgement:
    return judge(
        leak is None,
        at=at(index, record.context, leak.item_id if leak else None),
        seen=f"{where} {quoted(leak.piece)}, of untrusted item {quoted(leak.item_id)}" if leak else "",
        required="nothing of an untrusted item but its pointer",
        witnesses=situations,
    )


def _start(extent: Extent) -> int:
    return extent.start


def _pointer_is_clean(seen: Seen, alibis: Alibis) -> Judgement:
    pointer, text = seen.block.pointer, seen.block.text.encode()
    assert pointer is not None
    # What opens and closes the envelope is the engine's own but for the source: one string a type.
    envelope = seen.block.envelope
    own = [pointer.reference, *((envelope.opening, envelope.closing) if envelope else ())]
    edges = [0, *(edge for e in sorted(own, key=_start) for edge in (e.start, e.end)), len(text)]
    outside = [text[edges[n] : edges[n + 1]] for n in range(0, len(edges), 2)]
    # Not what the summarizer invented: no summary has a place in a pointer.
    leak = first_leak(
        [*(part.decode(errors="replace") for part in outside), seen.block.source],
        alibis.suspects(seen.build),
        alibis.innocent(seen.build, ()),
    )
    held = leak is None and pointer.excerpt is None
    return judge(
        held,
        at=at(seen.place, seen.build.context, leak.item_id if leak else seen.block.item_id),
        seen=f"an elision pointer shows {quoted(leak.piece)} of item {quoted(leak.item_id)}"
        if leak
        else "an elision pointer has an excerpt",
        required="nothing of what it points to, outside of its reference",
        witnesses=(RENDERED_POINTER,),
    )


@requirement(
    "CTX-12.3",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="compactions",
    witnesses=(UNTRUSTED_COVERED, ADJACENT_SPANS, OLDER_POINTERS),
    ports=_COMPACTOR,
    cost="What was elided cannot be fetched again, or is taken for more than it was.",
)
def untrusted_spans_become_pointers(trace: Trace) -> Iterator[Judgement]:
    """Each untrusted item that a checkpoint covers is named, whole, by a pointer.

    The pointer's trust is the lowest of what it names, its size their bytes summed, and every
    reference resolves to original bytes. Adjacent spans may share a pointer.
    """
    lookup = Lookup(trace)
    for compaction in compactions(trace):
        trust, by_id = lookup.trust(compaction.record), contents(compaction.log)
        place = at(compaction.place, compaction.record.context, compaction.new.id)
        older = (OLDER_POINTERS,) if compaction.old and compaction.old.pointers else ()
        for pointer in compaction.new.pointers:
            problem = _untrue(pointer, by_id, trust)
            yield judge(
                not problem,
                at=place,
                seen=problem,
                required="a pointer true to the items it names",
                witnesses=older,
            )
        untrusted = [item for item in compaction.newly_covered if trust[item.id] is Trust.EXTERNAL_UNTRUSTED]
        for item in untrusted:
            references = [r for _, r in names(compaction.new.pointers) if r.item_id == item.id]
            yield judge(
                bool(references) and not gaps(references, len(by_id[item.id])),
                at=at(compaction.place, compaction.record.context, item.id),
                seen=f"untrusted item {quoted(item.id)} of {len(by_id[item.id])} bytes is named by "
                f"{len(references)} references that do not hold all of it",
                required="a pointer that names all of it",
                witnesses=(UNTRUSTED_COVERED, *_adjacent(compaction.log, untrusted)),
            )


def _untrue(pointer: ElidedSpan, by_id: Mapping[str, bytes], trust: Mapping[str, Trust]) -> str:
    originals = [original(reference, by_id) for reference in pointer.references]
    dangling = [
        reference.item_id
        for reference, found in zip(pointer.references, originals, strict=True)
        if found is None
    ]
    if dangling:
        return f"references that resolve to nothing: {listed(dangling)}"
    size = sum(len(found) for found in originals if found is not None)
    true_trust = lowest(*(trust[reference.item_id] for reference in pointer.references))
    if pointer.size != size:
        return f"a pointer says {pointer.size} bytes, and what it names has {size}"
    if pointer.trust is not true_trust:
        return f"a pointer says {pointer.trust}, and the lowest it names is {true_trust}"
    return ""


def _adjacent(log: Sequence[LogItem], untrusted: Sequence[Message]) -> tuple[str, ...]:
    order = [item.id for item in log if isinstance(item, Message)]
    places = [order.index(item.id) for item in untrusted]
    touching = any(later - earlier == 1 for earlier, later in pairwise(places))
    return (ADJACENT_SPANS,) if touching else ()


@requirement(
    "CTX-12.4",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="compactions",
    witnesses=(OLDER_POINTERS, RENDERED_POINTER),
    ports=_COMPACTOR,
    cost="The second compaction forgets what the first had marked as untrusted.",
)
def pointers_survive(trace: Trace) -> Iterator[Judgement]:
    """Every reference of an older pointer is still there after a compaction, at no higher trust.

    In requests a pointer's block carries its trust as its label, and names what it refers to.
    """
    for index, record, old, new, log in compactions(trace):
        sizes = {name: len(data) for name, data in contents(log).items()}
        for pointer, reference in names(old.pointers if old else ()):
            still = [
                (later, again)
                for later, again in names(new.pointers)
                if again.item_id == reference.item_id
                and (again.start or 0) <= (reference.start or 0)
                and _end(again.end, sizes, again.item_id) >= _end(reference.end, sizes, reference.item_id)
            ]
            yield judge(
                any(later.trust.rank >= pointer.trust.rank for later, _ in still),
                at=at(index, record.context, reference.item_id),
                seen=f"the new checkpoint names it at {listed(later.trust for later, _ in still)}",
                required=f"a pointer that names it still, at {pointer.trust} or lower",
                witnesses=(OLDER_POINTERS,),
            )
    yield from _labels(trace)


def _end(end: int | None, sizes: Mapping[str, int], item_id: str) -> int:
    return sizes.get(item_id, 0) if end is None else end


def _labels(trace: Trace) -> Iterator[Judgement]:
    for seen in seen_blocks(trace):
        block, pointer = seen.block, seen.block.pointer
        if block.type != CHECKPOINT or pointer is None:
            continue
        handed = seen.build.inputs.checkpoint
        known = [span.trust for span in handed.pointers if _same(span, pointer)] if handed else []
        named = names_an_original(block, trace.manifest)
        yield judge(
            block.label is pointer.trust and (not known or pointer.trust in known) and named,
            at=at(seen.place, seen.build.context, block.item_id),
            seen=f"a pointer at {pointer.trust} rendered with label {block.label}"
            + ("" if named else ", and no id of its originals where it is said to name them"),
            required=f"the trust that the checkpoint gives it: {listed(known)}; and an id to find it by",
            witnesses=(RENDERED_POINTER,),
        )


def _same(span: ElidedSpan, pointer: ElidedSpan) -> bool:
    return set(span.references) == set(pointer.references)
