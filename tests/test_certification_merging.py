"""Shards come to what one machine comes to, and what does not belong together is not joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextproof.conformance.certification import command as c
from contextproof.conformance.certification import record as r
from contextproof.conformance.certification.budget import Budget
from contextproof.conformance.certification.folder import append, finish
from contextproof.conformance.certification.merging import CannotMerge, merge
from contextproof.conformance.certification.outcome import outcome_of
from contextproof.conformance.certification.reading import Run, read
from contextproof.conformance.progress import unheard
from contextproof.conformance.target import Target
from report.runs import REFERENCE, STAMPED, run_of


def write(folder: Path, run: Run, **changes: object) -> Path:
    """A finished record of a run whose header says something else."""
    folder.mkdir()
    header = r.Header.model_validate(run.header.model_copy(update=changes).model_dump())
    append(folder / r.FILE, b"".join(map(r.written, (header, *run.sessions))))
    finish(folder / r.FILE, run, outcome_of(run))
    return folder


def half(run: Run, number: int) -> Run:
    """One of a run's two units."""
    own = tuple(one for one in run.sessions if one.unit == run.units[number])
    return Run(run.header, sessions=own)


@pytest.fixture
def halves(tmp_path: Path) -> list[Path]:
    run = run_of(STAMPED)
    return [write(tmp_path / f"part {n}", half(run, n), shard=r.Shard(number=n + 1, of=2)) for n in range(2)]


def test_parts_come_to_what_the_whole_comes_to_in_any_order(tmp_path: Path, halves: list[Path]) -> None:
    one = merge(halves, tmp_path / "one")
    other = merge(halves[::-1], tmp_path / "other")
    assert one == other == outcome_of(run_of(STAMPED))
    whole = read(tmp_path / "one")
    assert whole.missing == ()
    assert whole.header.shard is None
    assert whole.footer is not None
    assert whole.footer.complete


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"suite": "0.0.9"}, "suite version: 0.0.9 and|suite version: 0.1.0 and 0.0.9"),
        ({"builder": Target(factory="other:builder")}, "builder: .* and other:builder"),
        ({"budget": Budget(profile="gate", seed=6, sessions=1)}, "seed: 5 and 6"),
        ({"budget": Budget(profile="gate", seed=5, nonce="x", sessions=1)}, "nonce"),
        ({"budget": Budget(profile="gate", seed=5, sessions=2)}, "budget"),
        ({"tokenizers": (("o200k_base", "0"),)}, "tokenizers"),
    ],
)
def test_what_differs_is_refused_with_the_reason(
    tmp_path: Path, halves: list[Path], changes: dict[str, object], words: str
) -> None:
    other = write(tmp_path / "other", half(run_of(STAMPED), 1), **changes)
    with pytest.raises(CannotMerge, match=words):
        merge([halves[0], other], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_another_version_of_the_builder_is_refused(tmp_path: Path, halves: list[Path]) -> None:
    manifest = run_of(STAMPED).header.manifest.model_copy(update={"version": "1.1"})
    other = write(tmp_path / "other", half(run_of(STAMPED), 1), manifest=manifest)
    with pytest.raises(CannotMerge, match="name and version"):
        merge([halves[0], other], tmp_path / "out")


def test_sessions_held_twice_and_unfinished_records_are_refused(tmp_path: Path, halves: list[Path]) -> None:
    with pytest.raises(CannotMerge, match="both hold the sessions of unit scripted-rotations"):
        merge([halves[0], halves[0]], tmp_path / "out")
    file = halves[1] / r.FILE
    file.write_bytes(file.read_bytes().rpartition(b'{"line":"footer"')[0])
    with pytest.raises(CannotMerge, match="no footer"):
        merge(halves, tmp_path / "out")
    merge(halves[:1], tmp_path / "first alone")
    assert read(tmp_path / "first alone").missing == ("explicit-sessions",)


@pytest.mark.parametrize(
    ("text", "seeded", "words"),
    [("9/8", True, "K/N"), ("0/8", True, "K/N"), ("three", True, "K/N"), ("3/8", False, "--seed")],
)
def test_a_shard_that_cannot_be_is_told(text: str, seeded: bool, words: str) -> None:
    with pytest.raises(c.BadUsage, match=words):
        c.read_shard(text, Budget(profile="certify", seed=1, sessions=1), seeded=seeded)


@pytest.mark.slow
def test_shards_that_were_played_come_to_what_one_machine_comes_to(tmp_path: Path) -> None:
    budget = Budget(profile="smoke", seed=3, sessions=12, only=("CTX-15",))

    def certified(name: str, shard: r.Shard | None) -> Path:
        settings = c.Settings(builder=Target(factory=REFERENCE), budget=budget, shard=shard)
        folder = tmp_path / name
        c.certify(settings, folder, workers=1, resume=False, known={}, minutes=0, progress=unheard)
        return folder

    whole = certified("whole", None)
    parts = [certified(f"part {n}", r.Shard(number=n, of=3)) for n in (1, 2, 3)]
    merged = merge(parts, tmp_path / "merged")
    assert merged == outcome_of(read(whole))
    assert merged.sessions > 12
