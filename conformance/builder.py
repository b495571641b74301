"""A builder as the suite sees it, however it is reached: the adapters give this, the driver uses it."""

from __future__ import annotations

from typing import Any, Protocol

from contextproof.conformance.contract.calls import Call
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.ports import Summarize


class BuilderError(Exception):
    """The builder crashed, timed out, or answered what the contract does not know.

    The message is one sentence that says what to mend. Not a finding about conformance, and never
    raised for a fault of the suite.
    """


class BuilderGone(BuilderError):
    """The builder cannot be brought back: nothing more is to be asked of it."""


class Builder(Protocol):
    """A builder at work. Both adapters give this."""

    @property
    def manifest(self) -> Manifest:
        """What it declares."""

    @property
    def ports(self) -> frozenset[str]:
        """Names of the calls it answers."""

    def call(self, call: Call, summarize: Summarize | None = None) -> Any:
        """Make a call and return its validated answer. Raises BuilderError."""

    def fresh(self) -> Builder | None:
        """The same builder in a process that has seen nothing of this session, or None."""

    def close(self) -> None:
        """End what was started for it."""
