"""The requirements, one module a decision of the record, and the registry that collects them."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from contextproof.conformance.requirements.registry import REGISTRY, Requirement, by_number


@cache
def all_requirements() -> tuple[Requirement, ...]:
    """Every requirement there is, by id."""
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("d") and module.name[1:3].isdigit():
            importlib.import_module(f"{__name__}.{module.name}")
    return tuple(REGISTRY[identifier] for identifier in sorted(REGISTRY, key=by_number))
