"""Examples: the small session as it goes over the wire, and one call of each kind with its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from contextproof.conformance.adapters.stdio import host
from contextproof.conformance.contract.calls import METHODS, REVERSE, CountCall, Counted, EstimateCall
from contextproof.conformance.contract.plan import Calibration
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.play.driver import play
from contextproof.conformance.smoke import small_session

Line = dict[str, Any]

_COUNTED = ("", "Hello, world", "naïve 漢字 😀", "<|endoftext|>")


def transcript(spec: str) -> list[Line]:
    """Every line of the small session with a hosted builder, from handshake to shutdown.

    Each is ``{"from": "suite" or "builder", "message": …}``, in the order in which they went.
    """
    lines: list[Line] = []
    builder = host(spec, listen=lambda sender, line: lines.append(_line(sender, line)))
    try:
        trace = play(small_session(), builder, beside=frozenset())
        last = trace.sent[-1]
        builder.call(
            EstimateCall(context=last.build.context, calibration=Calibration(), blocks=last.request.blocks)
        )
    finally:
        builder.close()
    return lines


def _line(sender: str, line: bytes) -> Line:
    return {"from": sender, "message": json.loads(line)}


def pairs(lines: list[Line]) -> dict[str, dict[str, Line]]:
    """By method, the first call of a transcript that has it, and its answer."""
    found: dict[str, dict[str, Line]] = {}
    calls: dict[Any, Line] = {}
    for line in lines:
        message = line["message"]
        if "method" in message:
            calls[message["id"]] = message
        else:
            call = calls[message["id"]]
            found.setdefault(call["method"], {"call": call, "answer": message})
    found.setdefault("count", _counting())
    return {name: found[name] for name in (*METHODS, *REVERSE, "initialize", "shutdown") if name in found}


def _counting() -> dict[str, Line]:
    """The reverse call that the reference has no need of."""
    call = CountCall(tokenizer="o200k_base", texts=_COUNTED)
    answer = Counted(tokens=tuple(count(call.tokenizer, text) for text in call.texts))
    head = {"jsonrpc": "2.0", "id": "count-1"}
    return {
        "call": {**head, "method": "count", "params": call.model_dump(mode="json")},
        "answer": {**head, "result": answer.model_dump(mode="json")},
    }


def as_lines(lines: list[Line]) -> Iterator[str]:
    """A transcript as JSONL."""
    for line in lines:
        yield json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
