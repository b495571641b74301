"""A process at the other end of three pipes: lines go in and come out, and nothing it does holds us up.

One thread serves all three pipes, so that none of them is ever left to fill: while a line is written,
what comes back is read, and standard error is always read along.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from contextproof.conformance.builder import BuilderError

#: Bytes read at once, and bytes of the end of standard error that are kept for the report.
_CHUNK, _KEPT = 2**18, 4_000
#: Lines of standard error, and characters of a line, that a message quotes.
_QUOTED_LINES, _QUOTED = 4, 120
#: Seconds between two looks at whether it still runs: a child that it left behind may hold its pipes open.
_GLANCE = 0.2
#: Seconds that it has to end by itself once its input is closed.
_GRACE = 2.0
_READABLE = select.POLLIN | select.POLLHUP | select.POLLERR


class Process:
    """A running command, in a process group of its own."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | None,
        timeout: float,
        max_message: int,
    ) -> None:
        """Start it. Raises BuilderError where the operating system cannot."""
        self._timeout, self._max_message = timeout, max_message
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=dict(env),
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise BuilderError(
                f"cannot start {command[0]}: {reason}; name a program that is on PATH, or its whole path"
            ) from error
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._stdin, self._stdout, self._stderr = (stream.fileno() for stream in streams if stream)
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)
        self._poll.register(self._stderr, select.POLLIN)
        self._received, self._searched = bytearray(), 0
        self._last_errors = b""
        self._silent = False
        self._deadline = 0.0
        #: Whether it left other processes running when it ended, as was found when it was closed.
        self.left_behind = False

    @property
    def exit_code(self) -> int | None:
        """How it ended, or None while it runs."""
        return self._process.poll()

    def start_clock(self) -> None:
        """From now on it has the time that one call may take."""
        self._deadline = time.monotonic() + self._timeout

    def allow(self, seconds: float) -> None:
        """Give it so much more time: we kept it waiting."""
        self._deadline += seconds

    def send(self, line: bytes, during: str) -> None:
        """Write a line, reading along. Raises BuilderError where it does not take it."""
        left = memoryview(line)
        while left:
            try:
                left = left[os.write(self._stdin, left) :]
            except BlockingIOError:
                self._wait_to_write(during)
            except OSError as error:
                raise self._gone(during, "closed its standard input") from error

    def receive(self, during: str) -> bytes:
        """The next line, without its end. Raises BuilderError where none comes."""
        while True:
            end = self._received.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._received[:end])
                del self._received[: end + 1]
                self._searched = 0
                return line
            self._searched = len(self._received)
            if self._silent:
                raise self._gone(during, "closed its standard output")
            self._wait_to_read(during)

    def quiet(self) -> bool:
        """Whether nothing stands in its output unread."""
        return not self._received

    def end(self) -> None:
        """Close its input, let it end, and end all that is left of its process group."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._let_it_end(_GRACE)
        self.left_behind = self._process.poll() is not None and self._group_lives()
        self.kill()

    def kill(self) -> None:
        """End it and everything in its process group at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._drain()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def last_words(self) -> str:
        """The last lines of its standard error as a clause, or nothing."""
        lines = [line for line in self._last_errors.decode(errors="replace").splitlines() if line.strip()]
        told = " | ".join(line.strip()[-_QUOTED:] for line in lines[-_QUOTED_LINES:])
        return f"; the last of its standard error: {told}" if told else ""

    def _group_lives(self) -> bool:
        try:
            os.killpg(self._process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _wait_to_write(self, during: str) -> None:
        self._poll.register(self._stdin, select.POLLOUT)
        try:
            self._turn(during, "did not read its standard input")
        finally:
            self._poll.unregister(self._stdin)

    def _wait_to_read(self, during: str) -> None:
        begun = bytes(self._received[:_QUOTED]).decode(errors="replace")
        self._turn(during, f"began a line and did not end it ({begun!r})" if begun else "gave no answer")

    def _turn(self, during: str, complaint: str) -> None:
        """Wait a moment for any pipe, and read what there is. Raises BuilderError where time is up."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise BuilderError(
                f"`{during}`: the builder {complaint} within {self._timeout:g} s{self.last_words()}; "
                "make it answer, or give it longer with --timeout"
            )
        for descriptor, event in self._poll.poll(1000 * min(left, _GLANCE)):
            if event & _READABLE:
                self._read(descriptor)
        if len(self._received) > self._max_message:
            raise BuilderError(
                f"`{during}`: the builder sent a message of more than {self._max_message:,} bytes; "
                "answer with less, or allow more with --max-message"
            )
        if self._process.poll() is not None:
            self._drain()
            self._silent = True

    def _read(self, descriptor: int) -> None:
        if descriptor == self._stdin:
            return  # the reading end is closed: the next write tells
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if descriptor == self._stderr:
            self._last_errors = (self._last_errors + data)[-_KEPT:]
        else:
            self._received += data
        if not data:
            self._poll.unregister(descriptor)
            self._silent = self._silent or descriptor == self._stdout

    def _drain(self) -> None:
        """Read what an ended process left in its pipes, as far as it goes."""
        with contextlib.suppress(OSError):
            while data := os.read(self._stderr, _CHUNK):
                self._last_errors = (self._last_errors + data)[-_KEPT:]
        with contextlib.suppress(OSError):
            while len(self._received) <= self._max_message and (data := os.read(self._stdout, _CHUNK)):
                self._received += data

    def _let_it_end(self, seconds: float) -> None:
        """Wait for it, reading along: it may have something left to say."""
        until = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < until:
            for descriptor, event in self._poll.poll(10):
                if event & _READABLE:
                    self._read(descriptor)
            del self._received[:]

    def _gone(self, during: str, otherwise: str) -> BuilderError:
        """What to say of a process that neither takes nor gives a line any more."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE / 2)
        self._drain()
        code = self._process.poll()
        if code is None:
            happened, cure = otherwise, "keep it open until it is asked to end"
        else:
            how = f"ended with exit code {code}" if code >= 0 else f"was ended by {_signal_name(-code)}"
            happened, cure = how, "it must run until its standard input ends"
        half = bytes(self._received[:_QUOTED]).decode(errors="replace")
        unfinished = f" in the middle of a line ({half!r})" if half else ""
        return BuilderError(f"`{during}`: the builder {happened}{unfinished}{self.last_words()}; {cure}")


def _signal_name(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
