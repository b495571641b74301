"""Variations of a scenario that pair requirements compare with."""

from __future__ import annotations

from collections.abc import Callable

from contextproof.conformance.play.scenario import Scenario, SetPermissions


def without_permission_changes(scenario: Scenario) -> Scenario:
    """The same session, in which permissions stay as they were at the opening."""
    steps = tuple(step for step in scenario.steps if not isinstance(step, SetPermissions))
    return scenario.model_copy(update={"steps": steps})


VARIATIONS: dict[str, Callable[[Scenario], Scenario]] = {
    "without_permission_changes": without_permission_changes,
}

#: The variation that changes nothing in the scenario, and everything around the builder's process.
TWIN = "twin"
