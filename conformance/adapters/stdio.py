"""A builder in a process of its own, spoken to over its standard input and output."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from contextproof.conformance.adapters.process import Process
from contextproof.conformance.adapters.wire import (
    REQUESTS,
    ErrorLine,
    OutOfStep,
    Reader,
    Writer,
    WrongShape,
    call_line,
    error_line,
    result_line,
)
from contextproof.conformance.builder import Builder, BuilderError, BuilderGone
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.calls import (
    METHOD_OF,
    Call,
    CountCall,
    Counted,
    InitializeCall,
    Initialized,
    ShutdownCall,
)
from contextproof.conformance.contract.manifest import CONTRACT_VERSION
from contextproof.conformance.contract.ports import Summarize, SummarizerError
from contextproof.conformance.contract.tokenizers import count, unpack_rank_files
from contextproof.conformance.target import Limits

#: A process that answered fewer calls before it ended had a short life; so many of them in a row are a
#: crash loop.
_SHORT_LIFE, _CRASH_LOOP = 200, 5
#: Seconds that it may take over its end.
_SHUTDOWN = 2.0

Listen = Callable[[str, bytes], None]
"""Told who sent a line, ``suite`` or ``builder``, and the line."""


def _no_one_listens(_sender: str, _line: bytes) -> None:
    pass


class Stdio:
    """A subprocess that speaks the contract, started anew where it ended in the middle of something."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        limits: Limits | None = None,
        listen: Listen | None = None,
    ) -> None:
        """Start it and shake hands.

        Args:
            command: the program and its arguments.
            env: all of its environment; this process's, where there is none.
            cwd: where it is started; here, where there is none.
            limits: what it is held to.
            listen: told of every line that goes either way, without its end.

        Raises:
            BuilderError: where it does not start or answer.
        """
        self.command, self.limits = list(command), limits or Limits()
        self._listen, self._reader = listen or _no_one_listens, Reader()
        self._writer = Writer()
        self._env, self._cwd = dict(os.environ if env is None else env), cwd
        self._calls, self._answered, self._short_lives = 0, 0, 0
        #: Whether an ended process of this builder left others running.
        self.left_behind = False
        self._process: Process | None = None
        answer = self._start()
        self.manifest, self.ports = answer.manifest, frozenset(answer.ports)

    def call(self, call: Call, summarize: Summarize | None = None) -> Any:
        """Make a call over the wire, of a new process where the last one ended. Raises BuilderError."""
        if self._process is None:
            self._start_again()
        answer = self._exchange(METHOD_OF[type(call)].name, call, summarize)
        self._answered += 1
        return answer

    def fresh(self) -> Builder:
        """Another process from the same command. Raises BuilderError."""
        return Stdio(self.command, env=self._env, cwd=self._cwd, limits=self.limits)

    def close(self) -> None:
        """Ask it to end, and see to it that it does, with everything it started."""
        if self._process is None:
            return
        self._process.start_clock()
        self._process.allow(min(0.0, _SHUTDOWN - self.limits.timeout))
        with contextlib.suppress(BuilderError):
            self._calls += 1
            self._send(self._process, call_line(self._calls, "shutdown", ShutdownCall()), "shutdown")
            self._receive(self._process, "shutdown")
        self._process.end()
        self.left_behind = self.left_behind or self._process.left_behind
        self._process = None

    def _start(self) -> Initialized:
        limits = self.limits
        self._process = Process(
            self.command,
            env=self._env,
            cwd=self._cwd,
            timeout=limits.timeout,
            max_message=limits.max_message,
        )
        self._answered = 0
        try:
            answer = self._exchange("initialize", InitializeCall(contract=CONTRACT_VERSION), None)
        except BuilderError:
            self._drop()
            raise
        assert isinstance(answer, Initialized)
        return answer

    def _start_again(self) -> None:
        if self._short_lives >= _CRASH_LOOP:
            raise BuilderGone(
                f"the builder ended {_CRASH_LOOP} times in a row, each time before it had answered "
                f"{_SHORT_LIFE} calls; nothing more was asked of it"
            )
        try:
            again = self._start()
        except BuilderError as error:
            self._short_lives += 1
            raise BuilderError(f"the builder was started anew, and {error}") from error
        if (again.manifest, frozenset(again.ports)) != (self.manifest, self.ports):
            raise BuilderGone("the builder declares something else whenever it is started; declare the same")

    def _exchange(self, method: str, params: Frozen, summarize: Summarize | None) -> Any:
        """One call and its answer; whatever leaves the pipes out of step ends the process."""
        assert self._process is not None
        self._calls += 1
        try:
            self._process.start_clock()
            self._send(self._process, self._writer.call(self._calls, method, params), method)
            message = self._answer(self._process, method, summarize)
        except WrongShape as error:
            raise BuilderError(f"`{method}` {error}") from error
        except (BuilderError, OutOfStep) as error:
            self._short_lives = self._short_lives + 1 if self._answered < _SHORT_LIFE else 1
            told = error if isinstance(error, BuilderError) else BuilderError(f"`{method}`: {error}")
            words = "" if isinstance(error, BuilderError) else self._process.last_words()
            self._drop()
            raise BuilderError(f"{told}{words}") from error
        if isinstance(message, ErrorLine):
            raise BuilderError(f"`{method}` failed: {message.error.message}")
        return message.result

    def _answer(self, process: Process, method: str, summarize: Summarize | None) -> Any:
        while True:
            message = self._reader.answer(method, self._calls, self._receive(process, method))
            if not isinstance(message, REQUESTS):
                return message
            started = time.monotonic()
            reply = _reverse(message, summarize)
            process.allow(time.monotonic() - started)
            self._send(process, reply, method)

    def _send(self, process: Process, line: bytes, during: str) -> None:
        self._listen("suite", line[:-1])
        process.send(line, during)

    def _receive(self, process: Process, during: str) -> bytes:
        line = process.receive(during)
        self._listen("builder", line)
        return line

    def _drop(self) -> None:
        """End the process; the next call starts another."""
        if self._process is not None:
            self._process.kill()
        self._process = None


def _reverse(message: Any, summarize: Summarize | None) -> bytes:
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


def host(
    spec: str,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    limits: Limits | None = None,
    listen: Listen | None = None,
) -> Stdio:
    """A Python builder served by a process of its own, by this Python.

    ``env`` is added to this process's environment. The present working directory stays importable
    for it, wherever it is started.
    """
    unpack_rank_files()  # and with that tell children where they are
    environment = {**os.environ, **(env or {})}
    paths = [str(Path.cwd()), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return Stdio(host_command(spec), env=environment, cwd=cwd, limits=limits, listen=listen)


def host_command(spec: str) -> list[str]:
    """The command that serves a Python builder, with nothing imported but what that needs."""
    return [sys.executable, "-m", "contextproof.conformance.adapters.host", spec]
