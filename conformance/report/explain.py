"""A requirement, told to someone who met its id in a report."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from contextproof.calibration.faulty import faulty_engines
from contextproof.calibration.inseparable import INSEPARABLE
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import Requirement

_WIDTH = 88


def explain_lines(identifier: str) -> list[str]:
    """Lines about one requirement, or a list of one decision's.

    Raises:
        KeyError: with a sentence that says what ids there are.
    """
    wanted = _normal(identifier)
    found = [r for r in all_requirements() if r.id == wanted]
    if found:
        return list(_whole(found[0]))
    decision = [r for r in all_requirements() if r.id.startswith(f"{wanted}.")]
    if decision:
        return [f"{r.id}  {r.level.value:<6}  {r.name.replace('_', ' ')}" for r in decision]
    near = [r.id for r in all_requirements() if wanted[6:] and r.id.startswith(wanted[:6])]
    first, last = all_requirements()[0].id, all_requirements()[-1].id
    known = ", ".join(near) or f"{first} to {last}; `contextproof explain 1` lists decision 1's"
    raise KeyError(f"no requirement {identifier!r}; there are {known}")


def _normal(identifier: str) -> str:
    """CTX-03.2 from ctx-3.2, 03.2 or 3.2; CTX-03 from 3; anything else as it is."""
    match = re.fullmatch(r"(?:ctx-?|d)?0?(\d{1,2})(\.\d{1,2})?", identifier.strip(), re.IGNORECASE)
    return f"CTX-{int(match[1]):02d}{match[2] or ''}" if match else identifier


def _whole(requirement: Requirement) -> Iterator[str]:
    yield f"{requirement.id}  {requirement.name.replace('_', ' ')}"
    gate = f", part of gate {requirement.gate.value}" if requirement.gate else ""
    yield f"{requirement.level.value}{gate}, decision {requirement.decision.value} of ADR-0020"
    yield ""
    yield from textwrap.wrap(" ".join(requirement.text.split()), _WIDTH)
    yield ""
    yield from textwrap.wrap(f"What a violation costs: {requirement.cost}", _WIDTH)
    yield ""
    yield "It is really put to the test where:"
    yield from (f"  - {witness}" for witness in requirement.witnesses)
    yield f"Calls a builder must answer for it: {', '.join(requirement.ports)}"
    if requirement.variation:
        yield f"Compares two plays; the second is: {requirement.variation.replace('_', ' ')}"
    yield ""
    yield "Faulty engines that break it, with which the suite is calibrated:"
    for name, engine in faulty_engines().items():
        if engine.breaks == requirement.id:
            told = f"{name}: {' '.join((engine.__doc__ or '').split())}"
            yield from textwrap.wrap(
                told, _WIDTH, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False
            )
    if requirement.id in INSEPARABLE:
        yield from textwrap.wrap(f"None breaks it alone: {INSEPARABLE[requirement.id]}", _WIDTH)
