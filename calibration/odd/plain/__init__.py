"""A whole engine in plain functions: nothing shared with the reference but the contract.

Each build starts from its inputs and makes one pass: all that must stand is listed and measured, gives
way in the order decided until it fits, and is sent; else compaction is asked for, or the budget is
exhausted. Read `building` first, then `drafting`.
"""

from __future__ import annotations

from typing import Final

from contextproof.calibration.odd.plain import (
    blocks,
    building,
    compacting,
    grammar,
    measuring,
    planning,
    reading,
    state,
)
from contextproof.conformance.contract.manifest import Manifest, TypeCodec
from contextproof.conformance.contract.ports import Engine
from contextproof.conformance.contract.vocabulary import Decision, Region, declared_types

_TYPES: Final = (*declared_types(Region.A), *declared_types(Region.B))

MANIFEST: Final = Manifest(
    name="contextproof-plain",
    version="1",
    claims=tuple(Decision),
    order=blocks.ORDER,
    delimiters=(grammar.BAR,),
    codecs=tuple(TypeCodec(type=name, codec=grammar.CODEC) for name in _TYPES if name not in blocks.BARE),
    summary_bound=compacting.SUMMARY_BOUND,
)


class Plain:
    """Every port, each a function of its arguments alone."""

    manifest = MANIFEST
    open_session = staticmethod(planning.open_session)
    apply = staticmethod(planning.apply)
    build = staticmethod(building.build)
    validate = staticmethod(reading.validate)
    compact = staticmethod(compacting.compact)
    estimate = staticmethod(measuring.estimate)
    reconcile = staticmethod(measuring.reconcile)
    authorize = staticmethod(planning.authorize)
    update = staticmethod(state.update)
    carry = staticmethod(state.carry)
    candidates = staticmethod(state.candidates)


def plain() -> Engine:
    """The plain engine."""
    return Plain()
