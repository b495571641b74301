"""Garbage collection in the processes that we start: workers, and hosts of builders."""

from __future__ import annotations

import gc

#: Objects that are made before the young are looked at, and how many such looks before all are.
_YOUNG, _OLD = 50_000, 100


def collect_rarely() -> None:
    """Look for cycles rarely: messages and traces are large and hold none."""
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, _OLD)
