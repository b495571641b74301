"""A twin of a builder: the same code in a process that differs in all that must not matter."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from contextproof.conformance.adapters.stdio import host
from contextproof.conformance.builder import Builder

#: The two ends of the world's time zones, 26 hours apart: in one of them it is another day than here.
_EAST, _WEST = ("Pacific/Kiritimati", 14), ("Etc/GMT+12", -12)


def other_zone(now: datetime) -> str:
    """A zone in which the date is not the one that ``now`` (an aware local time) has."""
    eastern = now.astimezone(UTC) + timedelta(hours=_EAST[1])
    return _EAST[0] if eastern.date() != now.date() else _WEST[0]


@contextmanager
def twin(spec: str) -> Iterator[Builder]:
    """The builder in another process: other hash seed, zone, locale, home and working directory.

    Raises BuilderError where it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="contextproof-twin-") as elsewhere:
        environment = {
            "PYTHONHASHSEED": "4242" if os.environ.get("PYTHONHASHSEED") != "4242" else "17",
            "TZ": other_zone(datetime.now().astimezone()),
            "LC_ALL": "tr_TR.UTF-8",
            "LANG": "tr_TR.UTF-8",
            "HOME": elsewhere,
            "TMPDIR": elsewhere,
        }
        builder = host(spec, env=environment, cwd=elsewhere)
        try:
            yield builder
        finally:
            builder.close()
