"""The matrix says what falls short: a missed fault, a wrong name, a false alarm, a gap."""

from __future__ import annotations

from typing import Any

import pytest

from contextproof.calibration.inseparable import INSEPARABLE
from contextproof.calibration.null import EXCUSED
from contextproof.conformance.calibrating.job import Job, Kind, Measured, Play
from contextproof.conformance.calibrating.matrix import (
    Matrix,
    complaints,
    in_certification,
    independent,
    matrix,
    wilson,
)
from contextproof.conformance.evidence import Evidence
from contextproof.conformance.report.calibration import figures, markdown
from contextproof.conformance.requirements import all_requirements


def _play(**changes: Any) -> Play:
    play = Play(seed=1, first=3, explicit=5, generated=0, hits=0, violated=(("CTX-03.2", 2),))
    return play.model_copy(update=changes)


def _record(kind: Kind = Kind.FAULTY, plays: tuple[Play, ...] | None = None, **changes: Any) -> Measured:
    job = Job(
        name=changes.pop("name", "Some"),
        kind=kind,
        spec="m:f",
        breaks=changes.pop("breaks", "CTX-03.2") if kind is Kind.FAULTY else "",
        source="sessions",
        seeds=(1,),
        sessions=40,
    )
    faulty: dict[str, Any] = {"told": "CTX-03.2", "steps": 4, "blinded": False} if kind is Kind.FAULTY else {}
    record = Measured(
        job=job,
        plays=plays if plays is not None else (_play(),),
        told="",
        found=None,
        steps=None,
        blinded=None,
        evidence=(),
    )
    return record.model_copy(update={**faulty, **changes})


def _matrix(*records: Measured, whole: bool = False) -> Matrix:
    return matrix("1.0", "matrix", 1, records, whole=whole)


def test_a_fault_detected_by_what_it_breaks_is_right() -> None:
    found = _matrix(_record())
    assert complaints(found) == []
    assert found.faulty[0].is_right
    assert found.faulty[0].by_hand
    assert figures(found)[0].endswith(": 1 of 1")


def test_a_fault_that_nothing_showed_is_told() -> None:
    missed = _record(plays=(_play(first=None, violated=(), generated=40),), told="", steps=None, blinded=None)
    assert complaints(_matrix(missed)) == ["Some was detected for 0 of 1 seeds"]


def test_a_fault_missed_for_one_seed_is_told() -> None:
    plays = (_play(explicit=0, generated=9, hits=1), _play(seed=2, first=None, explicit=0, generated=40))
    found = _matrix(_record(plays=plays))
    assert complaints(found) == ["Some was detected for 1 of 2 seeds"]
    assert not found.faulty[0].by_hand


def test_a_session_written_down_shows_it_for_every_seed() -> None:
    plays = (_play(), _play(seed=2, first=None, explicit=0, generated=40, violated=()))
    row = _matrix(_record(plays=plays)).faulty[0]
    assert (row.detected, row.seeds, row.by_hand) == (2, 2, True)


def test_a_fault_told_by_another_name_is_told() -> None:
    told = complaints(_matrix(_record(told="CTX-04.1")))
    assert told == ["Some breaks CTX-03.2, and a report names CTX-04.1 first"]


def test_a_matrix_that_cannot_fail_is_told() -> None:
    told = complaints(_matrix(_record(blinded=True)))
    assert told == ["Some still counts as detected while CTX-03.2 always holds"]


def test_a_false_alarm_is_told_and_so_is_an_answer_outside_the_contract() -> None:
    accused = _record(Kind.ODD, name="other", trouble=("half a line",))
    told = complaints(_matrix(accused))
    assert told == [
        "other conforms, and CTX-03.2 accuses it",
        "other answered outside the contract: half a line",
    ]


def test_an_odd_engine_that_nothing_accuses_is_right() -> None:
    found = _matrix(_record(Kind.ODD, plays=(_play(violated=(), first=None),)))
    assert complaints(found) == []
    assert found.odd[0].sessions == 5


def test_slow_detection_and_long_counterexamples_are_told() -> None:
    slow = _record(plays=(_play(first=41, explicit=5, generated=40, hits=1),), steps=9)
    assert complaints(_matrix(slow)) == [
        "half of the faults take more than 41 sessions to show",
        "half of the counterexamples have more than 9 steps",
    ]


def test_a_whole_matrix_tells_of_requirements_that_no_engine_breaks() -> None:
    told = complaints(_matrix(_record(), whole=True))
    others = {r.id for r in all_requirements()} - {"CTX-03.2"}
    assert [line for line in told if line.startswith("no faulty engine breaks")] == [
        f"no faulty engine breaks {r.id}" for r in all_requirements() if r.id in others
    ]


def test_independence_needs_an_engine_that_breaks_nothing_else() -> None:
    beside = _play(violated=(("CTX-03.2", 1), ("CTX-13.3", 1)))
    assert independent(_matrix(_record(plays=(beside,)))) == {}
    both = _matrix(_record(plays=(beside,)), _record(name="Alone"))
    assert independent(both) == {"CTX-03.2": "Alone"}


def test_a_null_engine_passes_only_what_was_put_to_the_test_in_every_way() -> None:
    requirement = all_requirements()[0]
    seen = Evidence(
        requirement=requirement.id,
        sessions=3,
        judgements=9,
        witnesses=tuple((witness, 1) for witness in requirement.witnesses),
    )
    found = _matrix(_record(Kind.NULL, evidence=(seen,)))
    assert found.null[0].passes == (requirement.id,)
    unseen = seen.model_copy(update={"witnesses": ()})
    assert _matrix(_record(Kind.NULL, evidence=(unseen,))).null[0].passes == ()


@pytest.mark.parametrize(
    ("hits", "sessions", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)],
)
def test_the_interval_is_wilsons(hits: int, sessions: int, low: float, high: float) -> None:
    assert wilson(hits, sessions) == pytest.approx((low, high), abs=1e-4)


def test_the_chance_of_a_certification_grows_with_the_share_and_the_strategy() -> None:
    rare, common = in_certification(1, 200, "sessions"), in_certification(20, 200, "sessions")
    assert rare.low <= rare.estimate <= rare.high
    assert rare.estimate < common.estimate <= 1000
    assert in_certification(1, 200, "openings").estimate > rare.estimate
    assert in_certification(0, 200, "sessions").estimate == 0


def test_the_page_has_every_row() -> None:
    page = "\n".join(markdown(_matrix(_record(), _record(Kind.ODD, name="other"), _record(Kind.NULL))))
    assert "| Some | CTX-03.2 | as named | 1/1 |" in page
    assert "| other | 5 | CTX-03.2 |" in page
    assert "conforms, and CTX-03.2 accuses it" in page


@pytest.mark.parametrize("table", [INSEPARABLE, EXCUSED])
def test_what_is_excused_is_a_requirement_and_has_a_reason(table: dict[str, str]) -> None:
    assert set(table) <= {requirement.id for requirement in all_requirements()}
    assert all(reason.strip() for reason in table.values())
