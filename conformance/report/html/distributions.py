"""How generated sessions are spread: how long they are, what an estimate is worth, what is cached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from contextproof.conformance.certification.reading import Run
from contextproof.conformance.certification.record import SessionLine

_BINS = 20


@dataclass(frozen=True)
class Histogram:
    """How often values fall into each of some ranges: from (in), to (out), times."""

    title: str
    of: str
    bins: tuple[tuple[float, float, int], ...]
    lowest: float
    middle: float
    highest: float


def histograms(run: Run) -> list[Histogram]:
    """All that there is something to say of."""
    generated = [one for one in run.sessions if one.series is None and one.trouble is None and one.requests]
    found = (
        _histogram(
            "requests in a session", "sessions", [float(one.requests) for one in generated], whole=True
        ),
        _histogram("steps of a session", "sessions", [float(one.steps) for one in generated], whole=True),
        _histogram("cached share of a session", "sessions", _shares(generated)),
        _histogram("estimate / count", "requests", _ratios(generated)),
    )
    return [one for one in found if one is not None]


def _shares(sessions: Sequence[SessionLine]) -> list[float]:
    """Of sessions that could repeat anything."""
    tallies = [session.tally for session in sessions if session.tally.appended]
    return [one.repeated / one.sent for one in tallies if one.sent]


def _ratios(sessions: Sequence[SessionLine]) -> list[float]:
    counted: Counter[int] = Counter()
    for session in sessions:
        counted.update(dict(session.tally.before_drift))
    return [ratio / 1000 for ratio in counted.elements()]


def _histogram(title: str, of: str, values: list[float], *, whole: bool = False) -> Histogram | None:
    if not values:
        return None
    values = sorted(values)
    # The last hundredth would press all the others into one bar.
    top = values[min(len(values) - 1, 99 * len(values) // 100)]
    width = (top - values[0]) / _BINS
    width = max(1.0, -(-(top - values[0] + 1) // _BINS)) if whole else width or 0.01
    counted = Counter(min(_BINS - 1, int((value - values[0]) / width)) for value in values)
    bins = tuple(
        (values[0] + n * width, values[0] + (n + 1) * width, counted[n]) for n in range(max(counted) + 1)
    )
    return Histogram(title, of, bins, values[0], values[len(values) // 2], values[-1])
