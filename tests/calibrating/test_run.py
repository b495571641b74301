"""Engines of known verdict are measured, and a calibration can be taken up where it was left."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextproof.calibration.faulty import faulty_engines
from contextproof.calibration.null import NULL
from contextproof.calibration.odd import ODD
from contextproof.conformance.calibrating import run
from contextproof.conformance.calibrating.depth import Depth, jobs, known_engines
from contextproof.conformance.calibrating.job import Job, Kind, Measured
from contextproof.conformance.calibrating.measuring import measure
from contextproof.conformance.calibrating.run import Folder, OtherCalibration, Settings, work
from contextproof.conformance.cli import main
from contextproof.conformance.progress import unheard

SETTINGS = Settings(suite="1.0", depth=Depth.MATRIX, seed=1)


def _job(name: str, **changes: object) -> Job:
    job = next(job for job in jobs(Depth.MATRIX, 1, [name]))
    return job.model_copy(update=changes)


def test_a_faulty_engine_is_detected_made_small_and_missed_by_who_is_blind() -> None:
    record = measure(_job("TimestampInThePrefix"))
    assert record.told == record.job.breaks
    assert record.plays[0].first is not None
    assert record.found is not None
    assert record.steps is not None
    assert record.steps <= len(record.found.scenario.steps)
    assert record.blinded is False
    assert record.trouble == ()


def test_sessions_are_played_to_the_end_where_hits_are_counted() -> None:
    record = measure(_job("TimestampInThePrefix", to_the_end=True, sessions=8, seeds=(1, 2), shrinks=False))
    first, second = record.plays
    assert (first.generated, second.generated) == (8, 8)
    assert first.explicit > 0
    assert second.explicit == 0
    assert 0 < first.hits <= 8
    assert record.steps is None


def test_a_null_engine_leaves_evidence_of_everything_it_was_put_to() -> None:
    record = measure(_job("AlwaysRefuse", sessions=1, source="openings"))
    assert record.found is not None
    assert record.blinded is None
    assert {evidence.requirement for evidence in record.evidence} >= {"CTX-07.6"}


def test_a_matrix_measures_every_engine_and_a_sample_a_few_of_each_kind() -> None:
    names = {job.name for job in jobs(Depth.MATRIX, 1)}
    assert names == {engine.name for engine in known_engines()}
    assert len(names) == len(faulty_engines()) + len(ODD) + len(NULL)
    drawn = jobs(Depth.SAMPLE, 1)
    assert {job.kind for job in drawn} == set(Kind)
    assert drawn == jobs(Depth.SAMPLE, 1)
    assert {job.name for job in drawn} != {job.name for job in jobs(Depth.SAMPLE, 2)}


def test_jobs_have_titles_of_their_own() -> None:
    for depth in Depth:
        titles = [job.title for job in jobs(depth, 1)]
        assert len(titles) == len(set(titles))


def test_what_is_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [_job("AlwaysRefuse", source="openings", sessions=1), _job("Empty", source="openings")]
    asked: list[list[Job]] = []

    def measured(missing: list[Job], workers: int) -> list[Measured]:
        asked.append(missing)
        plain = Measured(job=wanted[0], plays=(), told="", found=None, steps=None, blinded=None, evidence=())
        return [plain.model_copy(update={"job": job}) for job in missing]

    monkeypatch.setattr(run, "_measured", measured)
    work(Folder(tmp_path / "run", SETTINGS), wanted[:1], 1, unheard)
    records = work(Folder(tmp_path / "run", SETTINGS), wanted, 1, unheard)
    assert asked == [wanted[:1], wanted[1:]]
    assert [record.job for record in records] == wanted


def test_a_job_that_changed_is_done_again(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "run", SETTINGS)
    job = _job("AlwaysRefuse", source="openings", sessions=1)
    folder.keep(Measured(job=job, plays=(), told="", found=None, steps=None, blinded=None, evidence=()))
    assert folder.done(job) is not None
    assert folder.done(job.model_copy(update={"sessions": 2})) is None


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OtherCalibration, match="is not the folder of a calibration"):
        Folder(tmp_path, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_of_another_seed_is_left_alone(tmp_path: Path) -> None:
    Folder(tmp_path / "run", SETTINGS)
    with pytest.raises(OtherCalibration, match="seed 1"):
        Folder(tmp_path / "run", SETTINGS.model_copy(update={"seed": 2}))


def _exits(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["contextproof", "calibrate", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    return int(exit_.value.code or 0)


def test_an_engine_that_is_not_there_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _exits(monkeypatch, "Nonexistent") == 2
    assert "there is no engine 'Nonexistent'" in capsys.readouterr().err


def test_two_depths_at_once_are_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _exits(monkeypatch, "--sample", "--full") == 2


@pytest.mark.slow
def test_one_engine_can_be_measured_by_name_and_taken_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path / "run"), "-n", "1"]
    assert _exits(monkeypatch, "TimestampInThePrefix", *out, "--json") == 0
    first = capsys.readouterr().out
    assert '"told": "CTX-03.2"' in first
    assert _exits(monkeypatch, "TimestampInThePrefix", *out, "--json") == 0
    assert capsys.readouterr().out == first
    assert _exits(monkeypatch, "TimestampInThePrefix", *out, "--seed", "2") == 2
