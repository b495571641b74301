"""A folder of snapshots is written whole, and nothing in it or beside it that is not ours is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextproof.conformance.snapshot.checking import accept, check
from contextproof.conformance.snapshot.store import FACTS, HASHES, BadFolder, contents, read, stored
from snapshot.making import captured

ONE = captured({"10-envelopes/recall/internal.txt": "| x\n", "20-hostile/a.txt": "| y\n"})
LESS = captured({"20-hostile/a.txt": "| y\n"})


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    folder = tmp_path / "kept"
    accept(ONE, folder)
    return folder


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_what_is_written_is_read_back(kept: Path) -> None:
    assert read(kept) == stored(ONE)
    assert check(ONE, kept).difference.is_empty
    assert _files(kept) == {name: text.encode() for name, text in contents(ONE).items()}


def test_accepting_again_writes_nothing(kept: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in kept.rglob("*.txt")}
    done = accept(ONE, kept)
    assert (done.written, done.deleted, len(done.kept)) == ((), (), 4)
    assert {path: path.stat().st_mtime_ns for path in kept.rglob("*.txt")} == before


def test_what_is_unused_is_deleted_with_its_folder_and_what_is_foreign_stays(kept: Path) -> None:
    (kept / "README.md").write_text("mine", encoding="utf-8")
    (kept / "notes").mkdir()
    (kept / "notes" / "a.txt").write_text("mine too", encoding="utf-8")
    done = accept(LESS, kept)
    assert done.deleted == ("10-envelopes/recall/internal.txt",)
    assert set(done.written) == {HASHES}
    assert set(_files(kept)) == {"20-hostile/a.txt", HASHES, FACTS, "README.md", "notes/a.txt"}
    assert not (kept / "10-envelopes").exists()


@pytest.mark.parametrize("name", ["20-hostile/mine.txt", "20-hostile/a.txt", FACTS])
def test_a_foreign_file_that_would_be_lost_is_refused_before_anything_is_written(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("not a snapshot", encoding="utf-8")
    before = _files(tmp_path)
    with pytest.raises(BadFolder, match=r"was not written by contextproof; move it out of the way"):
        accept(ONE, tmp_path)
    assert _files(tmp_path) == before


def test_nothing_is_written_through_a_link_that_leads_elsewhere(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "kept"
    elsewhere.mkdir()
    folder.mkdir()
    (folder / "10-envelopes").symlink_to(elsewhere)
    with pytest.raises(BadFolder, match="written below"):
        accept(ONE, folder)
    (folder / "10-envelopes").unlink()
    (folder / "20-hostile").mkdir()
    (folder / "20-hostile" / "a.txt").symlink_to(elsewhere / "target")
    with pytest.raises(BadFolder, match="no ordinary file"):
        accept(ONE, folder)
    assert _files(elsewhere) == {}


def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("", encoding="utf-8")
    with pytest.raises(BadFolder, match="is no folder"):
        accept(ONE, tmp_path / "kept")
    with pytest.raises(BadFolder, match="is no folder"):
        read(tmp_path / "kept")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("20-hostile/a.txt", b"\xff\xfe", "not UTF-8"),
        (HASHES, b"nonsense\n", "no hash and name"),
        (FACTS, b"[]", "no JSON object"),
        (FACTS, b"{", "no JSON object"),
        (FACTS, b"[" * 100_000, "no JSON object"),
        (FACTS, b'{"version": 2}', "not what this version writes"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(kept: Path, name: str, data: bytes, words: str) -> None:
    (kept / name).write_bytes(data)
    with pytest.raises(BadFolder, match=words) as told:
        read(kept)
    assert name in str(told.value)
    assert "kept" in str(told.value)


def test_a_folder_without_facts_is_none_of_snapshots(tmp_path: Path) -> None:
    with pytest.raises(BadFolder, match=r"no folder of snapshots.*--update"):
        read(tmp_path)
    with pytest.raises(BadFolder, match=r"does not exist.*--update"):
        read(tmp_path / "nowhere")
