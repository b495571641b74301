"""Drawing sessions from a strategy: the same seed gives the same sessions."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

Session = TypeVar("Session")


class GenerationFailed(Exception):
    """A strategy could not generate: ours to mend, never a builder's failure."""


def generate(strategy: SearchStrategy[Session], seed_number: int, sessions: int) -> list[Session]:
    """So many sessions of a strategy.

    Raises:
        GenerationFailed: with what Hypothesis complains of.
    """
    found: list[Session] = []

    # Health checks would judge the machine's speed; what they are for, our own tests check.
    @seed(seed_number)
    @settings(
        max_examples=sessions,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(session: Session) -> None:
        found.append(session)

    try:
        collect()
    except HypothesisException as error:
        raise GenerationFailed(f"{type(error).__name__}: {error}") from error
    return found
