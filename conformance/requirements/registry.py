"""The one registry of requirements. Modules d01 to d16 fill it by decorator.

A requirement is a function over a trace that yields judgements; its docstring is its text. A pair
requirement is a function over the traces of a scenario and of a named variation of it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from contextproof.conformance.contract.vocabulary import Decision
from contextproof.conformance.judgement import Judgement
from contextproof.conformance.play.trace import Trace


class Level(StrEnum):
    """MUST bars a gate or level where it fails; SHOULD warns."""

    MUST = "MUST"
    SHOULD = "SHOULD"


MUST, SHOULD = Level.MUST, Level.SHOULD


class Gate(StrEnum):
    """The five hard gates."""

    ONE_PREFIX = "G1 one prefix"
    WHOLE_PAIRS = "G2 whole pairs"
    CONTAINED_TRUST = "G3 contained trust"
    SOUND_BUDGET = "G4 sound budget"
    SAME_IN_SAME_OUT = "G5 same in, same out"


@dataclass(frozen=True)
class Requirement:
    """One requirement.

    Attributes:
        id: ``CTX-`` and the decision's two digits, a dot, a number. Never reused.
        name: the function's name. ``text``: its docstring.
        level, gate: MUST or SHOULD, and the hard gate it belongs to, if any.
        scenarios: key of the strategy whose sessions stress it.
        witnesses: the named situations in which it could really be violated.
        optional: those of its witnesses that an engine's legitimate choices may exclude.
        variation: for a pair requirement, the name of the scenario's variation it compares with.
        needs_variation: whether it can be judged only where that variation was played.
        ports: calls that a builder must answer for it to be judged.
        cost: what a violation costs the builder's owner, one sentence.
    """

    id: str
    name: str
    text: str
    level: Level
    gate: Gate | None
    scenarios: str
    witnesses: tuple[str, ...]
    optional: tuple[str, ...]
    variation: str | None
    needs_variation: bool
    ports: tuple[str, ...]
    cost: str
    function: Callable[..., Iterator[Judgement]]

    @property
    def decision(self) -> Decision:
        """The decision of the record it restates."""
        return Decision(f"d{self.id[4:6]}")

    def judge(self, trace: Trace, varied: Trace | None = None) -> list[Judgement]:
        """Judge a trace, and for a pair requirement its variation's trace too."""
        arguments = (trace,) if self.variation is None else (trace, varied)
        return list(self.function(*arguments))


REGISTRY: dict[str, Requirement] = {}
_ID = re.compile(r"CTX-(0[1-9]|1[0-6])\.[1-9][0-9]?")


def requirement(
    identifier: str,
    level: Level,
    *,
    scenarios: str,
    witnesses: tuple[str, ...],
    cost: str,
    gate: Gate | None = None,
    optional: tuple[str, ...] = (),
    variation: str | None = None,
    needs_variation: bool | None = None,
    ports: tuple[str, ...] = ("build",),
) -> Callable[[Any], Any]:
    """Register a requirement function.

    Raises:
        ValueError: for a malformed or taken id, or where text, strategy, witness or cost is missing.
    """

    def register(function: Callable[..., Iterator[Judgement]]) -> Callable[..., Iterator[Judgement]]:
        text = inspect.getdoc(function) or ""
        problems = [
            problem
            for problem, is_wrong in (
                ("a malformed id", _ID.fullmatch(identifier) is None),
                ("an id that is taken", identifier in REGISTRY),
                ("no text", not text),
                ("no strategy", not scenarios),
                ("no witness", not witnesses),
                ("no cost", not cost),
                ("an optional witness that it does not have", not set(optional) <= set(witnesses)),
            )
            if is_wrong
        ]
        if problems:
            raise ValueError(f"requirement {identifier} ({function.__name__}) has {', '.join(problems)}")
        REGISTRY[identifier] = Requirement(
            id=identifier,
            name=function.__name__,
            text=text,
            level=level,
            gate=gate,
            scenarios=scenarios,
            witnesses=witnesses,
            optional=optional,
            variation=variation,
            needs_variation=variation is not None if needs_variation is None else needs_variation,
            ports=ports,
            cost=cost,
            function=function,
        )
        return function

    return register


def by_number(identifier: str) -> tuple[int, int]:
    """Sorts ids as people count: CTX-08.9 before CTX-08.10."""
    decision, number = identifier.removeprefix("CTX-").split(".")
    return int(decision), int(number)
