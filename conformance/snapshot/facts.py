"""What a set of snapshots measures: numbers beside the texts, from which a diff tells what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from contextproof.conformance.contract.base import Count, Frozen, sha256
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.request import token_class
from contextproof.conformance.contract.vocabulary import Region
from contextproof.conformance.metrics import tally
from contextproof.conformance.play.trace import CompactRecord, Sent, Trace, tokens
from contextproof.conformance.snapshot.margins import Margin, margins
from contextproof.conformance.snapshot.requests import yielded
from contextproof.conformance.snapshot.sessions import Played
from contextproof.conformance.snapshot.shown import quoted


class Prefix(Frozen):
    """The prefix of one epoch: its hash, and what it counts in tokens."""

    epoch: Count
    sha256: str
    tokens: Count


class SessionFacts(Frozen):
    """One session, measured.

    Attributes:
        requests: how many were sent.
        tokens: what they count together, by class.
        repeated: of these tokens, what repeats the beginning of the request before: a cache's reads.
        prefixes: one an epoch.
        body_sha256: of all bodies sent, one after the other.
        yields: what gave way, and for which request.
        compactions: how each ended.
    """

    requests: Count
    tokens: dict[str, Count]
    repeated: Count
    prefixes: tuple[Prefix, ...]
    body_sha256: str
    yields: tuple[str, ...]
    compactions: tuple[str, ...]

    @property
    def total(self) -> int:
        """All tokens sent."""
        return sum(self.tokens.values())

    @property
    def prefix_tokens(self) -> int:
        """Tokens of the first prefix."""
        return self.prefixes[0].tokens if self.prefixes else 0


class Facts(Frozen):
    """All that was measured while a set of snapshots was taken."""

    version: Literal[1] = 1
    builder: str
    builder_version: str
    sessions: dict[str, SessionFacts]
    margins: tuple[Margin, ...]


def measure(manifest: Manifest, played: Mapping[str, Played]) -> Facts:
    """The facts of some sessions. Those that sent nothing are left out."""
    return Facts(
        builder=manifest.name,
        builder_version=manifest.version,
        sessions={name: _session(one.trace) for name, one in played.items() if one.trace.sent},
        margins=tuple(margins(one.trace for one in played.values())),
    )


def _session(trace: Trace) -> SessionFacts:
    counted: Counter[str] = Counter()
    for sent in trace.sent:
        counted.update(_by_class(sent))
    return SessionFacts(
        requests=len(trace.sent),
        tokens=dict(counted),
        repeated=tally([trace]).repeated,
        prefixes=tuple(_prefixes(trace)),
        body_sha256=sha256("".join(_body(sent) for sent in trace.sent)),
        yields=tuple(_yields(trace)),
        compactions=tuple(_compactions(trace)),
    )


def _by_class(sent: Sent) -> Counter[str]:
    context, counted = sent.build.context, Counter[str]()
    for block in sent.request.blocks:
        counted[token_class(block)] += tokens(context, block.text) + context.model.overhead_per_block
    return counted


def _prefixes(trace: Trace) -> Iterator[Prefix]:
    seen: set[int] = set()
    for sent in trace.sent:
        if sent.request.epoch in seen:
            continue
        seen.add(sent.request.epoch)
        blocks = [block for block in sent.request.blocks if block.region is Region.A]
        context = sent.build.context
        counted = sum(tokens(context, block.text) + context.model.overhead_per_block for block in blocks)
        text = "".join(block.text for block in blocks)
        yield Prefix(epoch=sent.request.epoch, sha256=sha256(text), tokens=counted)


def _body(sent: Sent) -> str:
    return "".join(block.text for block in sent.request.blocks if block.region is not Region.A)


def _yields(trace: Trace) -> Iterator[str]:
    for sent in trace.sent:
        for one in yielded(sent):
            where = f"turn {sent.request.turn}, request {sent.request.request}"
            yield f"{where}: {one.step.value} {quoted(one.item_id)} ({one.cause})"


def _compactions(trace: Trace) -> Iterator[str]:
    for record in trace.records:
        if isinstance(record, CompactRecord):
            asked = "forced" if record.forced else "needed"
            where = f"turn {record.context.turn}, request {record.context.request}"
            yield f"{where}: {asked}, {record.answer.answer}"
