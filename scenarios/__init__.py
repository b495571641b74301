"""Scripted sessions as data, the texts their recipes cut from, and how to read both.

The fifty-turn session and a few short ones stand beside this file; `openings` holds tiny sessions that
are opened at a cap or past it, and `snapshots` those that show how a builder renders. The gate does not
play the latter.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from contextproof.conformance.play.scenario import Scenario
from contextproof.scenarios.reading import BadScenario, parse, read

__all__ = [
    "BadScenario",
    "corpus",
    "corpus_names",
    "load",
    "names",
    "parse",
    "read",
    "scripted",
    "snapshot_names",
]

#: The session that the decision record itself scripts; it is played first.
FIRST = "fifty_turns"
_SUFFIX = ".json"
_FOLDERS = ("", "openings/")
_SNAPSHOTS = "snapshots/"


def names() -> tuple[str, ...]:
    """Names of all scripted sessions: the fifty turns, then the short ones, then the openings."""
    found = [f"{folder}{stem}" for folder in _FOLDERS for stem in _stems(folder)]
    return (FIRST, *(name for name in found if name != FIRST))


def snapshot_names() -> tuple[str, ...]:
    """Names of the sessions that show how a builder renders, such as ``snapshots/hostile``."""
    return tuple(f"{_SNAPSHOTS}{stem}" for stem in _stems(_SNAPSHOTS))


def load(name: str) -> Scenario:
    """A session by its name, such as ``rotations``, ``openings/policy_at_cap`` or ``snapshots/hostile``.

    Raises:
        KeyError: where there is none of that name.
        BadScenario: where its file is not a scenario.
    """
    if name not in names() + snapshot_names():
        raise KeyError(f"no scripted session is named {name!r}; there are: {', '.join(names())}")
    return parse(_here().joinpath(f"{name}{_SUFFIX}").read_bytes(), f"{name}{_SUFFIX}")


def scripted() -> Iterator[Scenario]:
    """Every scripted session, in the order of `names`."""
    return (load(name) for name in names())


def corpus_names() -> tuple[str, ...]:
    """Names of the texts that `FromCorpus` recipes can cut from."""
    folder = _here().joinpath("corpus")
    return tuple(sorted(entry.name.removesuffix(".txt") for entry in folder.iterdir()))


@cache
def corpus(name: str) -> str:
    """A corpus text. Raises KeyError where there is none of that name."""
    if name not in corpus_names():
        raise KeyError(f"no corpus text is named {name!r}; there are: {', '.join(corpus_names())}")
    return _here().joinpath("corpus", f"{name}.txt").read_bytes().decode("utf-8")


def _here() -> Traversable:
    return files("contextproof.scenarios")


def _stems(folder: str) -> list[str]:
    entries = _here().joinpath(folder).iterdir() if folder else _here().iterdir()
    return sorted(entry.name.removesuffix(_SUFFIX) for entry in entries if entry.name.endswith(_SUFFIX))
