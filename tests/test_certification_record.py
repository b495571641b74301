"""The run record: one file that grows, from which alone all else is worked out."""

from __future__ import annotations

import getpass
import json
import platform
from pathlib import Path

import pytest

from contextproof.conformance.certificate.making import certificate
from contextproof.conformance.certification import record as r
from contextproof.conformance.certification.budget import Budget
from contextproof.conformance.certification.folder import Folder, append, finish, part, planned
from contextproof.conformance.certification.outcome import outcome_of
from contextproof.conformance.certification.reading import BadRecord, read
from contextproof.conformance.schemas.models import schemas
from report.runs import REFERENCE, STAMPED, UNITS, run_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A record that still grows: header and sessions."""
    run, path = run_of(STAMPED), tmp_path / "run" / r.FILE
    path.parent.mkdir()
    append(path, b"".join(map(r.written, (run.header, *run.sessions))))
    return path


def test_a_record_is_read_while_it_grows_and_says_that_it_has_no_footer(path: Path) -> None:
    run = read(path.parent)
    assert run.footer is None
    assert "no footer" in run.state
    assert run.sessions == run_of(STAMPED).sessions
    with path.open("ab") as stream:
        stream.write(b'{"line":"session","unit":"x"')
    assert read(path).torn
    assert "torn" in read(path).state
    assert read(path).sessions == run.sessions


def test_the_outcome_is_worked_out_from_the_record_alone(path: Path) -> None:
    finish(path, read(path), outcome_of(read(path)))
    run = read(path)
    assert run.footer is not None
    assert run.state == ""
    assert outcome_of(run) == outcome_of(run_of(STAMPED))
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    verdicts = {line["requirement"]: line["verdict"] for line in lines if line["line"] == "verdict"}
    assert verdicts == {result.requirement: result.verdict for result in outcome_of(run).results}
    assert run.footer.sessions == len(run.sessions)


def test_the_order_of_lines_does_not_matter_and_a_unit_counts_only_whole(path: Path) -> None:
    header, *sessions = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + b"".join(reversed(sessions)))
    assert outcome_of(read(path)) == outcome_of(run_of(STAMPED))
    path.write_bytes(header + b"".join([*sessions[1:], sessions[-1]]))
    assert read(path).done == {UNITS[0].name}  # the other lacks a session
    assert read(path).missing == (UNITS[1].name,)


def test_an_altered_record_is_noticed(path: Path) -> None:
    finish(path, read(path), outcome_of(read(path)))
    lines = [r.LINE.validate_json(line) for line in path.read_bytes().splitlines()]
    better = [_without_violations(line) if isinstance(line, r.SessionLine) else line for line in lines]
    path.write_bytes(b"".join(map(r.written, better)))
    with pytest.raises(BadRecord, match="altered"):
        outcome_of(read(path))


def _without_violations(session: r.SessionLine) -> r.SessionLine:
    held = {name: (judged, 0, *seen) for name, (judged, _, *seen) in session.evidence.items()}
    return session.model_copy(update={"evidence": held})


def test_it_names_no_host_no_person_and_no_folder(path: Path) -> None:
    header = json.loads(path.read_bytes().splitlines()[0])
    header.pop("manifest")
    told = json.dumps(header)
    for secret in (platform.node(), str(Path.home()), str(Path.cwd()), f'"{getpass.getuser()}"'):
        assert secret not in told
    assert header["environments"][0].keys() == {"python", "implementation", "platform"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "does not begin with a header"),
        (b"not json\n", "line 1"),
        (b'{"line":"footer"}\n', "line 1"),
        (b'{"line":"round","units":[]}\n', "does not begin with a header"),
    ],
)
def test_what_is_no_record_is_told_with_the_place(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "no.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadRecord, match=words):
        read(path)
    with pytest.raises(BadRecord, match="cannot be read"):
        read(tmp_path / "nowhere.jsonl")


def test_a_record_judged_by_other_requirements_is_not_judged_again(path: Path) -> None:
    data = path.read_bytes().replace(r.requirement_set().sha256.encode(), b"0" * 64)
    path.write_bytes(data)
    with pytest.raises(BadRecord, match="whose requirements are not those"):
        read(path)


def test_the_schema_of_a_line_is_published() -> None:
    tags = schemas()["run-record"]["discriminator"]["mapping"]
    assert set(tags) == {"header", "round", "session", "known", "verdict", "counterexample", "footer"}


def test_a_torn_line_is_cut_off_when_a_run_is_taken_up(path: Path) -> None:
    with path.open("ab") as stream:
        stream.write(b'{"line":"sess')
    Folder.resume(path.parent)
    assert path.read_bytes().endswith(b"\n")
    assert not read(path).torn


def test_what_workers_left_is_moved_in_once(path: Path) -> None:
    header, *sessions = path.read_bytes().splitlines(keepends=True)
    scripted = [line for line in sessions if b'"unit":"scripted-rotations"' in line]
    path.write_bytes(header + b"".join(scripted))
    box = path.parent / "units"
    box.mkdir()
    for unit in UNITS:
        own = [line for line in sessions if f'"unit":"{unit.name}"'.encode() in line]
        (box / f"{unit.name}.jsonl").write_bytes(b"".join(own))
    folder = Folder.resume(path.parent)
    assert not list(box.iterdir())
    assert len(read(path).sessions) == len(sessions)
    assert folder.has_failed(1)
    assert not folder.has_failed(90)


def test_shards_are_all_units_once() -> None:
    units = planned(run_of(REFERENCE).header.budget)
    shards = [part(units, r.Shard(number=number, of=8)) for number in range(1, 9)]
    assert sorted(unit.name for shard in shards for unit in shard) == sorted(unit.name for unit in units)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1
    with pytest.raises(ValueError, match="at most"):
        r.Shard(number=9, of=8)


def test_a_soaks_rounds_are_in_the_record_and_taken_up_again(tmp_path: Path) -> None:
    budget = Budget(profile="soak", seed=1, sessions=1, only=("CTX-15",))
    names = tuple(unit.name for unit in planned(budget))
    header = run_of(REFERENCE).header.model_copy(update={"budget": budget, "units": names})
    folder = Folder.start(tmp_path / "run", header)
    folder.next_round()
    again = Folder.resume(tmp_path / "run")
    assert again.units() == folder.units()
    assert len(again.units()) > len(names)
    assert read(tmp_path / "run").missing == tuple(unit.name for unit in folder.units())


def test_an_interrupted_run_leaves_a_record_that_can_be_reported(path: Path) -> None:
    document = certificate(read(path))
    assert not document.complete
    assert document.level is None
