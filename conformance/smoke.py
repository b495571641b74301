"""Whether an adapter is right, before any engine is judged: a small session, and a line for each check.

An adapter is right where calls are answered in their shape, hashes and extents are as the contract
defines them, and asking again gives the same. Whether the engine is right is not asked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.calls import METHOD_OF, METHODS, Call
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.ports import Summarize
from contextproof.conformance.contract.request import Block, Extent, prefix_sha256
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.scenario import Scenario

#: Without these two no session can be played.
_NEEDED = ("open_session", "build")


@dataclass(frozen=True)
class Check:
    """What was looked at, and what to do where it is wrong (``cure`` is empty where it is right)."""

    name: str
    cure: str = ""
    seen: str = ""

    @property
    def is_right(self) -> bool:
        """Whether nothing is to be done."""
        return not self.cure


def small_session() -> Scenario:
    """A session that needs every call of the contract, in a few steps."""
    return Scenario.from_json(files("contextproof.conformance").joinpath("small_session.json").read_bytes())


@dataclass
class Listening:
    """Passes calls on to a builder and keeps each with its answer; ``ports`` are those it lets through."""

    builder: Builder
    ports: frozenset[str]
    heard: list[tuple[Call, Any]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    summaries: int = 0

    @property
    def manifest(self) -> Manifest:
        """What the builder declares."""
        return self.builder.manifest

    def call(self, call: Call, summarize: Summarize | None = None) -> Any:
        """Make the call of the builder. Raises BuilderError."""
        try:
            answer = self.builder.call(call, self._counted(summarize) if summarize is not None else None)
        except BuilderError as error:
            self.failed[METHOD_OF[type(call)].name] = str(error)
            raise
        self.heard.append((call, answer))
        return answer

    def _counted(self, summarize: Summarize) -> Summarize:
        def counting(parts: Any, max_tokens: int) -> Any:
            self.summaries += 1
            return summarize(parts, max_tokens)

        return counting

    def fresh(self) -> Builder | None:
        """The small session needs no other process."""
        return None

    def close(self) -> None:
        """The builder is closed by whoever started it."""


def listen(builder: Builder, beside: frozenset[str] = frozenset()) -> Listening:
    """Play the small session; a call that fails is left out, and the session played again without it."""
    failed: dict[str, str] = {}
    while True:
        heard = Listening(builder, builder.ports - failed.keys())
        try:
            play(small_session(), heard, beside=beside)
        except BuilderError:
            failed |= heard.failed
            if heard.failed.keys().isdisjoint(_NEEDED) and heard.failed:
                continue
        heard.failed = failed
        return heard


def checks(builder: Builder) -> Iterator[Check]:
    """Every check of a builder that could be reached."""
    yield Check("handshake", seen=f"{builder.manifest.name} {builder.manifest.version}")
    yield from _claims(builder)
    heard = listen(builder, frozenset({"estimates"}))
    yield from _ports(builder, heard)
    yield from _same_again(builder, heard)
    yield from _contents(heard)
    if "compact" in builder.ports and "compact" not in heard.failed:
        yield _summarizer(heard)


def _claims(builder: Builder) -> Iterator[Check]:
    claims = builder.manifest.claims
    if not claims:
        cure = "list the decisions that it is to be judged by in the manifest's `claims`"
        yield Check("claims", cure, "no decision is claimed, so nothing would be judged")
        return
    lacking = {
        f"{decision.value} needs `{name}`"
        for name, method in METHODS.items()
        for decision in method.decisions
        if decision in claims and name not in builder.ports
    }
    cure = "answer these calls and name them in `ports`, or do not claim the decisions" if lacking else ""
    yield Check("claims", cure, ", ".join(sorted(lacking)) or f"{len(claims)} decisions of 16")


def _ports(builder: Builder, heard: Listening) -> Iterator[Check]:
    counts = Counter(METHOD_OF[type(call)].name for call, _ in heard.heard)
    for name in METHODS:
        if name in heard.failed:
            kinds = ", ".join(kind.__name__ for kind in METHODS[name].answers)
            yield Check(f"`{name}`", f"answer one of {kinds} in the shape of its schema", heard.failed[name])
        elif name in _NEEDED and name not in builder.ports:
            yield Check(f"`{name}`", "answer it: without it no session can be played", "not among the ports")
        elif name in builder.ports:
            yield Check(f"`{name}`", seen=_answered(counts[name]))


def _answered(times: int) -> str:
    return f"answered {times} times" if times else "never asked in this session"


def _same_again(builder: Builder, heard: Listening) -> Iterator[Check]:
    """One call of each kind, made a second time."""
    first = {type(call): (call, answer) for call, answer in reversed(heard.heard)}
    differ = [
        METHOD_OF[kind].name
        for kind, (call, answer) in first.items()
        if METHOD_OF[kind].name != "compact" and _again(builder, call) != answer
    ]
    cure = "take everything from the arguments: no clock, no random numbers, nothing kept between calls"
    told = f"asked again, {', '.join(differ)} answered otherwise" if differ else f"{len(first)} calls"
    yield Check("same answer to the same call", cure if differ else "", told)


def _again(builder: Builder, call: Call) -> Any:
    try:
        return builder.call(call)
    except BuilderError as error:
        return error


def _contents(heard: Listening) -> Iterator[Check]:
    answers = [answer for _, answer in heard.heard]
    sent = sum(isinstance(answer, a.Planned | a.Built) for answer in answers)
    hashed = "take SHA-256 of the texts of region A's blocks, joined, as UTF-8, in lower-case hexadecimal"
    yield _first("hash of the prefix", _wrong_hashes(heard), hashed, sent)
    enveloped = sum(block.envelope is not None or block.pointer is not None for block in _blocks(heard))
    wrong = (f"{block.item_id}: {told}" for block in _blocks(heard) for told in _wrong_extents(block))
    counted = "count UTF-8 bytes of the block's own text, from 0, the end not included"
    yield _first("extents", wrong, counted, enveloped)
    yield _first("context", _wrong_places(heard), "copy session, turn and request from the call", sent)
    events = sum(len(answer.events) for answer in answers)
    given = "give an event the session, turn and request of the call that it answers"
    yield _first("events", _wrong_events(heard), given, events)


def _first(name: str, wrong: Iterable[str], cure: str, looked_at: int) -> Check:
    for seen in wrong:
        return Check(name, cure, seen)
    return Check(name, seen=f"{looked_at} looked at" if looked_at else "nothing to look at")


def _blocks(heard: Listening) -> Iterator[Block]:
    for _, answer in heard.heard:
        if isinstance(answer, a.Planned):
            yield from answer.plan.blocks
        elif isinstance(answer, a.Built):
            yield from answer.request.blocks


def _wrong_hashes(heard: Listening) -> Iterator[str]:
    for _, answer in heard.heard:
        sent = answer.plan if isinstance(answer, a.Planned) else getattr(answer, "request", None)
        if sent is not None and sent.prefix_sha256 != prefix_sha256(sent.blocks):
            yield f"{sent.prefix_sha256[:16]}… where it is {prefix_sha256(sent.blocks)[:16]}…"


def _wrong_extents(block: Block) -> Iterator[str]:
    envelope, data = block.envelope, block.text.encode()
    named: dict[str, Extent | None] = {}
    if block.pointer is not None:
        named |= {"pointer.reference": block.pointer.reference, "pointer.excerpt": block.pointer.excerpt}
    if envelope is not None:
        named |= {name: getattr(envelope, name) for name in type(envelope).model_fields}
    for name, extent in named.items():
        if extent is not None and extent.end > len(data):
            yield f"{name} ends at {extent.end}, and the text has {len(data)} bytes"
        elif extent is not None and not _is_text(extent.of(data)):
            yield f"{name} cuts a character in two"
    if envelope is not None:
        yield from _misplaced(block, data)


def _misplaced(block: Block, data: bytes) -> Iterator[str]:
    envelope = block.envelope
    assert envelope is not None
    if envelope.opening.end > envelope.closing.start:
        yield "the closing starts before the opening ends"
    for name in ("nonce", "type", "trust", "source"):
        span: Extent = getattr(envelope, name)
        if not envelope.opening.start <= span.start <= span.end <= envelope.opening.end:
            yield f"{name} lies outside the opening"
    said = envelope.trust.of(data).decode(errors="replace")
    if said != block.label.value:
        yield f"trust covers {said!r}, and the block's label is {block.label.value!r}"
    if envelope.nonce.of(data) != envelope.closing_nonce.of(data):
        yield "nonce and closing_nonce cover different bytes"


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _wrong_places(heard: Listening) -> Iterator[str]:
    for call, answer in heard.heard:
        if isinstance(answer, a.Built):
            sent, context = answer.request, call.context
            for name in ("session", "turn", "request"):
                if getattr(sent, name) != getattr(context, name):
                    yield f"`build` answered {name} {getattr(sent, name)!r} to {getattr(context, name)!r}"
        if isinstance(answer, a.Planned) and answer.plan.session != call.context.session:
            yield f"a plan for session {answer.plan.session!r} where {call.context.session!r} was opened"


def _wrong_events(heard: Listening) -> Iterator[str]:
    for call, answer in heard.heard:
        method = METHOD_OF[type(call)].name
        for event in answer.events:
            for name in ("session", "turn", "request"):
                if getattr(event, name) != getattr(call.context, name):
                    yield f"`{method}` carried {event.type} of another {name}: {getattr(event, name)!r}"


def _summarizer(heard: Listening) -> Check:
    wrote = any(isinstance(answer, a.Compacted) and answer.checkpoint.summary for _, answer in heard.heard)
    cure = "ask for a summary by the reverse call `summarize` (in process: the argument of that name)"
    if wrote and not heard.summaries:
        return Check("`summarize`", cure, "a summary was written, and none was asked for")
    return Check("`summarize`", seen=f"asked {heard.summaries} times")
