"""The whole check of a configuration: measured here and, where one is named, by a builder too."""

from __future__ import annotations

from dataclasses import dataclass

from contextproof.conformance.builder import Builder
from contextproof.conformance.preflight.asking import Asked, ask
from contextproof.conformance.preflight.measuring import Measured, measure
from contextproof.conformance.preflight.reading import Configuration


@dataclass(frozen=True)
class Preflight:
    """A configuration, what it measures, and what a builder answered to it; None where none was asked."""

    configuration: Configuration
    measured: Measured
    asked: Asked | None = None

    @property
    def opens(self) -> bool:
        """Whether a session opens: within every bound, and by the answer of the builder, if one was asked."""
        return self.measured.opens and (self.asked is None or self.asked.opens)


def check(configuration: Configuration, builder: Builder | None = None) -> Preflight:
    """Check a configuration. Raises BuilderError where the builder cannot be asked."""
    if builder is None:
        return Preflight(configuration, measure(configuration.opening))
    return Preflight(configuration, *ask(builder, configuration.opening))
