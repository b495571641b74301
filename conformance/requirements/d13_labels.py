"""Decision 13, second half: nonces, the framing, and labels that never claim too much."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.codecs import NotDecodable
from contextproof.conformance.contract.items import (
    MemoryCorrection,
    MemoryItem,
    Message,
    RecallItem,
    content,
    own_trust,
)
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import (
    ASSISTANT_MESSAGE,
    CHECKPOINT,
    FRAMING,
    TOOL_CALL,
    WORKING_STATE,
    Region,
    Role,
    Trust,
    declaration,
    lowest,
)
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import ApplyRecord, BuildRecord, OpenRecord, Trace
from contextproof.conformance.requirements.oracles_envelopes import nonce_bits
from contextproof.conformance.requirements.oracles_prefix import over_a_resume
from contextproof.conformance.requirements.oracles_rendering import (
    PLATFORM_TYPES,
    Lookup,
    Seen,
    content_of,
    entry_trust,
    seen_blocks,
    span,
)
from contextproof.conformance.requirements.registry import MUST, Gate, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

REBUILT_ITEM = "an item rendered in two requests"
TRUNCATED_ITEM = "an item rendered whole and as its pointer"
OTHER_EPOCH = "an item rendered in two epochs"
OTHER_KEY = "an opening under another platform secret"

SEVERAL_SESSIONS = "two sessions of one engine"
ROTATED = "a rotated prefix"

UNTRUSTED_ITEM = "an untrusted item"
DERIVED_FROM_UNTRUSTED = "a trusted item that derives from an untrusted one"
UNTRUSTED_STATE = "a working-state entry that derives from an untrusted item"
SUMMARY = "a summary"

BODY_BLOCK = "a block of region B"

#: An entry shorter than this may stand in another's text by chance.
_TELLING = 12
#: Bits that a nonce must have at the least, so that no content can guess it.
_NONCE_BITS = 64


def _nonce(block: Block) -> str | None:
    try:
        return None if block.envelope is None else span(block, block.envelope.nonce)
    except NotDecodable:
        return None


def _keyed_over(trace: Trace, lookup: Lookup, seen: Seen) -> tuple[str, str, str] | None:
    """Type, source and original content of what a block renders; None for pointers of a checkpoint."""
    block = seen.block
    if block.type == WORKING_STATE:
        return None  # its content changes while it stays one item
    if block.type == CHECKPOINT:
        text = None if block.pointer else content_of(block, trace.manifest)
    else:
        item = lookup.item(seen.build, block)
        text = None if item is None else content(item)
    return None if text is None else (block.type, block.source, text)


@requirement(
    "CTX-13.5",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="sessions",
    witnesses=(REBUILT_ITEM, TRUNCATED_ITEM, OTHER_EPOCH, OTHER_KEY),
    cost="Nonces that change break the cache; nonces that can be guessed break the envelope.",
)
def nonces_are_keyed_to_content(trace: Trace) -> Iterator[Judgement]:
    """An item's nonce is the same in every request, epoch and pointer, and of at least 64 bits.

    Items that differ in type, source or content have different nonces, and under another platform
    secret every nonce is another.
    """
    lookup, situations = Lookup(trace), _appearances(trace)
    first: dict[tuple[object, ...], tuple[str, int]] = {}
    owner: dict[str, tuple[str, str, str]] = {}
    for seen in seen_blocks(trace):
        nonce, key = _nonce(seen.block), _keyed_over(trace, lookup, seen)
        if nonce is None or key is None:
            continue
        known, place = first.setdefault((*key, seen.block.label), (nonce, seen.place))
        holder = owner.setdefault(nonce, key)
        shared = "" if holder == key else f", which {holder[0]} {quoted(holder[2])} has too"
        yield judge(
            nonce == known and not shared,
            at=at(seen.place, seen.build.context, seen.block.item_id),
            seen=f"nonce {quoted(nonce)}, and {quoted(known)} elsewhere{shared}",
            required="one nonce for what is the same, and another for what differs",
            witnesses=situations.get((seen.block.type, seen.block.item_id), ()),
            follows=() if shared else over_a_resume(trace, place, seen.place),
        )
    yield from _under_another_secret(trace)
    if owner:
        bits = nonce_bits(owner)
        yield judge(
            bits >= _NONCE_BITS,
            at=at(0, trace.records[0].context),
            seen=f"nonces of about {bits:.0f} bits, such as {listed(list(owner)[:2])}",
            required=f"at least {_NONCE_BITS} bits",
        )


def _appearances(trace: Trace) -> dict[tuple[str, str | None], tuple[str, ...]]:
    """In what situations each item was rendered, by type and id."""
    requests: Counter[tuple[str, str | None]] = Counter()
    forms: dict[tuple[str, str | None], set[tuple[int, bool]]] = {}
    for _, build in trace.builds("main"):
        if isinstance(build.answer, a.Built):
            for block in build.answer.request.blocks:
                key = block.type, block.item_id
                requests[key] += 1
                form = build.answer.request.epoch, block.pointer is None
                forms.setdefault(key, set()).add(form)
    return {
        key: tuple(
            name
            for name, is_there in (
                (REBUILT_ITEM, requests[key] > 1),
                (TRUNCATED_ITEM, len({whole for _, whole in seen}) > 1),
                (OTHER_EPOCH, len({epoch for epoch, _ in seen}) > 1),
            )
            if is_there
        )
        for key, seen in forms.items()
    }


def _under_another_secret(trace: Trace) -> Iterator[Judgement]:
    plans = {
        record.purpose: (index, record, record.answer.plan)
        for index, record in enumerate(trace.records)
        if isinstance(record, OpenRecord) and isinstance(record.answer, a.Planned)
    }
    if "main" not in plans or "other_secret" not in plans:
        return
    mine = {(b.type, b.item_id): _nonce(b) for b in plans["main"][2].blocks}
    index, record, other = plans["other_secret"]
    for block in other.blocks:
        nonce = _nonce(block)
        if nonce is not None:
            yield judge(
                nonce != mine.get((block.type, block.item_id)),
                at=at(index, record.context, block.item_id),
                seen=f"nonce {quoted(nonce)} under two platform secrets",
                required="another nonce under another secret",
                witnesses=(OTHER_KEY,),
            )


@requirement(
    "CTX-13.6",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="sessions",
    witnesses=(SEVERAL_SESSIONS, ROTATED),
    cost="The model is never told what an envelope means, or is told otherwise each session.",
)
def framing_is_the_same_everywhere(trace: Trace) -> Iterator[Judgement]:
    """Every prefix holds one framing block at platform trust, with the same text in every session.

    It says that enveloped content is data; that operators and users may ask for work within policy;
    and that nothing enveloped alters policy or grants permission. What it says is read by people:
    judged is that it is there and the same.
    """
    known: str | None = None
    for index, record, blocks in _prefixes(trace):
        framing = [block for block in blocks if block.type == FRAMING]
        text = framing[0].text if framing else ""
        known = text if known is None else known
        sound = (
            len(framing) == 1
            and bool(text.strip())
            and (framing[0].region, framing[0].label) == (Region.A, Trust.PLATFORM)
        )
        yield judge(
            sound and text == known,
            at=at(index, record.context),
            seen=f"{len(framing)} framing blocks, that say {quoted(text)}",
            required=f"one, in region A at platform trust, that says {quoted(known)}",
            witnesses=_session_kind(record),
        )


def _prefixes(
    trace: Trace,
) -> Iterator[tuple[int, OpenRecord | ApplyRecord | BuildRecord, tuple[Block, ...]]]:
    for index, record in enumerate(trace.records):
        if isinstance(record, OpenRecord | ApplyRecord) and isinstance(record.answer, a.Planned):
            yield index, record, record.answer.plan.blocks
        elif isinstance(record, BuildRecord) and isinstance(record.answer, a.Built):
            yield index, record, record.answer.request.blocks


def _session_kind(record: OpenRecord | ApplyRecord | BuildRecord) -> Iterator[str]:
    if isinstance(record, OpenRecord) and record.purpose != "main":
        yield SEVERAL_SESSIONS
    if isinstance(record, ApplyRecord) and isinstance(record.answer, a.Planned):
        rotated = record.answer.plan.epoch > record.context.epoch
        yield from (ROTATED,) if rotated else ()


@requirement(
    "CTX-13.7",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="sessions",
    witnesses=(UNTRUSTED_ITEM, DERIVED_FROM_UNTRUSTED, UNTRUSTED_STATE, SUMMARY),
    cost="Text from outside is read with the trust of whoever passed it on.",
)
def labels_never_claim_too_much(trace: Trace) -> Iterator[Judgement]:
    """A block's label is the effective trust of what it renders: the lowest it derives from.

    Only assistant messages and calls that follow untrusted items may be labelled lower.
    """
    lookup, tainted = Lookup(trace), _first_untrusted_beside_the_log(trace)
    for seen in seen_blocks(trace):
        if seen.block.type == WORKING_STATE:
            yield from _state_label(trace, lookup, seen)
            continue
        trust = lookup.trust(seen.build)
        true = _true_label(lookup, seen, trust)
        if true is None:
            continue
        lower = true.rank < seen.block.label.rank
        yield judge(
            seen.block.label is true or (lower and _may_be_lower(trace, seen, trust, tainted)),
            at=at(seen.place, seen.build.context, seen.block.item_id),
            seen=f"a block of type {seen.block.type} labelled {seen.block.label}",
            required=f"the label {true}",
            witnesses=_trust_situations(lookup, seen, true),
        )


def _true_label(lookup: Lookup, seen: Seen, trust: Mapping[str, Trust]) -> Trust | None:
    block = seen.block
    if block.type in PLATFORM_TYPES:
        return Trust.PLATFORM
    if block.type == CHECKPOINT:
        if block.pointer is not None:
            known = [trust[r.item_id] for r in block.pointer.references if r.item_id in trust]
            return lowest(*known) if known else None
        checkpoint = seen.build.inputs.checkpoint
        given = checkpoint.summarized if checkpoint is not None else ()
        return lowest(Trust.INTERNAL, *(trust[name] for name in given if name in trust))
    item = lookup.item(seen.build, block)
    return None if item is None else trust.get(item.id)


def _first_untrusted_beside_the_log(trace: Trace) -> float:
    """The first build that was handed an untrusted memory, correction or recalled item."""
    for index, build in trace.builds():
        memory = trace.plans[build.plan].opening.memory
        given = build.inputs
        standing: tuple[MemoryItem | MemoryCorrection | RecallItem, ...]
        standing = (*memory, *given.corrections, *given.recall)
        if any(own_trust(item) is Trust.EXTERNAL_UNTRUSTED or item.derived_from for item in standing):
            return index
    return math.inf


def _may_be_lower(trace: Trace, seen: Seen, trust: Mapping[str, Trust], tainted: float) -> bool:
    """Whether an untrusted item came before an assistant's message or call."""
    if seen.block.type not in (ASSISTANT_MESSAGE, TOOL_CALL):
        return False
    if seen.place >= tainted:
        return True
    before: list[str] = []
    for item in trace.log[: seen.build.inputs.log_length]:
        if item.id == seen.block.item_id:
            break
        if isinstance(item, Message):
            before.append(item.id)
    return any(trust.get(name) is Trust.EXTERNAL_UNTRUSTED for name in before)


def _trust_situations(lookup: Lookup, seen: Seen, true: Trust) -> Iterator[str]:
    if seen.block.type == CHECKPOINT and seen.block.pointer is None:
        yield SUMMARY
    if true is Trust.EXTERNAL_UNTRUSTED:
        yield UNTRUSTED_ITEM
        item = lookup.item(seen.build, seen.block)
        if item is not None and own_trust(item) is not Trust.EXTERNAL_UNTRUSTED:
            yield DERIVED_FROM_UNTRUSTED


def _state_label(trace: Trace, lookup: Lookup, seen: Seen) -> Iterator[Judgement]:
    """A working-state block shows entries of its own label, and none of a lower trust."""
    trust = lookup.trust(seen.build)
    entries = [(e, entry_trust(e, trust)) for e in seen.build.inputs.working_state.entries()]
    shown = content_of(seen.block, trace.manifest) or ""
    own = "\0".join(entry.text for entry, level in entries if level is seen.block.label)
    foreign = [
        entry
        for entry, level in entries
        if level is not seen.block.label
        and len(entry.text) >= _TELLING
        and entry.text in shown
        and entry.text not in own
    ]
    untrusted = any(level is Trust.EXTERNAL_UNTRUSTED for _, level in entries)
    yield judge(
        not foreign and any(level is seen.block.label for _, level in entries),
        at=at(seen.place, seen.build.context, foreign[0].id if foreign else None),
        seen=f"working state labelled {seen.block.label} shows {listed(e.id for e in foreign)}",
        required="one block for each effective trust found in it, with the entries of that trust",
        witnesses=(UNTRUSTED_STATE,) if untrusted else (),
    )


@requirement(
    "CTX-13.8",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="sessions",
    witnesses=(BODY_BLOCK, SUMMARY),
    cost="A summary or a tool's text speaks with the platform's own voice.",
)
def body_never_speaks_as_platform(trace: Trace) -> Iterator[Judgement]:
    """No block of region B is at platform trust, or sent in a system or developer role."""
    for seen in seen_blocks(trace):
        block, declared = seen.block, declaration(seen.block.type)
        if block.region is not Region.B and (declared is None or declared.region is not Region.B):
            continue
        yield judge(
            block.label is not Trust.PLATFORM and block.role not in (Role.SYSTEM, Role.DEVELOPER),
            at=at(seen.place, seen.build.context, block.item_id),
            seen=f"a block of type {block.type} in role {block.role}, labelled {block.label}",
            required="another role, and a label below platform",
            witnesses=(BODY_BLOCK, SUMMARY) if block.type == CHECKPOINT else (BODY_BLOCK,),
        )
