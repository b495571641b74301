"""The wall clock of a session: ISO 8601 with an offset, and a second later with every request."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator

#: No session has as many requests, in seconds.
_LONGEST = timedelta(days=1)


def later(clock: str, seconds: int) -> str:
    """The time so many seconds later, at the same offset."""
    return (datetime.fromisoformat(clock) + timedelta(seconds=seconds)).isoformat(timespec="seconds")


def _is_a_time(clock: str) -> str:
    try:
        moment = datetime.fromisoformat(clock)
        has_offset = (moment + _LONGEST).tzinfo is not None
    except (ValueError, OverflowError):
        has_offset = False
    if not has_offset:
        raise ValueError("a clock is a time as ISO 8601 with an offset, such as 2026-03-27T09:00:00+01:00")
    return clock


Clock = Annotated[str, AfterValidator(_is_a_time)]
"""A time with its offset, as text."""
