"""How two prefixes differ, in words, and which requirement's matter that difference is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from contextproof.conformance.contract.request import Block, Request, prefix_sha256
from contextproof.conformance.contract.vocabulary import TOOL_DEFINITION, Region
from contextproof.conformance.play.trace import ResumeRecord, Trace
from contextproof.conformance.requirements.oracles_text import interior
from contextproof.conformance.requirements.oracles_views import name, prefix_text, region
from contextproof.conformance.requirements.telling import quoted

#: Characters shown of each side before and after the place where two texts part.
_AROUND = 24


@dataclass(frozen=True)
class PrefixChange:
    """How one prefix became another. ``follows``: requirements that tell the cause better."""

    text: str
    follows: tuple[str, ...]

    def __str__(self) -> str:
        return self.text


def change_between(first: Request, second: Request) -> PrefixChange | None:
    """What changed in the prefix as sent or in its recorded hash; None where both are the same."""
    before, after = prefix_text(first.blocks), prefix_text(second.blocks)
    if before == after:
        if first.prefix_sha256 == second.prefix_sha256:
            return None
        text = f"the recorded hash of the same bytes changes from {_short(first)} to {_short(second)}"
        return PrefixChange(text, ("CTX-03.1",))
    follows: tuple[str, ...] = ()
    if first.prefix_sha256 == second.prefix_sha256 or not _is_hash_true(second):
        follows += ("CTX-03.1",)
    if nonces_alone_differ(first.blocks, second.blocks):
        follows += ("CTX-13.5",)
    elif tools_alone_differ(first.blocks, second.blocks):
        follows += ("CTX-04.1",)
    elif _is_cut(first.blocks, second.blocks):
        follows += ("CTX-07.5",)
    return PrefixChange(_told(first, second), follows)


def _is_hash_true(request: Request) -> bool:
    return request.prefix_sha256 == prefix_sha256(request.blocks)


def _short(request: Request) -> str:
    return request.prefix_sha256[:12]


def tools_alone_differ(first: Iterable[Block], second: Iterable[Block]) -> bool:
    """Whether two prefixes are the same but for their tool definitions."""

    def rest(blocks: Iterable[Block]) -> list[str]:
        return [b.text for b in region(blocks, Region.A) if b.type != TOOL_DEFINITION]

    return rest(first) == rest(second)


def _is_cut(first: Iterable[Block], second: Iterable[Block]) -> bool:
    """Whether all that changed is that items were left out or lost their ends."""
    after = {(block.type, block.item_id): interior(block) for block in region(second, Region.A)}
    before = {(block.type, block.item_id): interior(block) for block in region(first, Region.A)}
    return set(after) <= set(before) and all(before[key].startswith(after[key]) for key in after)


def nonces_alone_differ(first: Iterable[Block], second: Iterable[Block]) -> bool:
    """Whether two prefixes are the same but for the nonces of their envelopes."""

    def rest(blocks: Iterable[Block]) -> list[bytes]:
        return [_without_nonces(block) for block in region(blocks, Region.A)]

    return rest(first) == rest(second)


def _without_nonces(block: Block) -> bytes:
    data = block.text.encode()
    if block.envelope is None:
        return data
    nonce, closing = block.envelope.nonce, block.envelope.closing_nonce
    return data[: nonce.start] + data[nonce.end : closing.start] + data[closing.end :]


def _told(first: Request, second: Request) -> str:
    blocks = zip_longest(region(first.blocks, Region.A), region(second.blocks, Region.A))
    for before, after in blocks:
        if before is None or after is None or before.text != after.text:
            return _block_told(before, after)
    return "the prefix changes"


def _block_told(before: Block | None, after: Block | None) -> str:
    if before is None:
        assert after is not None
        return f"the prefix gains {name(after)}"
    if after is None:
        return f"the prefix loses {name(before)}"
    if (before.type, before.item_id) != (after.type, after.item_id):
        return f"{name(after)} stands in the prefix where {name(before)} stood"
    shown = [quoted(text) for text in _parting(before.text, after.text)]
    return f"{name(before)} changes in the prefix from {shown[0]} to {shown[1]}"


def _parting(before: str, after: str) -> tuple[str, str]:
    """Both texts around the first place where they part."""
    place = 0
    for left, right in zip(before, after, strict=False):
        if left != right:
            break
        place += 1
    start = max(0, place - _AROUND)
    return before[start : place + _AROUND], after[start : place + _AROUND]


def over_a_resume(trace: Trace, first: int, second: int) -> tuple[str, ...]:
    """The requirement on other processes, where another one took over between two records."""
    resumed = any(isinstance(record, ResumeRecord) for record in trace.records[first:second])
    return ("CTX-10.3",) if resumed else ()
