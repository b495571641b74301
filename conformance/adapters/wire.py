"""JSON-RPC 2.0, one message a line, UTF-8: what both ends of the stdio adapter write and read."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from typing import Any, Literal

from pydantic import ValidationError, create_model
from pydantic_core import from_json

from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.calls import (
    METHODS,
    REVERSE,
    InitializeCall,
    Initialized,
    ShutdownCall,
)
from contextproof.conformance.contract.manifest import CONTRACT_VERSION
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.shape import explain, lone_surrogate

#: Codes of JSON-RPC 2.0, and the one for a call that failed.
NOT_JSON, NO_MESSAGE, UNKNOWN_METHOD, WRONG_PARAMS, FAILED = -32700, -32600, -32601, -32602, -32000
#: Characters of a line that a message quotes.
_QUOTED = 100
#: The head that `call_line` writes: it tells which model reads the line, without parsing it twice.
_HEAD = re.compile(rb'\{"jsonrpc":"2\.0","id":\d+,"method":"(\w+)"')
#: Plans whose JSON is remembered, and bytes of answers that are.
_PLANS = 8
_REMEMBERED = 2**22
_VERSION: Any = (Literal["2.0"], ...)
_ID: Any = (int | str, ...)


class OutOfStep(Exception):
    """What came is no message of the contract, or not the one whose turn it is."""


class WrongShape(Exception):
    """The right message, whose contents are not what the contract says."""


class ErrorObject(Frozen):
    """What went wrong with one call."""

    code: int
    message: str
    data: Any = None


class ErrorLine(Frozen):
    """A call that could not be answered."""

    jsonrpc: Literal["2.0"]
    id: int | str | None
    error: ErrorObject


def _call_model(name: str, params: type[Frozen]) -> Any:
    fields: dict[str, Any] = {
        "jsonrpc": _VERSION,
        "id": _ID,
        "method": (Literal[name], ...),
        "params": (params, ...),
    }
    return create_model(f"Line_{name}", __base__=Frozen, **fields)


def _result_model(name: str, result: Any) -> Any:
    fields: dict[str, Any] = {"jsonrpc": _VERSION, "id": _ID, "result": (result, ...)}
    return create_model(f"Result_{name}", __base__=Frozen, **fields)


_CALLS = {
    "initialize": _call_model("initialize", InitializeCall),
    "shutdown": _call_model("shutdown", ShutdownCall),
    **{name: _call_model(name, method.arguments) for name, method in METHODS.items()},
}
_ANSWERS = {
    "initialize": _result_model("initialize", Initialized),
    **{name: _result_model(name, method.answer_type) for name, method in METHODS.items()},
}
_REVERSE_CALLS = {name: _call_model(name, params) for name, (params, _) in REVERSE.items()}
_REVERSE_ANSWERS = {name: _result_model(f"reverse_{name}", answer) for name, (_, answer) in REVERSE.items()}

#: The models of what a builder may ask while a call of the suite is under way.
REQUESTS: tuple[type[Frozen], ...] = tuple(_REVERSE_CALLS.values())


def call_line(identifier: int | str, method: str, params: Frozen) -> bytes:
    """A call as a line."""
    return _head(identifier, method) + params.model_dump_json().encode() + b"}\n"


def _head(identifier: int | str, method: str) -> bytes:
    return f'{{"jsonrpc":"2.0","id":{json.dumps(identifier)},"method":"{method}","params":'.encode()


def result_line(identifier: int | str, result: Frozen) -> bytes:
    """An answer as a line."""
    head = f'{{"jsonrpc":"2.0","id":{json.dumps(identifier)},"result":'
    return head.encode() + result.model_dump_json().encode() + b"}\n"


def error_line(identifier: int | str | None, message: str, code: int = FAILED) -> bytes:
    """A failure as a line."""
    line = ErrorLine(jsonrpc="2.0", id=identifier, error=ErrorObject(code=code, message=message))
    return line.model_dump_json(exclude_defaults=True).encode() + b"\n"


class Writer:
    """Writes calls, and remembers the JSON of the plans that it wrote last: most calls carry one again."""

    def __init__(self) -> None:
        self._plans: OrderedDict[int, tuple[Plan, bytes]] = OrderedDict()

    def call(self, identifier: int, method: str, params: Frozen) -> bytes:
        """A call as a line."""
        plan = getattr(params, "plan", None)
        if not isinstance(plan, Plan):
            return call_line(identifier, method, params)
        others = params.model_dump_json(exclude={"plan"}).encode()
        return _head(identifier, method) + others[:-1] + b',"plan":' + self._json(plan) + b"}}\n"

    def _json(self, plan: Plan) -> bytes:
        written = self._plans.get(id(plan))
        if written is None:
            written = self._plans[id(plan)] = (plan, plan.model_dump_json().encode())
            if len(self._plans) > _PLANS:
                self._plans.popitem(last=False)
        return written[1]


class Reader:
    """Reads what a builder sends while a call is under way, and remembers the answers it read last.

    Many answers come again word for word: the same plan after a change, the same request from the same
    inputs. They are read once, and are then one object, which is quick to compare with itself.
    """

    def __init__(self) -> None:
        self._read: OrderedDict[tuple[str, bytes], Any] = OrderedDict()
        self._bytes = 0

    def answer(self, method: str, identifier: int, line: bytes) -> Any:
        """A builder's result, its error, or a call of its own.

        Raises:
            OutOfStep: where it is none of these, or the answer to another call.
            WrongShape: where it is the answer, of a shape that the contract does not know.
        """
        head = f'{{"jsonrpc":"2.0","id":{identifier},"result":'.encode()
        if not line.startswith(head):
            return _read_with_care(method, identifier, line)
        key = (method, line[len(head) :])
        message = self._read.get(key)
        if message is None:
            message = _read_with_care(method, identifier, line)
            self._remember(key, message)
        else:
            self._read.move_to_end(key)
        return message

    def _remember(self, key: tuple[str, bytes], message: Any) -> None:
        self._read[key] = message
        self._bytes += len(key[1])
        while self._bytes > _REMEMBERED:
            (_, forgotten), _ = self._read.popitem(last=False)
            self._bytes -= len(forgotten)


def _read_with_care(method: str, identifier: int, line: bytes) -> Any:
    """A message, or what is wrong with it."""
    if b'"result"' in line[:_QUOTED]:
        try:
            message = _ANSWERS[method].model_validate_json(line)
        except ValidationError:
            pass  # looked at below, to say what is wrong
        else:
            if message.id == identifier:
                return message
    members = _members(line)
    if "method" in members:
        return _reverse_call(members["method"], line)
    if members.get("id") != identifier:
        raise OutOfStep(_other_id(members, identifier))
    if method == "initialize" and "error" not in members:
        _check_version(members)
    model = ErrorLine if "error" in members else _ANSWERS[method]
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        raise WrongShape(f"answered a wrong shape: {explain(error)}") from error


def _members(line: bytes) -> dict[str, Any]:
    """The line as a JSON object. Raises OutOfStep."""
    begins = line[:_QUOTED].decode(errors="replace")
    try:
        value = from_json(line)
    except ValueError as error:
        place = lone_surrogate(line)
        if place:
            raise OutOfStep(f"a lone surrogate stands in {place}: text is whole characters only") from error
        if line.lstrip().startswith(b"{"):
            raise OutOfStep(f"the line is no valid JSON: {error}; it begins {begins!r}") from error
        value = None
    if isinstance(value, dict):
        return value
    raise OutOfStep(
        f"standard output carried no message of the protocol but {begins!r}; it belongs to the protocol "
        "alone, so print to standard error"
    )


def _check_version(members: dict[str, Any]) -> None:
    """Raises WrongShape where a builder declares another version of the contract."""
    result = members.get("result")
    manifest = result.get("manifest") if isinstance(result, dict) else None
    found = manifest.get("contract") if isinstance(manifest, dict) else None
    if isinstance(found, int) and found != CONTRACT_VERSION:
        raise WrongShape(
            f"says that the builder speaks version {found} of the contract, and this suite speaks "
            f"{CONTRACT_VERSION}; bring the older of them up to date"
        )


def _reverse_call(name: Any, line: bytes) -> Any:
    if not isinstance(name, str) or name not in _REVERSE_CALLS:
        raise OutOfStep(f"the builder called {name!r}; what it can call is {' and '.join(_REVERSE_CALLS)}")
    try:
        return _REVERSE_CALLS[name].model_validate_json(line)
    except ValidationError as error:
        raise OutOfStep(f"the builder called `{name}` with a wrong shape: {explain(error)}") from error


def _other_id(members: dict[str, Any], identifier: int) -> str:
    found = members.get("id")
    if found is None and isinstance(members.get("error"), dict):
        return f"the builder could not read the call: {members['error'].get('message')}"
    if isinstance(found, int) and 0 < found < identifier:
        return (
            f"call {identifier} was under way, and the answer is for call {found}, which is over; answer "
            "each call once, before the next one is made"
        )
    return f"the call had id {identifier}, and the answer has id {found!r}; give back the call's own id"


def read_call(line: bytes) -> Any:
    """What the suite sent to a builder: a call with ``id``, ``method`` and ``params``.

    Raises:
        BadCall: where it is none that this contract knows.
    """
    head = _HEAD.match(line)
    name: Any = head[1].decode() if head else None
    identifier = None
    if name not in _CALLS:
        try:
            members = from_json(line)
        except ValueError as error:
            raise BadCall(None, NOT_JSON, f"not JSON: {error}") from error
        if not isinstance(members, dict) or not isinstance(members.get("method"), str):
            raise BadCall(None, NO_MESSAGE, "not a call")
        name, identifier = members["method"], members.get("id")
    if name not in _CALLS:
        raise BadCall(identifier, UNKNOWN_METHOD, f"no method of this contract: {name}")
    try:
        return _CALLS[name].model_validate_json(line)
    except ValidationError as error:
        found = from_json(line, allow_partial=True)
        identifier = found.get("id") if isinstance(found, dict) else None
        raise BadCall(identifier, WRONG_PARAMS, f"not a call of this contract: {explain(error)}") from error


class BadCall(Exception):
    """A call that cannot be made of a builder; with what an error line needs."""

    def __init__(self, identifier: int | str | None, code: int, message: str) -> None:
        super().__init__(message)
        self.identifier, self.code = identifier, code


def read_reverse_answer(name: str, line: bytes) -> Any:
    """The suite's answer to a reverse call: a result or an error. Raises pydantic.ValidationError."""
    model = _REVERSE_ANSWERS[name] if b'"result"' in line[:_QUOTED] else ErrorLine
    return model.model_validate_json(line)
