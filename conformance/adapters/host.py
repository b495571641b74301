"""Serves a Python builder over stdio, from its own environment.

Standard output belongs to the protocol: whatever the builder prints goes to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO

from pydantic import ValidationError

from contextproof.conformance.adapters.in_process import InProcess, load
from contextproof.conformance.adapters.wire import (
    CALL_LINES,
    REVERSE_LINES,
    ErrorLine,
    call_line,
    error_line,
    result_line,
)
from contextproof.conformance.builder import BuilderError
from contextproof.conformance.contract.calls import (
    METHODS,
    CompactCall,
    InitializeCall,
    Initialized,
    SummarizeCall,
)
from contextproof.conformance.contract.manifest import CONTRACT_VERSION
from contextproof.conformance.contract.ports import SummarizerError, Summary, SummaryPart
from contextproof.conformance.shape import explain


def serve(spec: str) -> None:
    """Serve the builder named by ``spec`` until standard input ends. Raises BuilderError at the start."""
    outgoing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _Host(load(spec), sys.stdin.buffer, outgoing).run()


class _Host:
    def __init__(self, builder: InProcess, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._builder = builder
        self._incoming = incoming
        self._outgoing = outgoing
        self._reverse_calls = 0

    def run(self) -> None:
        """Answer every line until there are no more."""
        for line in self._incoming:
            self._send(self._answer(line))

    def _send(self, line: bytes) -> None:
        self._outgoing.write(line)
        self._outgoing.flush()

    def _answer(self, line: bytes) -> bytes:
        try:
            message = CALL_LINES.validate_json(line)
        except ValidationError as error:
            return error_line(None, f"not a call of this contract: {explain(error)}", -32600)
        if isinstance(message.params, InitializeCall):
            return self._initialize(message.id, message.params)
        if message.method not in METHODS or message.method not in self._builder.ports:
            return error_line(message.id, f"this builder does not answer {message.method}", -32601)
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
        line = REVERSE_LINES["summarize"].validate_json(self._incoming.readline())
        if isinstance(line, ErrorLine):
            raise SummarizerError(line.error.message)
        summary: Summary = line.result
        return summary
