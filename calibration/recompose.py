"""The reference engine from modules of its own, some of them altered: for engines that differ deep inside."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, Final

import contextproof

_PACKAGE: Final = "contextproof.reference_impl"


def recomposed(parts: Iterable[tuple[str, Callable[[Any], None]]]) -> Any:
    """The reference's engine module, from modules of its own in which some parts are others.

    Each part names a module and a function that alters it; a module comes before those that import
    from it. The reference itself is left as it is.
    """
    kept = _taken_out()
    before = contextproof.__dict__.get("reference_impl")
    try:
        for name, alter in parts:
            alter(importlib.import_module(f"{_PACKAGE}.{name}"))
        return importlib.import_module(f"{_PACKAGE}.engine")
    finally:
        _taken_out()
        sys.modules.update(kept)
        if before is None:
            contextproof.__dict__.pop("reference_impl", None)
        else:
            contextproof.__dict__["reference_impl"] = before


def _taken_out() -> dict[str, ModuleType]:
    """The reference's modules, no longer known to the interpreter."""
    names = [name for name in sys.modules if name == _PACKAGE or name.startswith(f"{_PACKAGE}.")]
    return {name: sys.modules.pop(name) for name in names}
