"""Hypothesis strategies: the vocabulary that scenarios are generated from.

`by_key` gives the strategy that a requirement names, `explicit` the scenarios that are played beside
what is generated. What a strategy generates is valid by construction: nothing is filtered.

==============  ==================================================================================
module          holds
==============  ==================================================================================
`author`        the author that writes scenarios down, and what a move is
`texts`         hostile, multilingual, blank and long text, as recipes
`sizes`         texts of an exact number of tokens, and of a share of the body
`openings`      what sessions open with; `edges`: openings at the caps
`turns`         messages, calls, recall, environment, retries, resumes
`changes`       permissions, tools, memory, clock, routing, forced revocations
`state`         working state
`pressure`      scarcity
`compactions`   compaction and summarizers
`pairs`         logs that cannot be requests
`sessions`      the mixtures of all these, one for each key
`examples`      explicit scenarios for what chance could miss
==============  ==================================================================================
"""

from __future__ import annotations

from functools import cache

from hypothesis.strategies import SearchStrategy

from contextproof.conformance.play.scenario import Scenario
from contextproof.strategies import edges, sessions
from contextproof.strategies.examples import explicit

__all__ = ["by_key", "explicit"]


@cache
def by_key() -> dict[str, SearchStrategy[Scenario]]:
    """The strategies by the keys under which requirements name them."""
    return {
        "openings": edges.openings(),
        "sessions": sessions.sessions(),
        "pressure": sessions.pressed(),
        "revocations": sessions.revocations(),
        "routing": sessions.routing(),
        "compactions": sessions.compacted(),
        "hostile": sessions.hostile(),
        "working_state": sessions.working_state(),
        "formation": sessions.formation(),
        "pairs": sessions.paired(),
    }
