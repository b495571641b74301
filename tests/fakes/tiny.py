"""A tiny scenario for tests of the driver, and the minimal example builder to play it against."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from contextproof.conformance.adapters.in_process import InProcess
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.play.trace import Trace

EXAMPLES = Path(__file__).parents[2] / "examples"
OPENING: dict[str, Any] = {
    "model": {"name": "m", "body_tokens": 5000, "output_reserve": 100},
    "policy": [{"id": "p", "text": "Do no harm."}],
    "tools": [
        {"id": "t1", "name": "read", "description": "Reads.", "parameters_json": '{"b":1,"a":2}'},
        {"id": "t2", "name": "write", "description": "Writes."},
    ],
    "permissions": ["read"],
}


def minimal_builder() -> Any:
    """The class of the README's example."""
    return runpy.run_path(str(EXAMPLES / "minimal_builder.py"))["MyBuilder"]


def scenario(*steps: dict[str, Any], **opening: Any) -> Scenario:
    """A scenario of these steps."""
    document = {"name": "tiny", "opening": {**OPENING, **opening}, "steps": list(steps)}
    return Scenario.model_validate_json(_json(document))


def played(*steps: dict[str, Any], builder: Any = None, **opening: Any) -> Trace:
    """The trace of these steps against the minimal builder, or another."""
    engine = builder if builder is not None else minimal_builder()()
    return play(scenario(*steps, **opening), InProcess(engine), corpus=lambda name: f"{name} text. ")


def _json(document: dict[str, Any]) -> bytes:
    import json

    return json.dumps(document).encode()


USER = {"step": "user", "id": "u1", "text": "Hello."}
REQUEST = {"step": "request"}


def reply(identifier: str, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A reply step."""
    return {"step": "reply", "id": identifier, "calls": list(calls), **more}


def call(identifier: str, **more: Any) -> dict[str, Any]:
    """A call of the reading tool, answered with a word unless told otherwise."""
    outcome = {"id": f"r-{identifier}", "text": "found"}
    return {"id": identifier, "call_id": "1", "name": "read", "outcome": outcome, **more}
