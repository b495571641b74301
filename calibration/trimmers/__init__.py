"""Plain trimmers of known verdict: some with one fault each, named after it, and some that conform."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

Format = Literal["openai", "anthropic"]
Trim = TypeVar("Trim", bound=Callable[..., Any])


@dataclass(frozen=True)
class Known:
    """A trimmer of known verdict: how it is named, its messages, and the rule that it breaks, if any."""

    spec: str
    format: Format
    breaks: str | None
    text: str


_KNOWN: dict[str, Known] = {}


def breaks(rule: str, format_: Format = "openai") -> Callable[[Trim], Trim]:
    """Note a trimmer as faulty: this rule must notice it."""
    return lambda function: _note(function, rule, format_)


def conforms(format_: Format = "openai") -> Callable[[Trim], Trim]:
    """Note a trimmer as conforming."""
    return lambda function: _note(function, None, format_)


def _note(function: Trim, rule: str | None, format_: Format) -> Trim:
    spec = f"{function.__module__}:{function.__name__}"
    _KNOWN[function.__name__] = Known(spec, format_, rule, inspect.getdoc(function) or "")
    return function


def known_trimmers() -> dict[str, Known]:
    """Every one, by the function's name."""
    for name in ("conforming", "faulty_contents", "faulty_room", "faulty_sameness"):
        importlib.import_module(f"{__name__}.{name}")
    return dict(sorted(_KNOWN.items()))
