"""Reaching a builder, in process and over stdio: the same answers, and clear words when it goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone

import pytest

from contextproof.conformance.adapters.in_process import load
from contextproof.conformance.adapters.stdio import Stdio, host
from contextproof.conformance.adapters.twin import other_zone, twin
from contextproof.conformance.builder import BuilderError
from contextproof.conformance.contract.answers import Refused
from contextproof.conformance.target import Target
from fakes.opening import CALL

FAKES = "fakes.broken_builders"


@pytest.fixture(autouse=True)
def _where_the_fakes_are(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.chdir(request.config.rootpath / "tests")


@pytest.fixture
def hosted(request: pytest.FixtureRequest) -> Iterator[Stdio]:
    builder = host(f"{FAKES}:{request.param}")
    yield builder
    builder.close()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("no_colon_here", "package.module:factory"),
        ("no.such.module:factory", "no module to import"),
        (f"{FAKES}:no_such_factory", "no callable named"),
        (f"{FAKES}:NOT_A_FACTORY", "no callable named"),
        (f"{FAKES}:raises", "no licence key found"),
        (f"{FAKES}:without_manifest", "manifest"),
    ],
)
def test_a_builder_that_cannot_be_loaded_is_told_in_one_line(spec: str, words: str) -> None:
    with pytest.raises(BuilderError, match=words) as caught:
        load(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fake", "words"),
    [
        ("AnswersADict", "open_session.*dict"),
        ("AnswersAnotherPort", "open_session.*wrong shape"),
        ("RaisesInACall", "open_session.*ZeroDivisionError"),
    ],
)
def test_a_wrong_answer_names_the_call_and_what_is_wrong(fake: str, words: str) -> None:
    with pytest.raises(BuilderError, match=words) as caught:
        load(f"{FAKES}:{fake}").call(CALL)
    assert "\n" not in str(caught.value)


def test_a_port_may_be_a_coroutine() -> None:
    with closing(load(f"{FAKES}:RefusesAsACoroutine")) as builder:
        assert isinstance(builder.call(CALL), Refused)


@pytest.mark.parametrize("hosted", ["RefusesAsACoroutine"], indirect=True)
def test_a_hosted_builder_answers_as_it_does_in_process(hosted: Stdio) -> None:
    with closing(load(f"{FAKES}:RefusesAsACoroutine")) as local:
        assert hosted.manifest == local.manifest
        assert hosted.ports == local.ports == {"open_session"}
        assert hosted.call(CALL) == local.call(CALL)


@pytest.mark.parametrize("hosted", ["PrintsToStdout"], indirect=True)
def test_what_a_hosted_builder_prints_does_not_reach_the_protocol(hosted: Stdio) -> None:
    assert isinstance(hosted.call(CALL), Refused)


@pytest.mark.parametrize("hosted", ["RaisesInACall"], indirect=True)
def test_a_hosted_builder_that_raises_stays_up_and_says_why(hosted: Stdio) -> None:
    for _ in range(2):
        with pytest.raises(BuilderError, match="division by zero"):
            hosted.call(CALL)


@pytest.mark.parametrize("hosted", ["Dies"], indirect=True)
def test_a_builder_that_dies_is_told_with_its_exit_code_and_last_words(hosted: Stdio) -> None:
    with pytest.raises(BuilderError, match=r"`open_session`.*exit code 9; .*out of memory"):
        hosted.call(CALL)


def test_a_twin_differs_in_all_that_must_not_matter() -> None:
    spec = f"{FAKES}:TellsItsProcess"
    here = load(spec).call(CALL).plan.session.split(";")
    with twin(Target(factory=spec)) as builder:
        there = builder.call(CALL).plan.session.split(";")
    assert all(mine != its for mine, its in zip(here, there, strict=True)), (here, there)


@pytest.mark.parametrize("hour", range(0, 24, 3))
@pytest.mark.parametrize("offset", [-12, -5, 0, 1, 9, 14])
def test_the_twins_zone_always_has_another_date(hour: int, offset: int) -> None:
    now = datetime(2026, 3, 31, hour, 30, tzinfo=timezone(timedelta(hours=offset)))
    shift = 14 if other_zone(now) == "Pacific/Kiritimati" else -12
    assert now.astimezone(timezone(timedelta(hours=shift))).date() != now.date()
