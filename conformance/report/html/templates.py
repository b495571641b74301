"""Templates that stand beside this module. Whatever they are given is escaped, and shown as it is."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from contextproof.conformance.report.escape import visible
from contextproof.conformance.report.words import SENTENCE, shortened


def render(name: str, /, **values: Any) -> str:
    """A template filled in."""
    return _environment().get_template(name).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    environment.filters["told"] = lambda text: shortened(text, SENTENCE)
    environment.filters["thousands"] = lambda number: f"{number:,}"
    return environment


def _source(name: str) -> str:
    return files("contextproof.conformance.report.html").joinpath(name).read_text(encoding="utf-8")
