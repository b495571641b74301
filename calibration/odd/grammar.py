"""Another grammar for the reference: how envelopes are written, as one small description.

An odd engine says what its envelopes look like, `parts` gives the modules of the reference that write
so, and `engine` puts the engine together.
"""

# ruff: noqa: SLF001 (another composition is made at the seams of the reference, which are its own)

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from string import Formatter
from typing import Any, Final, NamedTuple

from contextproof.calibration.recompose import recomposed
from contextproof.conformance.contract.codecs import Codec
from contextproof.conformance.contract.items import (
    RenderedItem,
    ToolCall,
    ToolDefinition,
    content,
    source,
)
from contextproof.conformance.contract.manifest import TypeCodec
from contextproof.conformance.contract.ports import Engine
from contextproof.conformance.contract.request import Block, ElidedSpan, Envelope, Extent, PointerKind
from contextproof.conformance.contract.vocabulary import WORKING_STATE, Place, Role, Slot, Trust
from contextproof.conformance.contract.working_state import Entry, WorkingState

Part = tuple[str, Callable[[Any], None]]

#: Nothing of region B is sent as the system's or a developer's.
ALL_USER: Final[Mapping[str, Role]] = {
    "agent_instructions": Role.SYSTEM,
    "tool_definition": Role.SYSTEM,
    "memory_snapshot": Role.SYSTEM,
    "assistant_message": Role.USER,
    "tool_call": Role.USER,
    "tool_result": Role.USER,
}

_REMEMBERED: Final = 8_192
_PREFIX_PLACES: Final = 5


class Sealed(NamedTuple):
    """Text in its envelope, and where the envelope lies."""

    text: str
    envelope: Envelope


def in_words(label: Trust) -> str:
    """A trust as the contract names it."""
    return label.value


def by_rank(label: Trust) -> str:
    """A trust as a number, T0 the highest."""
    return f"T{label.rank}"


def _as_it_is(text: str) -> str:
    return text


@dataclass(frozen=True)
class Grammar:
    """How an engine writes content into envelopes.

    Attributes:
        template: an envelope with its fields in braces: nonce, type, trust and source in its opening,
            then the interior, then the nonce again in its closing.
        delimiters: what opens or closes one.
        codec, encode: how content is rendered, and undone, by its type.
        quote: how a source or an id is written. No delimiter may be left in it.
        nonce: a nonce from a keyed digest and the original content.
        framing: the platform's words on all this.
        pointer: what a pointer says: up to its references, these, and what comes after.
        heading: what stands before an entry of working state.
        shown_type, shown_trust: how a type and a trust are written.
        structural: types that are JSON by themselves, and how that JSON is written.
        roles: the roles that differ from the reference's.
    """

    template: str
    delimiters: tuple[str, ...]
    codec: Callable[[str], Codec]
    encode: Callable[[str, str], str]
    quote: Callable[[str], str]
    nonce: Callable[[bytes, str], str]
    framing: str
    pointer: Callable[[PointerKind, ElidedSpan], tuple[str, str, str]]
    heading: Callable[[Entry], str]
    shown_type: Callable[[str], str] = _as_it_is
    shown_trust: Callable[[Trust], str] = in_words
    structural: tuple[str, ...] = ()
    plain_json: Callable[[str], str] = _as_it_is
    roles: Mapping[str, Role] | None = None


def nonce_of(grammar: Grammar, secret: str, item_type: str, said_source: str, text: str) -> str:
    """The nonce of an item: keyed over type, source and original content."""
    message = json.dumps([item_type, said_source, text]).encode()
    return grammar.nonce(hmac.digest(secret.encode(), message, "sha256"), text)


def wrap(
    grammar: Grammar, nonce: str, item_type: str, trust: Trust, said_source: str, interior: str
) -> Sealed:
    """What is rendered already, in an envelope."""
    values = {
        "nonce": nonce,
        "type": grammar.shown_type(item_type),
        "trust": grammar.shown_trust(trust),
        "source": grammar.quote(said_source),
        "interior": interior,
    }
    pieces: list[tuple[str | None, str]] = []
    for literal, field, _, _ in Formatter().parse(grammar.template):
        pieces += [(None, literal), *([(field, values[field])] if field is not None else [])]
    ends = tuple(accumulate(len(text.encode()) for _, text in pieces))
    fields = [(name, Extent(start=(0, *ends)[n], end=ends[n])) for n, (name, _) in enumerate(pieces) if name]
    at = dict(reversed(fields))
    return Sealed(
        "".join(text for _, text in pieces),
        Envelope(
            opening=Extent(start=0, end=at["interior"].start),
            nonce=at["nonce"],
            type=at["type"],
            trust=at["trust"],
            source=at["source"],
            closing=Extent(start=at["interior"].end, end=ends[-1]),
            closing_nonce=dict(fields)["nonce"],
        ),
    )


def seal(grammar: Grammar, secret: str, item_type: str, trust: Trust, said_source: str, text: str) -> Sealed:
    """Content in its envelope."""
    nonce = nonce_of(grammar, secret, item_type, said_source, text)
    return wrap(grammar, nonce, item_type, trust, said_source, grammar.encode(item_type, text))


def parts(grammar: Grammar) -> tuple[Part, ...]:
    """The modules of the reference, altered so that they write by a grammar."""

    def regions(module: Any) -> None:
        module._ROLES.update(grammar.roles or {})

    def framing(module: Any) -> None:
        module.FRAMING = grammar.framing

    def envelope(module: Any) -> None:
        module.seal = lru_cache(_REMEMBERED)(partial(seal, grammar))
        module.wrap = partial(wrap, grammar)
        module.nonce_of = partial(nonce_of, grammar)
        module.quote, module.DELIMITERS = grammar.quote, grammar.delimiters

    def rendering(module: Any) -> None:
        module._pointer_text = grammar.pointer
        module.item_block = partial(_item_block, grammar, module, module.item_block)
        module.state_blocks = partial(_state_blocks, grammar, module)

    return (("regions", regions), ("framing", framing), ("envelope", envelope), ("rendering", rendering))


def _item_block(
    grammar: Grammar,
    module: Any,
    enveloped: Callable[..., Block],
    secret: str,
    item: RenderedItem,
    trust: Trust,
    slot: Slot | None = None,
) -> Block:
    """An item, verbatim, and without an envelope where its type is structural."""
    if item.type not in grammar.structural or not isinstance(item, ToolDefinition | ToolCall):
        return enveloped(secret, item, trust, slot)
    bare: Block = module._platform_block(item.id, item.type, grammar.plain_json(content(item)))
    more = {"slot": slot, "label": trust, "source": source(item), **module._wire(item)}
    return bare.model_copy(update=more)


def _state_blocks(
    grammar: Grammar, module: Any, secret: str, state: WorkingState, trust: Mapping[str, Trust]
) -> tuple[Block, ...]:
    """Working state, a block for each trust in it: each entry's heading, and below it the entry."""
    by_trust: dict[Trust, list[str]] = {}
    for entry in state.entries():
        lines = by_trust.setdefault(module.entry_trust(entry, trust), [])
        lines += [grammar.heading(entry), entry.text]
    return tuple(
        module._sealed_block(
            seal(grammar, secret, WORKING_STATE, label, module.STATE, "\n".join(by_trust[label])),
            *(module.STATE_ID, WORKING_STATE, label, module.STATE),
        )
        for label in sorted(by_trust, key=lambda label: label.rank)
    )


def order_parts(order: Sequence[Place]) -> tuple[Part, ...]:
    """The modules of the reference, altered so that they assemble in another order."""

    def regions(module: Any) -> None:
        module.ORDER = tuple(order)
        module.PREFIX_PLACES, module.BODY_PLACES = (
            module.ORDER[:_PREFIX_PLACES],
            module.ORDER[_PREFIX_PLACES:],
        )

    def planner(module: Any) -> None:
        usual = module._prefix_blocks
        module._prefix_blocks = lambda opening: tuple(
            sorted(usual(opening), key=lambda block: order.index(block.place))
        )

    return (("regions", regions), ("planner", planner))


#: The modules of the reference that are altered here, each after those it imports from.
_IMPORTED: Final = (
    *("memo", "pairing", "regions", "framing", "envelope", "estimator", "rendering", "log_index"),
    *("selection", "standing", "draft", "elision", "scope", "summary", "yielding", "assembly"),
    *("builder", "planner", "compactor"),
)


def engine(name: str, altered: Iterable[Part], grammar: Grammar | None = None, **declared: Any) -> Engine:
    """An engine of the reference's modules, some of them altered, with what its manifest declares."""
    bound = declared.get("summary_bound")
    if bound is not None:
        altered = (("compactor", lambda module: setattr(module, "SUMMARY_BOUND", bound)), *altered)
    made = recomposed(sorted(altered, key=lambda part: _IMPORTED.index(part[0])))
    update = {"name": f"contextproof-{name.replace('_', '-')}", **declared}
    if grammar is not None:
        types = [entry.type for entry in made.MANIFEST.codecs if entry.type not in grammar.structural]
        update["structural"] = grammar.structural
        update["codecs"] = tuple(TypeCodec(type=name, codec=grammar.codec(name)) for name in types)
    manifest = made.MANIFEST.model_copy(update=update)
    odd: Engine = type("Odd", (made.ReferenceEngine,), {"manifest": manifest})()
    return odd
