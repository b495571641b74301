"""What names a builder to be measured: a factory in this Python, or a command that speaks the protocol."""

from __future__ import annotations

import shlex
from typing import Annotated, Self

from pydantic import Field, model_validator

from contextproof.conformance.contract.base import Frozen

#: Seconds that a builder may take over one call before it counts as hanging.
TIMEOUT = 60.0
#: Bytes that one message of a builder may have.
MAX_MESSAGE = 64 * 2**20


class Limits(Frozen):
    """What a builder reached over a pipe is held to, and what it is given of the environment."""

    timeout: Annotated[float, Field(gt=0)] = TIMEOUT
    """Seconds that one call may take; the time that the suite takes over a reverse call does not count."""
    max_message: Annotated[int, Field(gt=0)] = MAX_MESSAGE
    """Bytes that one message may have."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables that a command is given besides the usual ones."""


class Target(Frozen):
    """A builder by its name: a ``factory`` (``package.module:factory``) or a ``command`` (its words)."""

    factory: str | None = None
    """`package.module:factory`, for a builder in Python."""
    command: tuple[str, ...] = ()
    """The words of the command that starts it; empty for one in Python."""
    limits: Limits = Limits()
    """What it is held to."""

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if (self.factory is None) == (not self.command):
            raise ValueError("a builder is named by a factory or by a command")
        return self

    @property
    def is_over_pipe(self) -> bool:
        """Whether it is reached over a pipe, and so cannot change what it is handed."""
        return self.factory is None

    @property
    def option(self) -> str:
        """The options that name it on a command line, quoted for a shell."""
        if self.factory is not None:
            return f"--builder {shlex.quote(self.factory)}"
        named = (
            "--command",
            str(self),
            *(word for name in self.limits.pass_env for word in ("--pass-env", name)),
        )
        return shlex.join(named)

    def is_same_builder(self, other: Target) -> bool:
        """Whether both name one builder, whatever it is held to."""
        return (self.factory, self.command) == (other.factory, other.command)

    def __str__(self) -> str:
        """The factory, or the command as one line."""
        return shlex.join(self.command) if self.factory is None else self.factory
