"""The rules that a trimmer is judged by, each under the requirement that it stands for.

Where a requirement of a context engine says the same of a trimmer, the rule has that requirement's id.
Two have ids of their own: ``TRIM-1`` and ``TRIM-2``. Modules `rules_…` fill the registry by decorator.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from contextproof.conformance.judgement import Judgement
from contextproof.conformance.requirements.registry import Level
from contextproof.conformance.trimming.session import Session, Setting

Judge = Callable[[Session], Iterator[Judgement]]


@dataclass(frozen=True)
class Rule:
    """One rule; the docstring of its function is its text.

    Attributes:
        witnesses: the named situations in which it could really be violated.
        optional: those of them that a trimmer's or format's legitimate choices may exclude.
        follows: rules whose violation, where there is one, is the cause of this one's.
        cost: what a violation costs.
        applies: whether a trimmer of this format can be judged by it.
    """

    id: str
    name: str
    text: str
    level: Level
    witnesses: tuple[str, ...]
    optional: tuple[str, ...]
    follows: tuple[str, ...]
    cost: str
    applies: Callable[[Setting], bool]
    judge: Judge


RULES: dict[str, Rule] = {}


def rule(
    identifier: str,
    level: Level,
    *,
    witnesses: tuple[str, ...],
    cost: str,
    optional: tuple[str, ...] = (),
    follows: tuple[str, ...] = (),
    applies: Callable[[Setting], bool] = lambda _setting: True,
) -> Callable[[Judge], Judge]:
    """Register a judging function as a rule."""

    def register(function: Judge) -> Judge:
        text = inspect.getdoc(function)
        assert text, f"{identifier} needs a text"
        assert identifier not in RULES, f"{identifier} is taken"
        RULES[identifier] = Rule(
            id=identifier,
            name=function.__name__,
            text=text,
            level=level,
            witnesses=witnesses,
            optional=optional,
            follows=follows,
            cost=cost,
            applies=applies,
            judge=function,
        )
        return function

    return register


def all_rules() -> tuple[Rule, ...]:
    """Every rule, by id."""
    from contextproof.conformance.trimming import rules_budget, rules_contents, rules_sameness

    modules = (rules_budget, rules_contents, rules_sameness)  # importing them registers their rules
    assert all(modules)
    return tuple(RULES[identifier] for identifier in sorted(RULES))
