"""Certification: reproducible in any number of workers, resumable, and honest about gaps."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from dataclasses import replace as replaced
from pathlib import Path

import pytest
from hypothesis import strategies as st

from contextproof import scenarios, strategies
from contextproof.conformance.adapters.in_process import InProcess, load
from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.certification import command as c
from contextproof.conformance.certification.budget import SESSIONS, UNIT_SESSIONS, Budget, units
from contextproof.conformance.certification.folder import Folder, planned
from contextproof.conformance.certification.generation import GenerationFailed, generate
from contextproof.conformance.certification.outcome import (
    LEAST_SESSIONS,
    Level,
    Outcome,
    counterexamples,
    outcome,
    outcome_of,
)
from contextproof.conformance.certification.record import FILE, Header, Shard, header
from contextproof.conformance.certification.run import do_unit, work
from contextproof.conformance.certification.unit import play_unit
from contextproof.conformance.counterexample import Counterexample, Replay, replay
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import Verdict
from contextproof.reference_impl.engine import ReferenceEngine

REFERENCE = "contextproof.reference_impl.engine:factory"
STAMPED = "contextproof.calibration.faulty.prefix:TimestampInThePrefix"


def _silent(_what: str, _done: int, _of: int) -> None:
    pass


def _budget(**fields: object) -> Budget:
    return Budget.model_validate({"profile": "certify", "seed": 3, "sessions": 2, "nonce": "", **fields})


def _settings(**fields: object) -> c.Settings:
    return c.Settings(builder=Target(factory=REFERENCE), budget=_budget(profile="smoke", **fields))


def _header(budget: Budget, builder: Builder, spec: str = REFERENCE) -> Header:
    return header(Target(factory=spec), builder, budget, tuple(unit.name for unit in planned(budget)))


def _started(path: Path, budget: Budget, spec: str = REFERENCE) -> Folder:
    return Folder.start(path, _header(budget, load(spec), spec))


def test_a_budget_is_shared_out_into_the_same_units_every_time() -> None:
    budget = _budget(sessions=2 * UNIT_SESSIONS + 1)
    found = units(budget, ["a", "b"], ["x/y"])
    assert found == units(budget, ["a", "b"], ["x/y"])
    assert len({unit.name for unit in found}) == len(found)
    assert all("/" not in unit.name for unit in found)
    generated = [unit for unit in found if unit.kind == "generated"]
    assert sum(unit.sessions for unit in generated if unit.source == "a") == budget.sessions
    assert len({unit.seed for unit in generated}) == len(generated)


@pytest.mark.parametrize("change", [{"seed": 4}, {"nonce": "a verifier's"}])
def test_another_seed_or_nonce_gives_other_sessions(change: dict[str, object]) -> None:
    def seeds(budget: Budget) -> set[int]:
        return {unit.seed for unit in units(budget, ["a"], []) if unit.kind == "generated"}

    assert not seeds(_budget(sessions=60)) & seeds(_budget(sessions=60, **change))


def test_the_same_seed_generates_the_same_sessions_and_another_does_not() -> None:
    strategy = strategies.by_key()["sessions"]
    assert generate(strategy, 11, 8) == generate(strategy, 11, 8)
    assert generate(strategy, 11, 8) != generate(strategy, 12, 8)


def test_a_strategy_that_cannot_generate_is_our_fault_and_says_so() -> None:
    impossible: st.SearchStrategy[Scenario] = st.nothing()
    with pytest.raises(GenerationFailed):
        generate(impossible, 1, 1)


def test_a_session_in_which_the_builder_crashes_costs_only_itself() -> None:
    class Moody(ReferenceEngine):
        def build(self, context, plan, inputs):  # type: ignore[no-untyped-def]
            if any("crash" in getattr(item, "text", "") for item in inputs.log):
                raise RuntimeError("out of sorts")
            return super().build(context, plan, inputs)

    def session(name: str, text: str) -> Scenario:
        document = {
            "name": name,
            "opening": {
                "model": {"name": "m", "body_tokens": 4000},
                "policy": [{"id": "p", "text": "Be kind."}],
            },
            "steps": [{"step": "user", "id": "u", "text": text}, {"step": "request"}],
        }
        return Scenario.from_json(json.dumps(document))

    unit = units(_budget(), ["sessions"], [])[1]
    sessions = [session("one", "fine"), session("two", "crash"), session("three", "fine")]
    lines = play_unit(unit, sessions, _budget(), InProcess(Moody()), None, scenarios.corpus)
    assert [(line.name, line.trouble is None) for line in lines] == [
        ("one", True),
        ("two", False),
        ("three", True),
    ]
    assert "out of sorts" in (lines[1].trouble or "")
    found = outcome(_header(_budget(sessions=SESSIONS["certify"]), InProcess(Moody())), lines)
    assert found.sessions == 2
    assert [trouble.scenario.name for trouble in found.trouble] == ["two"]
    assert found.level is Level.NONE
    assert not found.conforms


@pytest.mark.slow
def test_any_number_of_workers_and_an_interruption_give_the_same_outcome(tmp_path: Path) -> None:
    budget = _budget(profile="smoke", sessions=1, only=("CTX-15",))
    one, two = _started(tmp_path / "one", budget), _started(tmp_path / "two", budget)
    work(one, 1, _silent)
    done_before = two.units()[:1]
    builder = load(REFERENCE)
    for unit in done_before:
        do_unit(two.box, budget, unit, builder, None)
    with (tmp_path / "two" / FILE).open("ab") as record:
        record.write(b'{"line":"session","unit":"torn')
    two = Folder.resume(tmp_path / "two")
    assert len(two.missing()) == len(two.units()) - 1
    work(two, 2, _silent)
    assert two.missing() == ()
    assert outcome_of(one.run()) == outcome_of(two.run())
    assert outcome_of(one.run()).sessions > 0


@pytest.mark.slow
def test_a_worker_that_dies_loses_nothing_and_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(request.config.rootpath / "tests")
    marker = tmp_path / "dies once"
    marker.touch()
    monkeypatch.setenv("DIES_ONCE", str(marker))
    budget = _budget(profile="smoke", sessions=2, only=("CTX-15",))
    folder = _started(tmp_path / "run", budget, "fakes.dying:DiesOnce")
    work(folder, 2, _silent)
    assert not marker.exists(), "it did not die"
    assert folder.missing() == ()
    assert folder.run().done == {unit.name for unit in folder.units()}
    lines = [(line.unit, line.index) for line in folder.run().sessions]
    assert len(lines) == len(set(lines))


@pytest.mark.slow
def test_a_builder_that_always_ends_its_process_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(request.config.rootpath / "tests")
    budget = _budget(profile="smoke", sessions=1, only=("CTX-15",))
    folder = _started(tmp_path / "run", budget, "fakes.dying:AlwaysDies")
    with pytest.raises(BuilderError, match="ends its process while unit"):
        work(folder, 2, _silent)


def test_a_run_too_small_certifies_nothing_and_a_narrowed_one_neither() -> None:
    builder = load(REFERENCE)
    for budget in (_budget(sessions=1), _budget(sessions=SESSIONS["certify"], only=("CTX-03",))):
        assert outcome(_header(budget, builder), []).level is None


def test_an_empty_run_passes_nothing_and_has_no_level() -> None:
    found = outcome(_header(_budget(sessions=SESSIONS["certify"]), load(REFERENCE)), [])
    assert {result.verdict for result in found.results} == {Verdict.UNEXERCISED}
    assert found.level is Level.NONE
    assert not found.conforms
    assert c.passes(found, frozenset()) == (False, [])


def test_the_certify_profile_plays_enough_for_every_requirement() -> None:
    assert SESSIONS["certify"] >= LEAST_SESSIONS


@pytest.fixture(scope="module")
def found_in_a_stamped_one() -> tuple[Outcome, Counterexample]:
    """A faulty engine's outcome over a few sessions, and its counterexample."""
    builder = load(STAMPED)
    sessions = list(strategies.explicit("sessions"))[:8]
    sessions += generate(strategies.by_key()["sessions"], 5, 12)
    unit = units(_budget(), ["sessions"], [])[1]
    budget = _budget(only=("CTX-03.2",))
    lines = play_unit(unit, sessions, budget, builder, None, scenarios.corpus)
    found = outcome(_header(budget, builder, STAMPED), lines)
    made = counterexamples(found, builder, scenarios.corpus, frozenset(), _silent)
    return found, made[0].counterexample


def test_a_failure_is_shrunk_to_a_session_one_can_read(
    found_in_a_stamped_one: tuple[Outcome, Counterexample],
) -> None:
    _, counterexample = found_in_a_stamped_one
    assert counterexample.requirement == "CTX-03.2"
    assert len(counterexample.scenario.steps) <= 6
    assert counterexample.violation.seen
    assert counterexample.cost
    assert Counterexample.from_json(counterexample.canonical()) == counterexample


def test_a_listed_failure_is_not_shrunk(
    found_in_a_stamped_one: tuple[Outcome, Counterexample],
) -> None:
    found, _ = found_in_a_stamped_one
    spare = frozenset({"CTX-03.2"})
    assert counterexamples(found, load(STAMPED), scenarios.corpus, spare, _silent) == []
    assert c.passes(found, spare)[0] is False  # nothing passed, so nothing is shown
    assert c.passes(found, frozenset())[0] is False


@pytest.mark.parametrize(
    ("builder", "expected"),
    [
        (STAMPED, Replay.STILL_FAILS),
        (REFERENCE, Replay.FIXED),
        ("contextproof.calibration.faulty.yielding:AlwaysBudgetExhausted", Replay.FAILS_DIFFERENTLY),
    ],
)
def test_a_counterexample_replays(
    found_in_a_stamped_one: tuple[Outcome, Counterexample], builder: str, expected: Replay
) -> None:
    _, counterexample = found_in_a_stamped_one
    assert replay(counterexample, load(builder), scenarios.corpus).outcome is expected


def test_a_counterexample_of_a_requirement_that_is_gone_is_no_longer_valid(
    found_in_a_stamped_one: tuple[Outcome, Counterexample],
) -> None:
    _, counterexample = found_in_a_stamped_one
    gone = counterexample.model_copy(update={"requirement": "CTX-03.99"})
    assert replay(gone, load(REFERENCE), scenarios.corpus).outcome is Replay.NO_LONGER_VALID


@pytest.fixture
def known(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "known.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_known_failures_file_is_read(known: Callable[[str], Path]) -> None:
    path = known('[[failure]]\nid = "CTX-03.2"\nreason = "being mended"\nlink = "tracker/7"\n')
    assert set(c.read_known_failures(path)) == {"CTX-03.2"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[failure]]\nid = "CTX-99.1"\nreason = "x"\n', "no requirement"),
        ('[[failure]]\nid = "CTX-03.2"\n', "reason"),
        ("[[failure]\n", "not TOML"),
    ],
)
def test_a_bad_known_failures_file_is_told(known: Callable[[str], Path], text: str, words: str) -> None:
    with pytest.raises(c.BadUsage, match=words):
        c.read_known_failures(known(text))


def test_a_folder_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(c.BadUsage, match="is there already"):
        c.certify(
            _settings(),
            tmp_path / "run",
            workers=1,
            resume=False,
            known={},
            minutes=1,
            progress=_silent,
        )


def test_a_run_that_still_goes_on_is_not_taken_up_by_another_process(tmp_path: Path) -> None:
    settings = _settings(sessions=1, only=("CTX-15",))
    _started(tmp_path / "run", settings.budget)
    with (tmp_path / "run" / FILE).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(c.BadUsage, match="is being played by another process"):
            c.certify(
                settings, tmp_path / "run", workers=1, resume=True, known={}, minutes=1, progress=_silent
            )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"builder": Target(factory=STAMPED)}, "was made for"),
        ({"budget": _budget(profile="gate")}, "was made with --profile smoke"),
        ({"shard": Shard(number=1, of=2)}, "was made with no --shard"),
    ],
)
def test_a_run_is_taken_up_only_as_what_it_was_made_for(
    tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    settings = _settings(sessions=1, only=("CTX-15",))
    _started(tmp_path / "run", settings.budget)
    with pytest.raises(c.BadUsage, match=words):
        c.certify(
            replaced(settings, **changes),  # type: ignore[arg-type]
            tmp_path / "run",
            workers=1,
            resume=True,
            known={},
            minutes=1,
            progress=_silent,
        )


def test_narrowing_to_what_does_not_exist_is_told() -> None:
    with pytest.raises(c.BadUsage, match="CTX-77"):
        c.make_budget("smoke", seed=1, nonce="", examples=None, only=("CTX-77",), exclude=())
