"""The trimmer's own process: imports the function, and calls it for every line that comes in.

Kept to the standard library, so that nothing of ours meets what the function imports. It answers with
what the function returned or raised, and whether it changed what it was given.
"""

from __future__ import annotations

import asyncio
import copy
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

#: Names by which functions take the limit, where it is not simply their second argument.
LIMITS = (
    *("limit", "max_tokens", "token_limit", "tokens", "budget", "token_budget", "max_input_tokens"),
    *("max_context_tokens", "context_window", "window", "max_length", "max_token_count", "target_tokens"),
)
#: Names by which functions take the messages, where they are not simply their first argument.
MESSAGES = ("messages", "history", "conversation", "chat", "chat_history", "input")
#: Names by which functions take the system text, where the format holds it apart.
SYSTEMS = ("system", "system_prompt", "system_text", "instructions")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class NotCallable(Exception):
    """The function cannot be found or called; the sentence says what to mend."""


def serve(spec: str, here: str) -> None:
    """Say how the function is called, then answer line after line until the input ends."""
    lines = _keep_standard_output()
    sys.path.insert(0, here)
    try:
        function = find(spec)
        manner = manner_of(function)
    except NotCallable as error:
        _say(lines, {"error": str(error)})
        return
    is_async = any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None))))  # noqa: B004
    _say(lines, {"manner": {**manner, "is_async": is_async}})
    with asyncio.Runner() as runner:
        for line in sys.stdin.buffer:
            _say(lines, answer(function, manner, json.loads(line), runner))


def _keep_standard_output() -> TextIO:
    """Standard output is for answers alone: what the function prints goes to standard error."""
    ours = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    return ours


def _say(lines: TextIO, value: object) -> None:
    lines.write(json.dumps(value) + "\n")
    lines.flush()


def find(spec: str) -> Callable[..., Any]:
    """The function that a name stands for. Raises NotCallable."""
    module_name, _, name = spec.partition(":")
    try:
        function = getattr(importlib.import_module(module_name), name, None)
    except Exception as error:
        raise NotCallable(f"importing {module_name} raised {type(error).__name__}: {error}") from error
    if not callable(function):
        raise NotCallable(f"{module_name} has no function named {name!r}")
    return function  # type: ignore[no-any-return]


def manner_of(function: Callable[..., Any]) -> dict[str, str]:
    """The keyword for messages, limit and system; empty means by position, and no system where missing.

    Raises:
        NotCallable: where something else has to be given too.
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {"messages": "", "limit": ""}
    positional = [name for name, one in parameters.items() if one.kind in _POSITIONAL]
    keyword = [name for name, one in parameters.items() if one.kind is inspect.Parameter.KEYWORD_ONLY]
    by_name = [*keyword, *(n for n in positional if parameters[n].kind is not _POSITIONAL[0])]
    messages = "" if positional else _first(MESSAGES, keyword)
    limit = _first(LIMITS, [name for name in by_name if name not in positional[:1]])
    if limit is None and len(positional) > 1:
        limit = ""
    if messages is None or limit is None:
        raise NotCallable(
            f"{_name(function)}{inspect.signature(function)} does not take messages and a limit; "
            f"take them as the first two arguments, or name the limit {', '.join(LIMITS[:3])} …"
        )
    manner = {"messages": messages, "limit": limit}
    system = _first(SYSTEMS, by_name)
    if system:
        manner["system"] = system
    given = {*manner.values(), *positional[: 1 if limit else 2]}
    open_ones = [n for n, one in parameters.items() if one.default is one.empty and n not in given]
    asked = [n for n in open_ones if parameters[n].kind in {*_POSITIONAL, inspect.Parameter.KEYWORD_ONLY}]
    if asked:
        raise NotCallable(f"{_name(function)} asks for {', '.join(asked)} too; give defaults, or wrap it")
    return manner


def _first(names: tuple[str, ...], among: list[str]) -> str | None:
    return next((name for name in names if name in among), None)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def answer(
    function: Callable[..., Any], manner: dict[str, str], call: dict[str, Any], runner: asyncio.Runner
) -> dict[str, Any]:
    """What came of one call: what was returned or raised, and whether the messages were changed."""
    messages = call["messages"]
    before = copy.deepcopy(messages)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for key, value in (("messages", messages), ("limit", call["limit"]), ("system", call["system"])):
        if manner.get(key):
            named[manner[key]] = value
        elif key in manner:
            positional.append(value)
    try:
        returned = function(*positional, **named)
        if inspect.isawaitable(returned):
            returned = runner.run(_awaited(returned))
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- whatever it is, it is told
        found = _raised(error)
    else:
        found = _returned(returned)
    return {**found, "changed": messages != before}


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


def _raised(error: BaseException) -> dict[str, Any]:
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
    return {"raised": type(error).__name__, "says": str(error)[:300], "kinds": kinds}


def _returned(returned: Any) -> dict[str, Any]:
    if isinstance(returned, tuple):
        returned = list(returned)
    if not isinstance(returned, list):
        return {"wrong": f"it returned a {type(returned).__name__}, not a list of messages"}
    try:
        json.dumps(returned, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return {"wrong": f"it returned what JSON cannot hold: {error}"}
    return {"returned": returned}


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2])
