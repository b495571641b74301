"""Snapshots of single blocks: envelopes, hostile contents, pointers, checkpoints, working state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from contextproof.conformance.contract.items import Message, RenderedItem, content
from contextproof.conformance.contract.plan import BuildInputs
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.trust import effective_trust, log_trust, opening_trust
from contextproof.conformance.contract.vocabulary import CHECKPOINT, WORKING_STATE, Trust
from contextproof.conformance.play.trace import Sent, Trace
from contextproof.conformance.snapshot import sessions
from contextproof.conformance.snapshot.files import Files, Snapshot, add, of_blocks, safe
from contextproof.conformance.snapshot.sessions import Played, sent_in, trace_of
from contextproof.conformance.snapshot.shown import nonces_of

_HOSTILE = "hostile-"


def envelopes(played: Mapping[str, Played]) -> Files:
    """The first block of every type at every effective trust: verbatim, and told apart by what it holds."""
    files = Files()
    trace = trace_of(played, sessions.ENVELOPES)
    if trace is None:
        return files
    nonces = known_nonces(trace)
    for block, known in _verbatim(trace):
        trust = known.trust.get(block.item_id or "", block.label)
        name = "-".join((trust.value, *_variant(block, known.items)))
        title = f"{block.type} at effective trust {trust.value}"
        file = f"{safe(block.type)}/{name}"
        if f"{file}.txt" not in files:
            add(files, file, of_blocks(title, [block], nonces))
    return files


class _Known:
    """Items of a session and their effective trust, by id, as a request is built from them."""

    def __init__(self, trace: Trace, sent: Sent) -> None:
        inputs = trace.inputs(sent.build)
        self.items = _items(trace, inputs)
        self.trust: dict[str, Trust] = log_trust(inputs.log, opening_trust(trace.plans[0].opening))
        standing: tuple[RenderedItem, ...] = (*inputs.corrections, *inputs.recall, *inputs.environment)
        for item in standing:
            self.trust[item.id] = effective_trust(item, self.trust)


def _items(trace: Trace, inputs: BuildInputs) -> dict[str, RenderedItem]:
    opening = trace.plans[0].opening
    items: list[RenderedItem] = [*opening.policy, *opening.instructions, *opening.tools, *opening.memory]
    items += [item for item in inputs.log if isinstance(item, Message)]
    items += [*inputs.corrections, *inputs.recall, *inputs.environment]
    return {item.id: item for item in items}


def _verbatim(trace: Trace) -> Iterator[tuple[Block, _Known]]:
    """Every block that is no pointer, with what was known when it was sent."""
    for sent in trace.sent:
        known = _Known(trace, sent)
        yield from ((block, known) for block in sent.request.blocks if block.pointer is None)


def _variant(block: Block, items: Mapping[str, RenderedItem]) -> Iterator[str]:
    """What tells blocks of one type and trust apart: how a call ended, and whether there is any content."""
    if block.status is not None and block.status.value != "ok":
        yield block.status.value
    item = items.get(block.item_id or "")
    if item is not None and not content(item):
        yield "empty"


def hostile(played: Mapping[str, Played]) -> Files:
    """Each hostile item of its session, as first rendered; and the working state there."""
    files = Files()
    trace = trace_of(played, sessions.HOSTILE)
    if trace is None:
        return files
    nonces, seen = known_nonces(trace), set[str]()
    for block, _ in _verbatim(trace):
        item = block.item_id or ""
        if item in seen or not (item.startswith(_HOSTILE) or block.type == WORKING_STATE):
            continue
        seen.add(item)
        name = item.removeprefix(_HOSTILE)
        add(files, safe(name), of_blocks(f"hostile content, {name}", [block], nonces))
    return files


def pointers(played: Mapping[str, Played]) -> Files:
    """The first pointer of each kind, trust and number of originals, over the sessions that yield."""
    files = Files()
    for name in (sessions.POINTERS, sessions.FIFTY_TURNS):
        for sent in sent_in(played, name):
            for block in sent.request.blocks:
                file = _pointer_name(block)
                if file is not None and f"{file}.txt" not in files:
                    title = f"pointer, {file}, as first sent in {name}"
                    add(files, file, of_blocks(title, [block], nonces_of([block])))
    return files


def _pointer_name(block: Block) -> str | None:
    pointer = block.pointer
    if pointer is None:
        return None
    number = "alone" if len(pointer.references) == 1 else "merged"
    excerpt = "-with-an-excerpt" if pointer.excerpt is not None else ""
    return f"{pointer.kind.value}/{pointer.trust.value}-{number}{excerpt}"


def checkpoints(played: Mapping[str, Played]) -> Files:
    """Every checkpoint of the sessions that write several, as first sent."""
    files = Files()
    for name in (sessions.POINTERS, "escalation"):
        for number, sent in enumerate(_first_sent_with_each_checkpoint(played, name), 1):
            checkpoint = sent.build.inputs.checkpoint
            assert checkpoint is not None
            blocks = [block for block in sent.request.blocks if block.type == CHECKPOINT]
            title = f"checkpoint {number} of {name}, of depth {checkpoint.depth}"
            add(files, f"{safe(name.split('/')[-1])}-{number}", of_blocks(title, blocks, nonces_of(blocks)))
    return files


def _first_sent_with_each_checkpoint(played: Mapping[str, Played], name: str) -> Iterator[Sent]:
    sent = (one for one in sent_in(played, name) if one.build.inputs.checkpoint is not None)
    for _, those in groupby(sent, key=lambda one: one.build.inputs.checkpoint):
        yield next(those)


def working_state(played: Mapping[str, Played]) -> Files:
    """Working state each time that it is rendered otherwise than before, up to its caps."""
    files = Files()
    before: list[Block] = []
    for sent in sent_in(played, sessions.WORKING_STATE):
        blocks = [block for block in sent.request.blocks if block.type == WORKING_STATE]
        if blocks and blocks != before:
            add(files, f"turn-{sent.request.turn:02}-request-{sent.request.request:03}", _state(sent, blocks))
        before = blocks
    return files


def _state(sent: Sent, blocks: list[Block]) -> Snapshot:
    state = sent.build.inputs.working_state
    title = (
        f"working state: {len(state.constraints)} constraints, {len(state.tasks)} tasks, "
        f"{len(state.established_facts)} facts, {len(state.open_questions)} open questions"
    )
    return of_blocks(title, blocks, nonces_of(blocks))


def known_nonces(trace: Trace) -> frozenset[str]:
    """Every nonce that a session showed."""
    return frozenset().union(*(nonces_of(sent.request.blocks) for sent in trace.sent))
