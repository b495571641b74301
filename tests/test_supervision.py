"""Builders that misbehave over their pipes: each is told what it did, none holds a run up or ends it."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

import pytest

from contextproof.conformance.adapters.environment import passed_on
from contextproof.conformance.adapters.reach import reach
from contextproof.conformance.adapters.stdio import Stdio
from contextproof.conformance.builder import BuilderError, BuilderGone
from contextproof.conformance.contract.answers import Refused
from contextproof.conformance.target import MAX_MESSAGE, Limits, Target
from fakes.opening import CALL, long_call

FAKES = Path(__file__).parent / "fakes" / "stdio"
#: Far below what a hanging builder would take, and far above what a started Python takes.
SOON = 30.0


def command(fake: str) -> list[str]:
    return [sys.executable, str(FAKES / f"{fake}.py")]


def start(fake: str, timeout: float = SOON, max_message: int = MAX_MESSAGE) -> Stdio:
    return Stdio(command(fake), limits=Limits(timeout=timeout, max_message=max_message))


@pytest.mark.parametrize(
    ("fake", "words"),
    [
        ("no_such_file", "`initialize`: the builder ended with exit code 2.*No such file"),
        ("speaks_another_version", "speaks version 2 of the contract.*speaks 1.*up to date"),
        ("refuses_the_version", "`initialize` failed: I speak contract 2"),
    ],
)
def test_a_builder_that_does_not_shake_hands_is_told(fake: str, words: str) -> None:
    with pytest.raises(BuilderError, match=words) as caught:
        start(fake)
    assert "\n" not in str(caught.value)


def test_a_command_that_is_no_program_is_told() -> None:
    with pytest.raises(BuilderError, match=r"cannot start no-such-command.*on PATH"):
        Stdio(["no-such-command-anywhere"])


@pytest.mark.parametrize(
    ("fake", "words"),
    [
        ("prints_to_stdout", r"no message of the protocol but 'opening a session now'; .*standard error"),
        ("answers_invalid_json", "no valid JSON: expected value.*it begins"),
        ("answers_a_wrong_id", "the answer has id 1000; give back the call's own id"),
        ("answers_a_wrong_shape", "`open_session` answered a wrong shape: result.*token_class"),
        ("calls_an_unknown_method", "called 'complete'; what it can call is summarize and count"),
        ("does_not_know_its_method", "`open_session` failed: unknown method open_session"),
        ("answers_out_of_order", r"the call had id (\d), and the answer has id (?!\1)\d"),
        ("dies_before_it_answers", "ended with exit code 1; .*standard error: out of memory"),
        ("dies_while_it_answers", "was ended by SIGABRT in the middle of a line"),
        ("dies_and_leaves_children_behind", "ended with exit code 4"),
        ("answers_a_lone_surrogate", r"a lone surrogate stands in result\.token_class"),
        ("answers_no_utf_8", "no valid JSON.*(UTF-8|unicode)"),
    ],
)
def test_what_it_did_is_told_in_one_line(fake: str, words: str) -> None:
    builder = start(fake)
    for _ in range(2):  # and the second call is made of a builder that is there
        with pytest.raises(BuilderError, match=words) as caught:
            builder.call(CALL)
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith("`open_session`")
    builder.close()


@pytest.mark.parametrize(
    ("fake", "words"),
    [
        ("hangs", "gave no answer within 1 s; make it answer, or give it longer with --timeout"),
        ("begins_a_line", "began a line and did not end it .* within 1 s"),
        ("never_reads", "did not read its standard input within 1 s"),
    ],
)
def test_a_builder_that_takes_too_long_is_ended(fake: str, words: str) -> None:
    builder = start(fake, timeout=1)
    started = time.monotonic()
    with pytest.raises(BuilderError, match=words):
        builder.call(long_call(200_000))
    assert time.monotonic() - started < 5
    builder.close()


@pytest.mark.parametrize(
    ("fake", "words"),
    [
        ("answers_twice", "call 3 was under way, and the answer is for call 2, which is over"),
        ("dies_after_it_answered", "the builder ended with exit code 3"),
        ("closes_stdin", "closed its standard input"),
    ],
)
def test_what_shows_at_the_next_call_costs_that_call_alone(fake: str, words: str) -> None:
    builder = start(fake)
    assert isinstance(builder.call(CALL), Refused)
    with pytest.raises(BuilderError, match=words):
        builder.call(CALL)
    assert isinstance(builder.call(CALL), Refused)
    builder.close()


def test_a_flood_on_standard_error_is_read_away() -> None:
    builder = start("floods_stderr")
    for _ in range(3):
        assert isinstance(builder.call(CALL), Refused)
    builder.close()


def test_an_answer_without_end_is_cut_short_and_not_kept() -> None:
    builder = start("answers_200_megabytes", max_message=2**22)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BuilderError, match=r"a message of more than 4,194,304 bytes; .*--max-message"):
        builder.call(CALL)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes
    builder.close()


def test_processes_left_behind_are_ended_and_noticed() -> None:
    builder = start("leaves_children_behind")
    child = builder.call(CALL).measured
    os.kill(child, 0)
    builder.close()
    assert builder.left_behind
    until = time.monotonic() + SOON
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(child)


def test_one_that_ends_as_asked_leaves_nothing_behind() -> None:
    builder = start("answers")
    builder.call(CALL)
    builder.close()
    assert not builder.left_behind


def _runs(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "zombie" not in status.read_text(encoding="utf-8")


def test_a_crash_loop_ends_with_a_clear_word() -> None:
    builder = start("dies_at_every_third_call")
    told = ""
    for _ in range(40):
        try:
            builder.call(CALL)
        except BuilderGone as error:
            told = str(error)
            break
        except BuilderError:
            pass
    assert "ended 5 times in a row" in told
    with pytest.raises(BuilderGone):
        builder.call(CALL)
    builder.close()


def test_a_command_is_given_the_environment_by_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "do not tell")
    monkeypatch.setenv("WANTED", "tell")
    monkeypatch.setenv("LC_TIME", "C")
    target = Target(command=tuple(command("tells_its_environment")), limits=Limits(pass_env=("WANTED",)))
    builder = reach(target)
    with pytest.raises(BuilderError) as caught:
        builder.call(CALL)
    builder.close()
    assert "WANTED" in str(caught.value)
    assert "SECRET_KEY" not in str(caught.value)
    assert "LC_TIME" in passed_on()
    assert "SECRET_KEY" not in passed_on()
