"""The picture of a scripted session, request by request: its figures as rows, for a chart and for a table."""

from __future__ import annotations

import re
from dataclasses import dataclass

from contextproof.conformance.certification.reading import Run
from contextproof.conformance.certification.series import Point, Series
from contextproof.conformance.contract.vocabulary import TokenClass

#: Classes that belong to the prefix, lowest in the picture.
PREFIX = (
    TokenClass.PLATFORM_POLICY,
    TokenClass.FRAMING,
    TokenClass.AGENT_INSTRUCTIONS,
    TokenClass.TOOL_DEFINITIONS,
    TokenClass.MEMORY_SNAPSHOT,
)
OTHER = "of no declared type"
_HEX = re.compile(r"[0-9a-f]{1,64}")


@dataclass(frozen=True)
class Row:
    """One request, with what changed since the one before it."""

    number: int
    point: Point
    prefix: int
    by_class: dict[str, int]
    cached: float
    ratio: float | None
    is_new_epoch: bool
    is_new_hash: bool

    @property
    def hash(self) -> str:
        """The prefix's hash, shortened; a builder may have said anything."""
        told = self.point.prefix_sha256
        return told if _HEX.fullmatch(told) else "no hash"


def pictured(run: Run) -> Series | None:
    """The session that is drawn: of the scripted ones, that with the most requests."""
    drawn = [session.series for session in run.sessions if session.series is not None]
    return max(drawn, key=lambda one: len(one.points), default=None)


def rows(series: Series) -> list[Row]:
    """All requests of a session."""
    found: list[Row] = []
    for number, point in enumerate(series.points, 1):
        before = series.points[number - 2] if number > 1 else point
        named = {name.value: tokens for name, tokens in point.by_class}
        rest = point.count - sum(named.values())
        found.append(
            Row(
                number=number,
                point=point,
                prefix=sum(named.get(name.value, 0) for name in PREFIX),
                by_class=named | ({OTHER: rest} if rest > 0 else {}),
                cached=point.repeated / point.count if point.count else 0.0,
                ratio=point.estimate / point.count if point.estimate and point.count else None,
                is_new_epoch=point.epoch != before.epoch,
                is_new_hash=point.prefix_sha256 != before.prefix_sha256,
            )
        )
    return found
