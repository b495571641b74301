"""An engine that remembers every answer, by the port and the canonical JSON of its arguments.

Asked the same again, even in another session or long after, it gives the very object that it gave
before. A compaction alone is carried out each time, since its summarizer is an argument too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from contextproof.calibration.odd.grammar import engine
from contextproof.conformance.contract.base import sha256
from contextproof.conformance.contract.calls import METHODS
from contextproof.conformance.contract.ports import Engine

_REMEMBERED: Final = 20_000

_PLAIN: Final = engine("remembers_everything", ())
_ANSWERS: Final[OrderedDict[tuple[str, str], Any]] = OrderedDict()


def _key(name: str, arguments: dict[str, Any]) -> tuple[str, str]:
    shown = (f"{key} {_json(argument)}" for key, argument in sorted(arguments.items()))
    return name, sha256("\n".join(shown))


def _json(argument: Any) -> str:
    if isinstance(argument, tuple):
        return f"[{','.join(_json(one) for one in argument)}]"
    return argument.canonical().decode() if hasattr(argument, "canonical") else repr(argument)


def _port(name: str) -> Callable[..., Any]:
    answer = getattr(_PLAIN, name)

    def port(_: object, **arguments: Any) -> Any:
        if "summarize" in arguments:
            return answer(**arguments)
        key = _key(name, arguments)
        if key not in _ANSWERS:
            _ANSWERS[key] = answer(**arguments)
            if len(_ANSWERS) > _REMEMBERED:
                _ANSWERS.popitem(last=False)
        return _ANSWERS[key]

    return port


_ENGINE: Final[Any] = type("Remembering", (), {name: _port(name) for name in METHODS})()
_ENGINE.manifest = _PLAIN.manifest


def remembers_everything() -> Engine:
    """The engine of the long memory."""
    odd: Engine = _ENGINE
    return odd
