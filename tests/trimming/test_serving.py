"""How a function is found and called, and what becomes of all that it may do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextproof.conformance.builder import BuilderError
from contextproof.conformance.trimming.reaching import Manner, Trimmer
from contextproof.conformance.trimming.serving import NotCallable, manner_of
from contextproof.conformance.trimming.session import Broken, Raised, Returned

HELLO = [{"role": "user", "content": "Hi."}]
ODD = """
import os, sys, time

def prints(messages, limit):
    print("to standard output", flush=True)
    os.system("echo from a child")
    return tuple(messages)

async def waits(messages, limit):
    return messages

def dies(messages, limit):
    os._exit(3)

def hangs(messages, limit):
    time.sleep(60)

def halves_a_pair(messages, limit):
    return [{"role": "user", "content": "\\ud83d"}]

def gives_a_set(messages, limit):
    return {1}

def gives_objects(messages, limit):
    return [object()]

def raises(messages, limit):
    messages.clear()
    raise LookupError("what?")

def by_turns(messages, limit):
    return messages if limit > 1 else os._exit(1)
"""


@pytest.fixture
def reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Trimmer]]:
    (tmp_path / "odd_trimmers.py").write_text(ODD)
    monkeypatch.chdir(tmp_path)
    trimmers: list[Trimmer] = []

    def reach(name: str) -> Trimmer:
        trimmers.append(Trimmer(f"odd_trimmers:{name}", timeout=1.0))
        return trimmers[-1]

    yield reach
    for trimmer in trimmers:
        trimmer.close()


def _positional(messages: Any, limit: Any, /) -> None: ...
def _by_name(messages: Any, max_tokens: int = 100) -> None: ...
def _keywords(*, history: Any, token_limit: int, system_prompt: str = "") -> None: ...
def _limit_later(messages: Any, model: str = "gpt", max_tokens: int = 100) -> None: ...
def _with_system(messages: Any, limit: int, system: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (_positional, "trim(messages, limit)"),
        (_by_name, "trim(messages, max_tokens=limit)"),
        (_keywords, "trim(history=messages, token_limit=limit, system_prompt=system)"),
        (_limit_later, "trim(messages, max_tokens=limit)"),
        (_with_system, "trim(messages, limit=limit, system=system)"),
    ],
)
def test_a_signature_is_read_leniently(function: Callable[..., None], call: str) -> None:
    manner: dict[str, Any] = manner_of(function)
    assert Manner(**manner).call("trim") == call


def _no_limit(messages: Any) -> None: ...
def _asks_more(messages: Any, limit: int, model: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "words"), [(_no_limit, "take them as the first two"), (_asks_more, "asks for model too")]
)
def test_a_signature_that_cannot_be_served_is_told(function: Callable[..., None], words: str) -> None:
    with pytest.raises(NotCallable, match=words):
        manner_of(function)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prints", "waits"])
def test_an_answer_comes_whatever_is_printed_and_awaited(
    reached: Callable[[str], Trimmer], name: str
) -> None:
    assert reached(name).ask(HELLO, 5, None) == Returned(HELLO)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dies", "exit code 3"),
        ("hangs", "gave no answer within 1 s"),
        ("halves_a_pair", "half of a surrogate pair at returned.0.content"),
        ("gives_a_set", "returned a set, not a list"),
        ("gives_objects", "what JSON cannot hold"),
    ],
)
def test_no_answer_is_one_sentence(reached: Callable[[str], Trimmer], name: str, words: str) -> None:
    answer = reached(name).ask(HELLO, 5, None)
    assert isinstance(answer, Broken)
    assert words in answer.problem
    assert answer.is_silent is (name == "hangs")


@pytest.mark.slow
def test_an_exception_is_told_with_what_it_is_and_whether_the_input_was_changed(
    reached: Callable[[str], Trimmer],
) -> None:
    answer = reached("raises").ask(HELLO, 5, None)
    assert isinstance(answer, Raised)
    assert (answer.type, answer.says, answer.changed) == ("LookupError", "what?", True)


@pytest.mark.slow
def test_after_a_crash_it_is_started_anew(reached: Callable[[str], Trimmer]) -> None:
    trimmer = reached("by_turns")
    assert isinstance(trimmer.ask(HELLO, 1, None), Broken)
    assert trimmer.ask(HELLO, 5, None) == Returned(HELLO)


@pytest.mark.slow
def test_one_that_cannot_be_reached_is_told(reached: Callable[[str], Trimmer]) -> None:
    with pytest.raises(BuilderError, match="no function named 'nothing'"):
        reached("nothing")
    with pytest.raises(BuilderError, match="write module:function"):
        Trimmer("nonsense")
