"""Serves a Python builder over stdio, from its own environment.

``python -m contextproof.conformance.adapters.host package.module:factory`` needs nothing there but what
the contract needs. Standard output belongs to the protocol: what the builder prints goes to standard
error, and what it reads from standard input is empty.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO, Any

from pydantic import ValidationError

from contextproof.conformance.adapters.in_process import InProcess, load
from contextproof.conformance.adapters.wire import (
    UNKNOWN_METHOD,
    BadCall,
    ErrorLine,
    call_line,
    error_line,
    read_call,
    read_reverse_answer,
    result_line,
)
from contextproof.conformance.builder import BuilderError
from contextproof.conformance.contract.calls import (
    CompactCall,
    InitializeCall,
    Initialized,
    ShutDown,
    ShutdownCall,
    SummarizeCall,
)
from contextproof.conformance.contract.manifest import CONTRACT_VERSION
from contextproof.conformance.contract.ports import SummarizerError, Summary, SummaryPart
from contextproof.conformance.memory import collect_rarely
from contextproof.conformance.shape import explain


def serve(spec: str) -> None:
    """Serve the builder named by ``spec`` until it is shut down. Raises BuilderError at the start."""
    incoming = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    outgoing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    builder = load(spec)
    collect_rarely()
    Host(builder, incoming, outgoing).run()


class Host:
    """Answers calls that come as lines."""

    def __init__(self, builder: InProcess, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._builder = builder
        self._incoming = incoming
        self._outgoing = outgoing
        self._reverse_calls = 0
        self._is_over = False

    def run(self) -> None:
        """Answer every line until there are no more, or until it is shut down."""
        for line in self._incoming:
            self._send(self._answer(line))
            if self._is_over:
                return

    def _send(self, line: bytes) -> None:
        self._outgoing.write(line)
        self._outgoing.flush()

    def _answer(self, line: bytes) -> bytes:
        try:
            message = read_call(line)
        except BadCall as error:
            return error_line(error.identifier, str(error), error.code)
        if isinstance(message.params, InitializeCall):
            return self._initialize(message.id, message.params)
        if isinstance(message.params, ShutdownCall):
            self._is_over = True
            return result_line(message.id, ShutDown())
        return self._call(message)

    def _call(self, message: Any) -> bytes:
        if message.method not in self._builder.ports:
            return error_line(message.id, f"this builder does not answer {message.method}", UNKNOWN_METHOD)
        summarize = self._summarize if isinstance(message.params, CompactCall) else None
        try:
            return result_line(message.id, self._builder.call(message.params, summarize))
        except BuilderError as error:
            return error_line(message.id, str(error))

    def _initialize(self, identifier: int | str, call: InitializeCall) -> bytes:
        if call.contract != CONTRACT_VERSION:
            return error_line(
                identifier, f"this host speaks contract {CONTRACT_VERSION}, not {call.contract}"
            )
        ports = tuple(sorted(self._builder.ports))
        return result_line(identifier, Initialized(manifest=self._builder.manifest, ports=ports))

    def _summarize(self, parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
        """The reverse call: ask the suite for a summary and wait for it."""
        self._reverse_calls += 1
        call = SummarizeCall(parts=tuple(parts), max_tokens=max_tokens)
        self._send(call_line(f"reverse-{self._reverse_calls}", "summarize", call))
        try:
            line = read_reverse_answer("summarize", self._incoming.readline())
        except ValidationError as error:
            raise SummarizerError(f"no answer of the contract: {explain(error)}") from error
        if isinstance(line, ErrorLine):
            raise SummarizerError(line.error.message)
        summary: Summary = line.result
        return summary


def main() -> None:
    """Serve the builder that the one argument names."""
    if len(sys.argv) != 2:  # noqa: PLR2004 -- the program and one word
        sys.exit("usage: python -m contextproof.conformance.adapters.host package.module:factory")
    try:
        serve(sys.argv[1])
    except BuilderError as error:
        sys.stderr.write(f"builder error: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
