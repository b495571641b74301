"""Explicit scenarios: what chance could miss, and troubles as they were seen in real software.

Each function is one scenario; its name is the scenario's, its docstring the scenario's title. They are
kept by the key of the strategy whose sessions they stand beside.
"""

from __future__ import annotations

from functools import cache

from contextproof.conformance.play.scenario import Scenario
from contextproof.strategies import (
    examples_compactions,
    examples_openings,
    examples_pressure,
    examples_sessions,
    examples_state,
    examples_texts,
)
from contextproof.strategies.examples_writing import EXAMPLES

__all__ = ["explicit"]

#: The modules that fill the table; naming them is what loads them.
MODULES = (
    examples_compactions,
    examples_openings,
    examples_pressure,
    examples_sessions,
    examples_state,
    examples_texts,
)


@cache
def explicit(key: str) -> tuple[Scenario, ...]:
    """The explicit scenarios of a strategy's key; none, where there are none."""
    return tuple(write() for write in EXAMPLES.get(key, ()))
