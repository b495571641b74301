"""Playing a case against a trimmer: every call at which it is asked, and three comparisons at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from contextproof.conformance.adapters.twin import other_zone
from contextproof.conformance.contract.tokenizers import TokenizerName
from contextproof.conformance.trimming.anthropic import ANTHROPIC
from contextproof.conformance.trimming.dialogue import request_points
from contextproof.conformance.trimming.formats import Format, FormatName, Json
from contextproof.conformance.trimming.openai import OPENAI
from contextproof.conformance.trimming.reaching import TIMEOUT, Manner, Trimmer
from contextproof.conformance.trimming.session import (
    Answer,
    Asked,
    Broken,
    Case,
    Returned,
    Session,
    Setting,
    said_in,
    tokens_of,
)

FORMATS: dict[FormatName, Format] = {"openai": OPENAI, "anthropic": ANTHROPIC}


@dataclass(frozen=True)
class Subject:
    """What names a trimmer and how it is to be reached."""

    spec: str
    format: FormatName
    tokenizer: TokenizerName = "o200k_base"
    timeout: float = TIMEOUT


class Asks(Protocol):
    """A trimmer at work, wherever that is."""

    @property
    def manner(self) -> Manner:
        """How it takes its arguments."""

    def ask(self, messages: list[Json], limit: int, system: str | None) -> Answer:
        """Its answer to one call."""


@dataclass(frozen=True)
class Bench:
    """A trimmer at work, its twin in another process, and what its cases have in common."""

    trimmer: Asks
    twin: Asks
    setting: Setting


@contextmanager
def bench(subject: Subject, timeout: float | None = None) -> Iterator[Bench]:
    """The trimmer and its twin, started. Raises BuilderError where they cannot be."""
    from contextproof.scenarios import corpus

    seconds = subject.timeout if timeout is None else timeout
    with tempfile.TemporaryDirectory(prefix="contextproof-twin-") as folder:
        mine = Trimmer(subject.spec, timeout=seconds)
        try:
            twin = Trimmer(subject.spec, timeout=seconds, cwd=folder, env=_other_circumstances())
        except BaseException:
            mine.close()
            raise
        with mine, twin:
            format_ = FORMATS[subject.format]
            takes_system = format_.has_system or mine.manner.system is not None
            yield Bench(mine, twin, Setting(format_, subject.tokenizer, takes_system, corpus))


def _other_circumstances() -> dict[str, str]:
    from datetime import datetime

    seed = "4242" if os.environ.get("PYTHONHASHSEED") != "4242" else "17"
    return {"PYTHONHASHSEED": seed, "TZ": other_zone(datetime.now().astimezone())}


def play(case: Case, at: Bench) -> Session:
    """The session of a case: a call each time that the model is asked, or the last one alone."""
    said = said_in(case, at.setting)
    limit = tokens_of(case.limit, said, case, at.setting)
    points = request_points(said) if case.is_growing else [len(said)]
    session = Session(case)
    for point in points:
        asked = _ask(Asked(at.setting, case.conversation, said[:point], limit, Broken("")), at)
        session.asked.append(asked)
        if isinstance(asked.answer, Broken):
            return session
    session.asked[-1] = _compared(session.asked[-1], at)
    return session


def _ask(asked: Asked, at: Bench) -> Asked:
    return replace(asked, answer=at.trimmer.ask(asked.given, asked.limit, asked.system))


def _compared(asked: Asked, at: Bench) -> Asked:
    """The call with the same made again, made elsewhere, and made with its own answer."""
    call = (asked.given, asked.limit, asked.system)
    own = None
    if isinstance(asked.answer, Returned) and asked.answer.messages:
        own = at.trimmer.ask(asked.answer.messages, asked.limit, asked.system)
    return replace(asked, again=at.trimmer.ask(*call), elsewhere=at.twin.ask(*call), of_its_own=own)
