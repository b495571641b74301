"""Effective trust: the lowest over an item and everything it says it derives from (decision 12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from contextproof.conformance.contract.items import LogItem, Message, PrefixItem, RenderedItem, own_trust
from contextproof.conformance.contract.session import Opening
from contextproof.conformance.contract.vocabulary import Trust, lowest


def effective_trust(item: RenderedItem, earlier: Mapping[str, Trust]) -> Trust:
    """Trust of one item, given the effective trust of all earlier ones by id.

    A derivation from something unknown counts as untrusted.
    """
    return lowest(own_trust(item), derived_trust(getattr(item, "derived_from", ()), earlier))


def derived_trust(derived_from: Iterable[str], earlier: Mapping[str, Trust]) -> Trust:
    """The lowest trust of the named items; platform, where none is named."""
    return lowest(Trust.PLATFORM, *(earlier.get(name, Trust.EXTERNAL_UNTRUSTED) for name in derived_from))


def opening_trust(opening: Opening) -> dict[str, Trust]:
    """Effective trust of everything the session opened with, by id."""
    trust: dict[str, Trust] = {}
    items: tuple[PrefixItem, ...] = (
        *opening.policy,
        *opening.instructions,
        *opening.tools,
        *opening.memory,
    )
    for item in items:
        trust[item.id] = effective_trust(item, trust)
    return trust


def log_trust(log: Iterable[LogItem], earlier: dict[str, Trust]) -> dict[str, Trust]:
    """Add the effective trust of a log's messages to what is known already, and return it."""
    for item in log:
        if isinstance(item, Message):
            earlier[item.id] = effective_trust(item, earlier)
    return earlier
