"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""


def unheard(_what: str, _done: int, _of: int) -> None:
    """Progress that nobody is told of."""
