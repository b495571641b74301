"""A builder named by a command, from one end to the other: judged as in process, and told as it deserves."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contextproof import scenarios, strategies
from contextproof.calibration.faulty import prefix
from contextproof.conformance.adapters.reach import reach
from contextproof.conformance.adapters.stdio import host_command
from contextproof.conformance.certification.budget import Budget, Unit
from contextproof.conformance.certification.generation import generate
from contextproof.conformance.certification.outcome import Outcome, counterexamples, outcome
from contextproof.conformance.certification.record import header
from contextproof.conformance.certification.unit import play_unit
from contextproof.conformance.cli import main
from contextproof.conformance.counterexample import Counterexample
from contextproof.conformance.evidence import Evidence, Ledger
from contextproof.conformance.gate import run_gate
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.progress import unheard
from contextproof.conformance.requirements.registry import REGISTRY
from contextproof.conformance.smoke import small_session
from contextproof.conformance.target import Limits, Target
from contextproof.conformance.verdicts import Verdict, decide
from contextproof.reference_impl.engine import MANIFEST

Run = Callable[..., tuple[int, str, str]]
FAKES = Path(__file__).parent / "fakes" / "stdio"
REFERENCE = "contextproof.reference_impl.engine:factory"
STAMPED = f"{prefix.__name__}:TimestampInThePrefix"


@pytest.fixture(autouse=True)
def _where_the_fakes_are(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.chdir(request.config.rootpath / "tests")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run_command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["contextproof", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run_command


def fake(name: str) -> str:
    return shlex.join([sys.executable, str(FAKES / f"{name}.py")])


def hosted(factory: str, *pass_env: str) -> Target:
    return Target(command=tuple(host_command(factory)), limits=Limits(pass_env=pass_env))


def certified(target: Target) -> tuple[Outcome, list[Counterexample]]:
    budget = Budget(profile="smoke", seed=3, sessions=4, only=("CTX-03", "CTX-10"))
    played = generate(strategies.by_key()["sessions"], 3, 4)
    unit = Unit(name="u", kind="generated", source="sessions", seed=3, sessions=4)
    builder = reach(target)
    try:
        lines = play_unit(unit, played, budget, builder, None, scenarios.corpus)
        found = outcome(header(target, builder, budget, (unit.name,)), lines)
        made = counterexamples(found, builder, scenarios.corpus, frozenset(), unheard)
        return found, [one.counterexample for one in made]
    finally:
        builder.close()


def test_in_process_and_hosted_give_the_same_verdicts_and_counterexamples() -> None:
    here, made_here = certified(Target(factory=STAMPED))
    there, made_there = certified(hosted(STAMPED))
    verdicts = {r.requirement: r.verdict for r in here.results}
    verdicts["CTX-10.2"] = Verdict.HELD_BY_TRANSPORT
    assert {r.requirement: r.verdict for r in there.results} == verdicts
    assert [r.found for r in there.results] == [r.found for r in here.results]
    assert made_here == made_there
    assert made_here


def test_what_only_a_shared_object_could_violate_is_held_by_transport() -> None:
    requirement = REGISTRY["CTX-10.2"]
    seen = Evidence(
        requirement=requirement.id,
        judgements=3,
        violations=0,
        sessions=1,
        witnesses=tuple((witness, 1) for witness in requirement.witnesses),
    )
    ledger = Ledger()
    empty = decide(requirement, ledger, MANIFEST, frozenset({"build"}), over_pipe=True)
    assert empty.verdict is Verdict.UNEXERCISED  # what was not seen is no pass over a pipe either
    ledger.add([seen], [])
    for over_pipe, verdict in ((True, Verdict.HELD_BY_TRANSPORT), (False, Verdict.PASSED)):
        found = decide(requirement, ledger, MANIFEST, frozenset({"build"}), over_pipe=over_pipe)
        assert found.verdict is verdict


def _three_sessions() -> list[Scenario]:
    return [small_session().model_copy(update={"name": name}) for name in ("one", "two", "three")]


def test_a_crash_costs_the_session_it_fell_in_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "dies once"
    marker.touch()
    monkeypatch.setenv("DIES_ONCE", str(marker))
    target = hosted("fakes.dying:DiesOnce", "DIES_ONCE")
    gate = run_gate(target, _three_sessions(), scenarios.corpus, twins=frozenset())
    assert [name for name, _ in gate.sessions] == ["two", "three"]
    assert [name for name, _ in gate.trouble] == ["one"]
    assert "ended with exit code 7" in gate.trouble[0][1]
    assert not gate.all_hold


def test_a_crash_loop_ends_a_unit_and_keeps_what_there_was() -> None:
    target = hosted("fakes.dying:AlwaysDies", "DIES_ONCE")
    builder = reach(target)
    unit = Unit(name="u", kind="explicit", source="sessions")
    some = [*_three_sessions(), *_three_sessions(), *_three_sessions()]
    lines = play_unit(
        unit, some, Budget(profile="smoke", seed=1, sessions=1), builder, None, scenarios.corpus
    )
    builder.close()
    assert all(line.trouble and line.of == 6 for line in lines)
    assert len(lines) == 6  # five crashes, and the word that there will be no more
    assert "ended 5 times in a row" in (lines[-1].trouble or "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--builder", REFERENCE, "--command", "node x.js"), "not both"),
        (("--command", ""), "empty"),
        (("--command", "node 'x.js"), "cannot be split"),
        (("--command", "no-such-program-anywhere"), "cannot start no-such-program-anywhere"),
    ],
)
def test_a_command_that_cannot_be_is_told(run: Run, arguments: tuple[str, ...], words: str) -> None:
    code, _, err = run("gate", *arguments)
    assert code == 2
    assert words in " ".join(err.split())


def test_nothing_in_a_command_is_given_to_a_shell(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "made by a shell"
    run("smoke", "--command", f"{fake('answers')} ; touch '{target}'")
    assert not target.exists()


def test_what_a_builder_writes_is_shown_escaped(run: Run) -> None:
    code, out, err = run("smoke", "--command", fake("writes_escapes"))
    assert code == 1
    assert "\\x1b[31mred" in out
    assert "\x1b" not in out + err
    assert "\u202e" not in out + err


def test_smoke_finds_the_reference_right(run: Run) -> None:
    code, out, _ = run("smoke", "--command", shlex.join(host_command(REFERENCE)))
    assert code == 0, out
    assert "WRONG" not in out
    assert "`summarize`  asked 1 times" in out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("answers_a_wrong_shape", "answer one of Planned, Refused in the shape of its schema"),
        ("leaves_children_behind", "end what it started when it is asked to shut down"),
        ("answers", "list the decisions that it is to be judged by"),
    ],
)
def test_smoke_says_what_to_do(run: Run, name: str, words: str) -> None:
    code, out, _ = run("smoke", "--command", fake(name))
    assert code == 1
    assert words in out


def test_nothing_is_written_but_into_the_folder_of_the_run(tmp_path: Path, run: Run) -> None:
    before = set(Path.cwd().rglob("*"))
    run("smoke", "--command", fake("answers"))
    after = {path for path in Path.cwd().rglob("*") if "__pycache__" not in path.parts}
    assert after <= before
    assert os.listdir(tmp_path) == []  # noqa: PTH208
