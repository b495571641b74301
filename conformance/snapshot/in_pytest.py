"""Snapshots inside somebody's own test suite, by syrupy: its options, its report, our files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
from syrupy.data import Snapshot, SnapshotCollection, SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SerializableData, SerializedData, SnapshotIndex

from contextproof.conformance.builder import BuilderError
from contextproof.conformance.snapshot.capture import ABOUT, Captured, capture
from contextproof.conformance.snapshot.checking import check
from contextproof.conformance.snapshot.store import (
    FACTS,
    HASHES,
    BadFolder,
    contents,
    delete_one,
    is_ours,
    present,
    refuse_what_is_not_ours,
    write_one,
)
from contextproof.conformance.target import Target

_TOP = (ABOUT, HASHES, FACTS)


class SnapshotFolder(SingleFileSnapshotExtension):
    """Keeps a test's snapshots in a folder of their own, under the names that the command gives them.

    Subclassed for each folder: syrupy asks classes, not instances, where files are.
    """

    folder: ClassVar[Path]
    test: ClassVar[str]
    file_extension = "txt"
    _write_mode = WriteMode.TEXT

    def serialize(self, data: SerializableData, **_: Any) -> SerializedData:
        """The text itself."""
        return str(data)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """The folder, wherever the test is."""
        return str(cls.folder)

    @classmethod
    def discovery_dirname(cls, *, test_location: PyTestLocation) -> str:
        """The same."""
        return str(cls.folder)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        """What syrupy's report calls a file."""
        return f"{cls.test}[{index}]"

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        """The file of a name."""
        return str(cls.folder / str(index))

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        """Every file in the folder is the one test's."""
        return True

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        """The files of ours in the folder; what else is in it is no affair of syrupy's."""
        found = SnapshotCollections()
        top = (name for name in _TOP[1:] if (self.folder / name).is_file())
        for name in (*present(self.folder), *top):
            if is_ours(self.folder, name):
                found.add(self.read_snapshot_collection(snapshot_location=str(self.folder / name)))
        return found

    def read_snapshot_collection(self, *, snapshot_location: str) -> SnapshotCollection:
        """A file as syrupy counts it."""
        name = Path(snapshot_location).relative_to(self.folder).as_posix()
        collection = SnapshotCollection(location=snapshot_location)
        collection.add(Snapshot(name=f"{self.test}[{name}]"))
        return collection

    def read_snapshot_data_from_location(
        self, *, snapshot_location: str, snapshot_name: str, session_id: str
    ) -> SerializableData | None:
        """The text of a file, newlines as they are."""
        path = Path(snapshot_location)
        return path.read_bytes().decode(errors="replace") if path.is_file() else None

    @classmethod
    def write_snapshot_collection(
        cls, *, snapshot_collection: SnapshotCollection, name_order: dict[str, int] | None = None
    ) -> None:
        """Write a file as the command does."""
        name = Path(snapshot_collection.location).relative_to(cls.folder).as_posix()
        data = next(iter(snapshot_collection)).data
        assert isinstance(data, str)
        write_one(cls.folder, name, data)

    def delete_snapshots(self, *, snapshot_location: str, snapshot_names: set[str]) -> None:
        """Delete a file as the command does."""
        delete_one(self.folder, Path(snapshot_location).relative_to(self.folder).as_posix())


@cache
def _kept_in(folder: Path, test: str) -> type[SnapshotFolder]:
    return type("SnapshotFolder", (SnapshotFolder,), {"folder": folder, "test": test})


def checker(request: pytest.FixtureRequest, chosen: Callable[[], Target]) -> Callable[..., None]:
    """What the fixture ``contextproof_snapshots`` is: see `plugin`."""

    def check_snapshots(builder: str | Target | None = None, folder: str | Path = "snapshots") -> None:
        """Compare what a builder renders with the snapshots in a folder.

        Args:
            builder: ``package.module:factory``, or a `Target`; the one of ``--builder`` if not given.
            folder: where they are; a relative path is taken from the test's own folder.
        """
        target = Target(factory=builder) if isinstance(builder, str) else builder or chosen()
        try:
            _check(request, capture(target), request.path.parent / folder)
        except BuilderError as error:
            pytest.fail(f"builder error: {error}", pytrace=False)
        except BadFolder as error:
            pytest.fail(str(error), pytrace=False)

    return check_snapshots


def _check(request: pytest.FixtureRequest, captured: Captured, folder: Path) -> None:
    option = request.config.option
    files = contents(captured)
    unused = [name for name in present(folder) if name not in files]
    if option.update_snapshots:
        for name in (*files, *unused):
            refuse_what_is_not_ours(folder, name)
    told = _told(captured, folder)
    snapshot = request.getfixturevalue("snapshot").use_extension(_kept_in(folder, request.node.name))
    differing = [name for name, text in files.items() if snapshot(name=name) != text]
    if option.update_snapshots and not option.no_cleanup:
        for name in unused:
            delete_one(folder, name)
    elif unused and not option.warn_unused_snapshots:
        differing += unused
    if differing:
        again = "to accept this, run pytest again with --snapshot-update"
        pytest.fail(f"{told}\n{again}", pytrace=False)


def _told(captured: Captured, folder: Path) -> str:
    try:
        return check(captured, folder).told()
    except BadFolder as error:
        return f"{error}; or run pytest with --snapshot-update"
