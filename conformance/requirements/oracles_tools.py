"""Which tools are pinned in each epoch, and which changes must rotate it (decisions 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import ToolDefinition
from contextproof.conformance.contract.measures import permitted
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.session import (
    ForcedRevocation,
    ModelSpec,
    RoutingChanged,
)
from contextproof.conformance.play.trace import ApplyRecord, Trace
from contextproof.conformance.requirements.oracles_views import opening_of


def pinned_by_plan(trace: Trace) -> list[tuple[ToolDefinition, ...]]:
    """For each plan of a trace, what is pinned in it: told from openings and changes, not from plans."""
    opening = opening_of(trace)
    pinned = [permitted(opening) if opening is not None else ()]
    for _, record in applied(trace):
        if isinstance(record.answer, a.Planned) and record.answer.plan != trace.plans[record.plan]:
            before, change = pinned[-1], record.change
            if isinstance(change, ForcedRevocation):
                before = tuple(tool for tool in before if tool.name != change.tool)
            pinned.append(before)
    # A trace that tells of more plans than of changes pins what it last said.
    return pinned + [pinned[-1]] * (len(trace.plans) - len(pinned))


def applied(trace: Trace) -> Iterator[tuple[int, ApplyRecord]]:
    """Changes the engine was told of."""
    for index, record in enumerate(trace.records):
        if isinstance(record, ApplyRecord):
            yield index, record


def cache_key(model: ModelSpec) -> tuple[str, str, str, str]:
    """What a provider's cache keys on: a change of any of it is a change of routing."""
    return model.provider, model.endpoint, model.name, model.reasoning_mode


def must_rotate(record: ApplyRecord, plan: Plan, pinned: tuple[ToolDefinition, ...]) -> bool | None:
    """Whether a change cannot be absorbed; None where the record leaves it open.

    Open is only a model that keeps provider, endpoint, name and mode and differs otherwise.
    """
    match record.change:
        case ForcedRevocation(tool=name):
            return any(tool.name == name for tool in pinned)
        case RoutingChanged(model=model) if cache_key(model) != cache_key(plan.opening.model):
            return True
        case RoutingChanged(model=model) if model != plan.opening.model:
            return None
        case _:
            return False
