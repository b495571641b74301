"""Decision 13, first half: what an envelope is made of, and that nothing inside can leave it."""

from __future__ import annotations

from collections.abc import Iterator

from contextproof.conformance.contract.codecs import NotDecodable
from contextproof.conformance.contract.items import ToolCall, content, source
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.vocabulary import CHECKPOINT, WORKING_STATE
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import Trace, tokens
from contextproof.conformance.requirements.oracles_envelopes import (
    bad_excerpt,
    forged,
    malformed,
    not_recovered,
    skeleton,
)
from contextproof.conformance.requirements.oracles_rendering import (
    PLATFORM_TYPES,
    Lookup,
    Seen,
    content_of,
    interior,
    seen_blocks,
    span,
)
from contextproof.conformance.requirements.oracles_working_state import missing_entries
from contextproof.conformance.requirements.registry import MUST, SHOULD, Gate, requirement
from contextproof.conformance.requirements.telling import at, quoted

PREFIX_BLOCK = "a block of region A"
BODY_BLOCK = "a block of region B"
POINTER = "a typed pointer"

OWN_DELIMITER = "content with the builder's own delimiter"
DELIMITER_IN_SOURCE = "a source with the builder's own delimiter"

HOSTILE_CONTENT = "content that its codec must escape"
MULTIBYTE_CONTENT = "content of characters of several bytes"
EMPTY_CONTENT = "empty content"
BROKEN_ARGUMENTS = "a call whose arguments are no JSON"

SEVERAL_SOURCES = "two sources of one type"
FORGING_SOURCE = "a source with quotes, brackets or line breaks"

SHORT_SOURCE = "an envelope with a short source"

#: Characters of a source that cannot make an envelope dear by itself.
_SHORT = 40
#: Tokens of an empty envelope at the most (13.9).
_ENVELOPE_TOKENS = 80


def _enveloped(trace: Trace) -> Iterator[Seen]:
    """Blocks that must have an envelope: all below platform trust but structural ones."""
    for seen in seen_blocks(trace):
        if seen.block.type not in PLATFORM_TYPES:
            structural = seen.block.type in trace.manifest.structural
            if not structural or seen.block.envelope is not None:
                yield seen


@requirement(
    "CTX-13.1",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="hostile",
    witnesses=(PREFIX_BLOCK, BODY_BLOCK, POINTER),
    cost="Content stands bare beside policy, and the model cannot tell whose words they are.",
)
def content_stands_in_envelopes(trace: Trace) -> Iterator[Judgement]:
    """Every block below platform trust stands in an envelope with nonce, type, trust and source.

    Its closing repeats the nonce; the source is the item's; one type, trust or source is shown in one
    way, and no two in the same. Types declared structural are exempt from the envelope.
    """
    lookup, shown = Lookup(trace), dict[tuple[object, ...], tuple[object, ...]]()
    for seen in _enveloped(trace):
        block = seen.block
        if block.envelope is None:
            problem = f"a block of type {block.type} without an envelope"
        else:
            problem = malformed(block, block.envelope, trace.manifest)
            problem = problem or _other_source(lookup, seen) or _shown_otherwise(block, shown)
        yield judge(
            not problem,
            at=at(seen.place, seen.build.context, block.item_id),
            seen=problem,
            required="an envelope that says nonce, type, trust and source, and closes with the nonce",
            witnesses=_kind_of_block(block),
        )


def _kind_of_block(block: Block) -> Iterator[str]:
    yield PREFIX_BLOCK if block.region == "A" else BODY_BLOCK
    if block.pointer is not None:
        yield POINTER


def _other_source(lookup: Lookup, seen: Seen) -> str:
    item = lookup.item(seen.build, seen.block)
    if item is None or seen.block.source == source(item):
        return ""
    return f"its source is {quoted(seen.block.source)} instead of {quoted(source(item))}"


def _shown_otherwise(block: Block, shown: dict[tuple[object, ...], tuple[object, ...]]) -> str:
    """Whether an attribute is shown in another way than before, or as another value was."""
    assert block.envelope is not None
    kind = block.pointer.kind if block.pointer is not None and block.type == CHECKPOINT else None
    for name, within, value in (
        ("type", (), (block.type, kind)),
        ("trust", (block.type,), (block.label,)),
        ("source", (block.type,), (block.source,)),
    ):
        text = span(block, getattr(block.envelope, name))
        as_text = shown.setdefault(("value", name, within, value), (text,))
        # A pointer of a checkpoint may be shown as another type than a summary is.
        reading = value if name != "type" else (block.type,)
        as_value = shown.setdefault(("text", name, within, text), reading)
        if as_text != (text,):
            return f"{name} {value[0]!r} is shown as {quoted(text)} and as {quoted(str(as_text[0]))}"
        if as_value != reading:
            return f"{name} {value[0]!r} and {as_value[0]!r} are both shown as {quoted(text)}"
    return ""


@requirement(
    "CTX-13.2",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="hostile",
    witnesses=(OWN_DELIMITER, DELIMITER_IN_SOURCE),
    cost="A web page closes its envelope and speaks as the platform.",
)
def nothing_closes_its_envelope(trace: Trace) -> Iterator[Judgement]:
    """No declared delimiter occurs in content as rendered, nor in a source as an opening shows it.

    Structural blocks, pointers and excerpts are no exception.
    """
    lookup = Lookup(trace)
    for seen in seen_blocks(trace):
        block = seen.block
        if block.type in PLATFORM_TYPES:
            continue
        found = _delimiters_in(trace, block)
        yield judge(
            not found,
            at=at(seen.place, seen.build.context, block.item_id),
            seen=found,
            required="every declared delimiter escaped where it is content",
            witnesses=_delimiter_situations(trace, lookup, seen),
        )


def _delimiters_in(trace: Trace, block: Block) -> str:
    try:
        places = {"content": interior(block)}
        if block.envelope is not None:
            places["source"] = span(block, block.envelope.source)
    except (NotDecodable, ValueError) as error:
        return f"extents that are not in the text: {error}"
    for place, text in places.items():
        for delimiter in trace.manifest.delimiters:
            if delimiter in text:
                around = text[max(0, text.index(delimiter) - 20) :]
                return f"delimiter {quoted(delimiter)} in its {place}: {quoted(around)}"
    return ""


def _delimiter_situations(trace: Trace, lookup: Lookup, seen: Seen) -> Iterator[str]:
    item = lookup.item(seen.build, seen.block)
    if item is None:
        return
    whole = content(item) if not isinstance(item, ToolCall) else item.name + item.arguments
    if any(delimiter in whole for delimiter in trace.manifest.delimiters):
        yield OWN_DELIMITER
    if any(delimiter in source(item) for delimiter in trace.manifest.delimiters):
        yield DELIMITER_IN_SOURCE


@requirement(
    "CTX-13.3",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="hostile",
    witnesses=(HOSTILE_CONTENT, MULTIBYTE_CONTENT, EMPTY_CONTENT, BROKEN_ARGUMENTS),
    cost="The model works on other text than the user wrote or the tool returned.",
)
def content_is_recovered_exactly(trace: Trace) -> Iterator[Judgement]:
    """Undoing the declared codec gives exactly the item's content; for JSON, the same values.

    A pointer's excerpt gives a verbatim leading part. Working state holds every entry in order.
    """
    lookup = Lookup(trace)
    for seen in seen_blocks(trace):
        problem = _lost_content(trace, lookup, seen)
        yield judge(
            not problem,
            at=at(seen.place, seen.build.context, seen.block.item_id),
            seen=problem,
            required="the content as it was, to the byte",
            witnesses=_content_situations(lookup, seen),
        )


def _lost_content(trace: Trace, lookup: Lookup, seen: Seen) -> str:
    block, build, manifest = seen.block, seen.build, trace.manifest
    if block.type == WORKING_STATE:
        blocks = build.answer.request.blocks if build.answer.answer == "built" else ()
        missing = missing_entries(build.inputs.working_state, blocks, manifest, lookup.trust(build))
        return f"entries {missing} are not there in order" if missing else ""
    if block.type == CHECKPOINT:
        if block.pointer is not None or build.inputs.checkpoint is None:
            return ""
        same = content_of(block, manifest) == build.inputs.checkpoint.summary
        return "" if same else "the checkpoint's summary is not recovered from it"
    item = lookup.item(build, block)
    if item is None:
        return ""
    if block.pointer is not None:
        return bad_excerpt(block, item, manifest)
    return not_recovered(block, item, manifest)


def _content_situations(lookup: Lookup, seen: Seen) -> Iterator[str]:
    block, item = seen.block, lookup.item(seen.build, seen.block)
    if item is None or block.pointer is not None:
        return
    plain = item.arguments if isinstance(item, ToolCall) else content(item)
    # What the codec changed, it had to: the content does not stand in the block as it is.
    if plain and plain not in block.text:
        yield HOSTILE_CONTENT
    if len(plain.encode()) > len(plain):
        yield MULTIBYTE_CONTENT
    if not plain:
        yield EMPTY_CONTENT
    if isinstance(item, ToolCall) and not plain.strip().endswith("}"):
        yield BROKEN_ARGUMENTS


@requirement(
    "CTX-13.4",
    MUST,
    gate=Gate.CONTAINED_TRUST,
    scenarios="hostile",
    witnesses=(SEVERAL_SOURCES, FORGING_SOURCE),
    cost="A tool that names itself cleverly is read as the operator.",
)
def openings_cannot_be_forged(trace: Trace) -> Iterator[Judgement]:
    """Outside the spans of nonce, type, trust and source, all openings of a type are one string.

    A source that is shown as it is does not hold the text that ends it.
    """
    first: dict[str, tuple[str, ...]] = {}
    sources: dict[str, set[str]] = {}
    for seen in _enveloped(trace):
        block = seen.block
        if block.envelope is None:
            continue
        try:
            frame, broken = skeleton(block, block.envelope), forged(block, block.envelope)
        except (NotDecodable, ValueError) as error:
            frame, broken = (), f"span ({error})"
        sources.setdefault(block.type, set()).add(block.source)
        known = first.setdefault(block.type, frame)
        yield judge(
            frame == known and not broken,
            at=at(seen.place, seen.build.context, block.item_id),
            seen=f"its {broken} can end its own attribute: {quoted(block.source)}"
            if broken
            else f"an opening framed as {quoted('…'.join(frame))}",
            required=f"the frame of all openings of {block.type}: {quoted('…'.join(known))}",
            witnesses=_source_situations(block, sources),
        )


def _source_situations(block: Block, sources: dict[str, set[str]]) -> Iterator[str]:
    if len(sources[block.type]) > 1:
        yield SEVERAL_SOURCES
    if any(character in block.source for character in "\"'<>[]{}|\n"):
        yield FORGING_SOURCE


@requirement(
    "CTX-13.9",
    SHOULD,
    scenarios="sessions",
    witnesses=(SHORT_SOURCE,),
    cost="A long session spends its window on envelopes.",
)
def envelopes_are_cheap(trace: Trace) -> Iterator[Judgement]:
    """An empty envelope, opening and closing with a short source, costs at most 80 tokens."""
    for seen in _enveloped(trace):
        block, envelope = seen.block, seen.block.envelope
        if envelope is None or len(block.source) > _SHORT:
            continue
        try:
            empty = span(block, envelope.opening) + span(block, envelope.closing)
        except NotDecodable:
            continue
        cost = tokens(seen.build.context, empty)
        yield judge(
            cost <= _ENVELOPE_TOKENS,
            at=at(seen.place, seen.build.context, block.item_id),
            seen=f"an empty envelope of {cost} tokens: {quoted(empty)}",
            required=f"at most {_ENVELOPE_TOKENS} tokens",
            witnesses=(SHORT_SOURCE,),
        )
