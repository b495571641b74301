"""Checking or accepting snapshots: what the command and the pytest fixture both do."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from contextproof.conformance.snapshot.capture import Captured
from contextproof.conformance.snapshot.consequences import follows
from contextproof.conformance.snapshot.diff import Difference, compare
from contextproof.conformance.snapshot.forms import SESSIONS, Format
from contextproof.conformance.snapshot.store import Stored, contents, read, stored, write
from contextproof.conformance.snapshot.telling import told


class Compared(NamedTuple):
    """Two sets of snapshots beside each other."""

    old: Stored
    new: Stored
    difference: Difference

    def told(self, form: Format = "text", *, sessions: int = SESSIONS) -> str:
        """The difference and what follows from it for so many live sessions."""
        return told(self.difference, follows(self.old.facts, self.new.facts, sessions=sessions), form)


class Accepted(NamedTuple):
    """What accepting a set did to a folder: names of files."""

    written: tuple[str, ...]
    deleted: tuple[str, ...]
    kept: tuple[str, ...]


def beside(old: Path, new: Path) -> Compared:
    """Two folders beside each other. Raises BadFolder."""
    return _compared(read(old), read(new))


def check(captured: Captured, folder: Path) -> Compared:
    """What a folder holds beside what was just taken. Raises BadFolder."""
    return _compared(read(folder), stored(captured))


def accept(captured: Captured, folder: Path) -> Accepted:
    """Make a folder hold what was just taken. Raises BadFolder."""
    files = contents(captured)
    kept = tuple(name for name, text in files.items() if _holds(folder / name, text))
    deleted = write(folder, files)
    return Accepted(tuple(name for name in files if name not in kept), deleted, kept)


def _compared(old: Stored, new: Stored) -> Compared:
    return Compared(old, new, compare(old, new))


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()
