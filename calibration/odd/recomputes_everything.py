"""An engine that remembers nothing from one call to the next, and whose every port is a coroutine.

No envelope, no pointer and no fold over a log is kept: whatever is asked twice is done twice, from the
first entry of the log on. Arguments are read anew from their JSON, so that nothing is the same object. A
change of window alone, with provider, endpoint, model and mode as they were, rotates nothing.
"""

# ruff: noqa: SLF001 (another composition is made at the seams of the reference, which are its own)

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Final

from contextproof.calibration.odd.grammar import Part, engine
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.calls import METHODS
from contextproof.conformance.contract.ports import Engine
from contextproof.conformance.contract.session import Change, ModelSpec, Opening, RoutingChanged


def _memo(module: Any) -> None:
    def fold(_: Any, __: Any, log: Any, start: Callable[[], Any], extend: Callable[..., Any]) -> Any:
        return extend(start(), log)

    module.FoldMemo.fold = fold


def _planner(module: Any) -> None:
    usual = module._rotated_opening

    def rotated_opening(opening: Opening, change: Change) -> Opening | None:
        if isinstance(change, RoutingChanged) and _route(change.model) == _route(opening.model):
            return None
        rotated: Opening | None = usual(opening, change)
        return rotated

    module._rotated_opening = rotated_opening


def _route(model: ModelSpec) -> tuple[str, ...]:
    return model.provider, model.endpoint, model.name, model.reasoning_mode


def _without_caches(module: Any) -> None:
    for name, there in tuple(vars(module).items()):
        if hasattr(there, "cache_info"):
            setattr(module, name, inspect.unwrap(there))


_PARTS: Final[tuple[Part, ...]] = (
    ("memo", _memo),
    ("envelope", _without_caches),
    ("draft", _without_caches),
    ("planner", _planner),
)
_PLAIN: Final = engine("recomputes_everything", _PARTS)


def _again(argument: Any) -> Any:
    """An argument as another object, where it is one of the contract's."""
    return type(argument).from_json(argument.canonical()) if isinstance(argument, Frozen) else argument


def _port(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    answer = getattr(_PLAIN, name)

    async def port(_: object, **arguments: Any) -> Any:
        await asyncio.sleep(0)
        return answer(**{key: _again(argument) for key, argument in arguments.items()})

    return port


_ENGINE: Final[Any] = type("Recomputing", (), {name: _port(name) for name in METHODS})()
_ENGINE.manifest = _PLAIN.manifest


def recomputes_everything() -> Engine:
    """The engine without a memory."""
    engine: Engine = _ENGINE
    return engine
