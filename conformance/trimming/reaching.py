"""Reaching a trimmer: in a process of its own, with every call bounded, and started anew when it is lost."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from contextproof.conformance.adapters.process import Process
from contextproof.conformance.builder import BuilderError
from contextproof.conformance.contract.tokenizers import unpack_rank_files
from contextproof.conformance.shape import lone_surrogate
from contextproof.conformance.trimming.formats import Json
from contextproof.conformance.trimming.session import Answer, Broken, Raised, Returned

#: Seconds that importing the function may take, and that one call may by default.
START, TIMEOUT = 60.0, 10.0
_MAX_MESSAGE = 64 * 2**20


@dataclass(frozen=True)
class Manner:
    """How the function takes its arguments: by these keywords, or by position where one is empty."""

    messages: str = ""
    limit: str = ""
    system: str | None = None
    is_async: bool = False

    def call(self, function: str) -> str:
        """The call as Python, with ``messages``, ``limit`` and ``system`` for its arguments."""
        named = (("messages", self.messages), ("limit", self.limit), ("system", self.system))
        given = [f"{key}={value}" if key else value for value, key in named if key is not None]
        call = f"{function}({', '.join(given)})"
        return f"asyncio.run({call})" if self.is_async else call


class Trimmer:
    """A function ``module:function`` at work in its own process; the working directory is importable."""

    def __init__(
        self,
        spec: str,
        *,
        timeout: float = TIMEOUT,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        """Start it. Raises BuilderError where it cannot be found or called."""
        module, _, function = spec.partition(":")
        if not module or not function or module.startswith("."):
            raise BuilderError(f"{spec!r} does not name a trimmer; write module:function")
        unpack_rank_files()  # the process inherits where they are
        serving = ("-m", "contextproof.conformance.trimming.serving")
        self._command = (sys.executable, "-X", "utf8", *serving, spec, str(Path.cwd()))
        self._cwd, self._env, self._timeout = cwd, env or {}, timeout
        self._process: Process | None = None
        self.manner = self._start()

    def ask(self, messages: list[Json], limit: int, system: str | None) -> Answer:
        """Its answer to one call, whatever happens."""
        call = json.dumps({"messages": messages, "limit": limit, "system": system or ""})
        try:
            if self._process is None:
                self._start()
            document = self._exchange(call.encode() + b"\n")
        except BuilderError as error:
            self.close()
            problem = str(error).partition(";")[0].replace("the builder", "the trimmer")
            return Broken(problem, is_silent="within" in problem)
        return answer_in(document)

    def close(self) -> None:
        """End its process."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def __enter__(self) -> Self:
        """Itself; ended with the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()

    def _start(self) -> Manner:
        self._process = Process(
            self._command,
            env={**os.environ, **self._env},
            cwd=self._cwd,
            timeout=self._timeout,
            max_message=_MAX_MESSAGE,
        )
        self._process.start_clock()
        self._process.allow(max(0.0, START - self._timeout))
        try:
            hello: dict[str, Any] = json.loads(self._process.receive("starting"))
        except BuilderError:
            self.close()
            raise
        if "error" in hello:
            self.close()
            raise BuilderError(hello["error"])
        return Manner(**hello["manner"])

    def _exchange(self, line: bytes) -> bytes:
        assert self._process is not None
        self._process.start_clock()
        self._process.send(line, "trimming")
        return self._process.receive("trimming")


def answer_in(document: bytes) -> Answer:
    """The answer in a line that a trimmer's process wrote."""
    answer: dict[str, Any] = json.loads(document)
    if "wrong" in answer:
        return Broken(answer["wrong"])
    if "raised" in answer:
        return Raised(answer["raised"], answer["says"], tuple(answer["kinds"]), changed=answer["changed"])
    surrogate = lone_surrogate(document) if b"\\ud" in document else ""  # the line is ASCII
    if surrogate:
        return Broken(f"it returned half of a surrogate pair at {surrogate}")
    return Returned(answer["returned"], changed=answer["changed"])
