"""A builder in a process of its own, spoken to over its standard input and output."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from contextproof.conformance.adapters.wire import ANSWER_LINES, ErrorLine, call_line, error_line, result_line
from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.calls import (
    METHOD_OF,
    Call,
    CountCall,
    Counted,
    InitializeCall,
    Initialized,
)
from contextproof.conformance.contract.manifest import CONTRACT_VERSION
from contextproof.conformance.contract.ports import Summarize, SummarizerError
from contextproof.conformance.contract.tokenizers import count, unpack_rank_files
from contextproof.conformance.shape import explain

#: Seconds a call may take before the builder counts as hanging.
CALL_TIMEOUT = 60.0
#: Lines of the builder's standard error that are kept for the report.
_STDERR_LINES = 40
#: Seconds a builder has to end by itself once its input is closed.
_GRACE = 2.0


class Stdio:
    """A running subprocess that speaks the contract. ``timeout`` is seconds a call may take."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout: float = CALL_TIMEOUT,
    ) -> None:
        """Start it and shake hands. Raises BuilderError where it does not start or answer."""
        self.command, self.timeout = list(command), timeout
        self._env, self._cwd = env, cwd
        try:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(env) if env is not None else None,
                cwd=cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise BuilderError(f"cannot start {self.command[0]}: {error}") from error
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._calls = 0
        readers = ((self._read_lines, self._process.stdout), (self._keep_stderr, self._process.stderr))
        self._readers = [
            threading.Thread(target=read, args=(stream,), daemon=True) for read, stream in readers
        ]
        for reader in self._readers:
            reader.start()
        try:
            answer: Initialized = self._exchange(
                "initialize", InitializeCall(contract=CONTRACT_VERSION), None
            )
        except BuilderError:
            self.close()
            raise
        self.manifest = answer.manifest
        self.ports = frozenset(answer.ports)

    @property
    def exit_code(self) -> int | None:
        """How the process ended, or None while it runs."""
        return self._process.poll()

    def call(self, call: Call, summarize: Summarize | None = None) -> Any:
        """Make a call over the wire. Raises BuilderError."""
        return self._exchange(METHOD_OF[type(call)].name, call, summarize)

    def fresh(self) -> Builder:
        """Another process from the same command."""
        return Stdio(self.command, env=self._env, cwd=self._cwd, timeout=self.timeout)

    def close(self) -> None:
        """End the process and everything it started."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for reader in self._readers:
            reader.join(_GRACE)

    def _exchange(self, method: str, params: Frozen, summarize: Summarize | None) -> Any:
        self._calls += 1
        identifier = self._calls
        self._write(call_line(identifier, method, params), method)
        while True:
            line = self._next_line(method)
            try:
                message = ANSWER_LINES[method].validate_json(line)
            except ValidationError as error:
                shown = line[:80].decode(errors="replace")
                raise BuilderError(
                    f"`{method}` was answered by no message of the contract: {explain(error)}; "
                    f"it begins {shown!r}"
                ) from error
            if hasattr(message, "method"):
                self._write(self._reverse(message, summarize), method)
            elif message.id != identifier:
                raise BuilderError(f"`{method}` was call {identifier}, and the answer is for {message.id!r}")
            elif isinstance(message, ErrorLine):
                raise BuilderError(f"`{method}` failed: {message.error.message}")
            else:
                return message.result

    def _reverse(self, message: Any, summarize: Summarize | None) -> bytes:
        """Answer the builder's own call."""
        if isinstance(message.params, CountCall):
            found = tuple(count(message.params.tokenizer, text) for text in message.params.texts)
            return result_line(message.id, Counted(tokens=found))
        if summarize is None:
            return error_line(message.id, "the summarizer is only there during compact")
        try:
            return result_line(message.id, summarize(message.params.parts, message.params.max_tokens))
        except SummarizerError as error:
            return error_line(message.id, str(error))

    def _write(self, line: bytes, method: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError as error:
            raise self._ended(method) from error

    def _next_line(self, method: str) -> bytes:
        try:
            line = self._lines.get(timeout=self.timeout)
        except queue.Empty:
            raise BuilderError(
                f"`{method}` had no answer within {self.timeout:g} s{self._last_words()}"
            ) from None
        if line is None:
            raise self._ended(method)
        return line

    def _ended(self, method: str) -> BuilderError:
        """What to raise once the builder's side of the pipes is closed."""
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return BuilderError(f"the builder closed its pipes during `{method}`{self._last_words()}")
        self._readers[1].join(_GRACE)
        return BuilderError(f"the builder ended with exit code {code} during `{method}`{self._last_words()}")

    def _last_words(self) -> str:
        return f"; its last words: {self._stderr[-1]}" if self._stderr else ""

    def _read_lines(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._lines.put(line)
        self._lines.put(None)

    def _keep_stderr(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._stderr.append(line.decode(errors="replace").rstrip())


def host(spec: str, *, env: Mapping[str, str] | None = None, cwd: str | None = None) -> Stdio:
    """A Python builder served by a process of its own, by this Python.

    ``env`` is added to this process's environment. The present working directory stays importable
    for it, wherever it is started.
    """
    unpack_rank_files()  # and with that tell children where they are
    environment = {**os.environ, **(env or {})}
    paths = [str(Path.cwd()), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    command = [sys.executable, "-m", "contextproof.conformance.cli", "host", spec]
    return Stdio(command, env=environment, cwd=cwd)
