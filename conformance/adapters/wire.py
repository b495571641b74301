"""JSON-RPC 2.0, one message a line, UTF-8: the messages both ends of the stdio adapter read and write."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import Discriminator, Tag, TypeAdapter, create_model

from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.calls import METHODS, REVERSE, InitializeCall, Initialized

_VERSION: Any = (Literal["2.0"], ...)


class ErrorObject(Frozen):
    """What went wrong with one call."""

    code: int
    message: str


class ErrorLine(Frozen):
    """A call that could not be answered."""

    jsonrpc: Literal["2.0"]
    id: int | str | None
    error: ErrorObject


def call_line(identifier: int | str, method: str, params: Frozen) -> bytes:
    """A call as a line."""
    head = f'{{"jsonrpc":"2.0","id":{_json(identifier)},"method":"{method}","params":'
    return head.encode() + params.model_dump_json().encode() + b"}\n"


def result_line(identifier: int | str, result: Frozen) -> bytes:
    """An answer as a line."""
    head = f'{{"jsonrpc":"2.0","id":{_json(identifier)},"result":'
    return head.encode() + result.model_dump_json().encode() + b"}\n"


def error_line(identifier: int | str | None, message: str, code: int = -32000) -> bytes:
    """A failure as a line."""
    line = ErrorLine(jsonrpc="2.0", id=identifier, error=ErrorObject(code=code, message=message))
    return line.model_dump_json().encode() + b"\n"


def _json(identifier: int | str) -> str:
    return str(identifier) if isinstance(identifier, int) else TypeAdapter(str).dump_json(identifier).decode()


def _call_model(name: str, params: type[Frozen]) -> Any:
    fields: dict[str, Any] = {
        "jsonrpc": _VERSION,
        "id": (int | str, ...),
        "method": (Literal[name], ...),
        "params": (params, ...),
    }
    return create_model(f"Line_{name}", __base__=Frozen, **fields)


def _result_model(name: str, result: Any) -> Any:
    fields: dict[str, Any] = {"jsonrpc": _VERSION, "id": (int | str, ...), "result": (result, ...)}
    return create_model(f"Result_{name}", __base__=Frozen, **fields)


def _kind(value: Any) -> str:
    """Which sort of line this is, by its members."""
    members = value if isinstance(value, dict) else vars(value)
    if "method" in members:
        return str(members["method"])
    return "error" if "error" in members else "result"


def _line_adapter(result: Any, calls: dict[str, type[Frozen]], label: str) -> TypeAdapter[Any]:
    """Reads a line that is a result of one kind, an error, or one of some calls."""
    lines: list[Any] = [
        Annotated[_result_model(label, result), Tag("result")],
        Annotated[ErrorLine, Tag("error")],
        *(Annotated[_call_model(name, params), Tag(name)] for name, params in calls.items()),
    ]
    # A union put together at run time: type checkers can only take it as it comes.
    union: Any = Annotated[Union[tuple(lines)], Discriminator(_kind)]  # noqa: UP007
    return TypeAdapter(union)


_REVERSE_CALLS = {name: params for name, (params, _) in REVERSE.items()}

#: By method: reads what a builder may send while that call is under way.
ANSWER_LINES: dict[str, TypeAdapter[Any]] = {
    "initialize": _line_adapter(Initialized, _REVERSE_CALLS, "initialize"),
    **{name: _line_adapter(method.answer_type, _REVERSE_CALLS, name) for name, method in METHODS.items()},
}

#: Reads what the suite may send to a builder.
CALL_LINES = _line_adapter(
    Frozen,
    {"initialize": InitializeCall, **{name: m.arguments for name, m in METHODS.items()}},
    "none",
)

#: By reverse call: reads the suite's answer to it.
REVERSE_LINES: dict[str, TypeAdapter[Any]] = {
    name: _line_adapter(answer, {}, f"reverse_{name}") for name, (_, answer) in REVERSE.items()
}
