"""A folder of snapshots: writing it, reading it, and telling what in it is not ours."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pydantic import ValidationError

from contextproof.conformance.shape import explain
from contextproof.conformance.snapshot.capture import ABOUT, FOLDERS, Captured
from contextproof.conformance.snapshot.facts import Facts
from contextproof.conformance.snapshot.shown import MARK

FACTS = "facts.json"
HASHES = "sha256.txt"
_HASHES_TITLE = f"{MARK}SHA-256 of the unaltered bytes that each file shows"
#: How the file of facts begins: its first member.
_FACTS_BEGIN = '{\n "about": "contextproof snapshot:'
_ABOUT_FACTS = "contextproof snapshot: what was measured"
_HASH_DIGITS = 64


class BadFolder(ValueError):
    """A folder cannot be read or written as snapshots; the message says which file, and what to do."""


class Stored(NamedTuple):
    """Snapshots as a folder holds them: texts and hashes by name, and what was measured."""

    texts: dict[str, str]
    hashes: dict[str, str]
    facts: Facts


def contents(captured: Captured) -> dict[str, str]:
    """Every file of a set, by name: the snapshots, their hashes, and the facts."""
    texts = {name: snapshot.text for name, snapshot in captured.files.items()}
    hashes = "".join(f"{snapshot.sha256}  {name}\n" for name, snapshot in captured.files.items())
    facts = {"about": _ABOUT_FACTS, **captured.facts.model_dump(mode="json")}
    first = {"about": facts.pop("about")}
    written = json.dumps(first | dict(sorted(facts.items())), indent=1, ensure_ascii=True)
    return texts | {HASHES: f"{_HASHES_TITLE}\n\n{hashes}", FACTS: f"{written}\n"}


def stored(captured: Captured) -> Stored:
    """A set as it would be read back from a folder."""
    return _parsed(contents(captured), "the snapshots just taken")


def read(folder: Path) -> Stored:
    """The snapshots in a folder.

    Raises:
        BadFolder: where it is no folder of snapshots, or a file of them cannot be read.
    """
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "does not exist"
        raise BadFolder(f"{folder} {what}; `contextproof snapshot --dir {folder} --update` writes snapshots")
    if not (folder / FACTS).is_file() or not (folder / HASHES).is_file():
        raise BadFolder(
            f"{folder} holds no {FACTS} and {HASHES}, so it is no folder of snapshots; "
            f"`contextproof snapshot --dir {folder} --update` writes them"
        )
    names = (*present(folder), HASHES, FACTS)
    return _parsed({name: _text(folder, name) for name in names}, str(folder))


def present(folder: Path) -> tuple[str, ...]:
    """Names of the snapshots in a folder, hashes and facts apart: whatever text stands where ours stand."""
    found = [path for inner in FOLDERS for path in sorted((folder / inner).rglob("*.txt"))]
    files = (path for path in (folder / ABOUT, *found) if path.is_file())
    return tuple(sorted(path.relative_to(folder).as_posix() for path in files))


def write(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """Make a folder hold exactly these files of ours; returns the names of those deleted.

    Nothing outside of the folder is touched, and nothing in it that we did not write.

    Raises:
        BadFolder: where that cannot be done; nothing is written then.
    """
    refuse_no_folder(folder)
    unused = tuple(name for name in present(folder) if name not in files)
    for name in (*files, *unused):
        refuse_what_is_not_ours(folder, name)
    for name, text in files.items():
        write_one(folder, name, text)
    for name in unused:
        delete_one(folder, name)
    return unused


def refuse_no_folder(folder: Path) -> None:
    """Raise BadFolder where snapshots cannot be kept because something else has that name."""
    if folder.exists() and not folder.is_dir():
        raise BadFolder(f"{folder} is no folder; name one that is, or one that does not exist yet")


def write_one(folder: Path, name: str, text: str) -> None:
    """Write one file, whole or not at all; where it holds that text already, it is left alone."""
    path = folder / PurePosixPath(name)
    data = text.encode()
    if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(data)
    beside.replace(path)


def delete_one(folder: Path, name: str) -> None:
    """Delete one file, and folders that are empty then."""
    path = folder / PurePosixPath(name)
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent == folder or any(parent.iterdir()):
            return
        parent.rmdir()


def is_ours(folder: Path, name: str) -> bool:
    """Whether a file begins as those begin that we write."""
    begins = (_FACTS_BEGIN if name == FACTS else MARK).encode()
    return (folder / PurePosixPath(name)).read_bytes().startswith(begins)


def refuse_what_is_not_ours(folder: Path, name: str) -> None:
    """Raise BadFolder where writing or deleting a file would touch what we did not write."""
    path = folder / PurePosixPath(name)
    if path.exists() or path.is_symlink():
        if not path.is_file() or path.is_symlink():
            raise BadFolder(
                f"{path} is no ordinary file; move it out of the way of the snapshot of that name"
            )
        if not is_ours(folder, name):
            raise BadFolder(
                f"{path} was not written by contextproof; move it out of the way, or choose another --dir"
            )
    for parent in path.parents:
        if parent == folder:
            return
        if parent.is_symlink() or (parent.exists() and not parent.is_dir()):
            raise BadFolder(f"{parent} is no folder of its own; snapshots are written below {folder} only")


def _text(folder: Path, name: str) -> str:
    try:
        return (folder / PurePosixPath(name)).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise BadFolder(f"{folder / name} is not UTF-8 (byte {error.start})") from None


def _parsed(files: Mapping[str, str], where: str) -> Stored:
    texts = {name: text for name, text in files.items() if name not in (HASHES, FACTS)}
    return Stored(texts, _hashes(files[HASHES], where), _facts(files[FACTS], where))


def _hashes(text: str, where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        digest, _, name = line.partition("  ")
        if len(digest) != _HASH_DIGITS or not name:
            raise BadFolder(
                f"{HASHES} of {where} has a line that is no hash and name: {line[:_HASH_DIGITS]!r}"
            )
        found[name] = digest
    return found


def _facts(text: str, where: str) -> Facts:
    try:
        document = json.loads(text)
        members = {name: value for name, value in document.items() if name != "about"}
        return Facts.from_json(json.dumps(members))
    except ValidationError as error:
        raise BadFolder(f"{FACTS} of {where} is not what this version writes: {explain(error)}") from None
    except (ValueError, AttributeError, RecursionError) as error:
        raise BadFolder(f"{FACTS} of {where} is no JSON object: {error}") from None
