"""What a CI service shows beside the code: GitHub's annotations, and its job summary."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from contextproof.conformance.causes import in_order_of_cause
from contextproof.conformance.report.escape import visible
from contextproof.conformance.report.words import SENTENCE, shortened
from contextproof.conformance.requirements.registry import REGISTRY
from contextproof.conformance.verdicts import Result, Verdict

#: GitHub shows ten of a kind for a step.
_MOST = 10


def in_github(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this runs in GitHub Actions."""
    return environment.get("GITHUB_ACTIONS") == "true"


def annotation_lines(results: Sequence[Result], trouble: Sequence[str]) -> Iterator[str]:
    """Lines that GitHub turns into annotations: an error for each failure, a warning for each SHOULD.

    Args:
        results: of every requirement judged.
        trouble: what the builder did wherever it broke down.
    """
    failed = in_order_of_cause(results)
    for result, causes in failed[:_MOST]:
        follows = f" (follows from {', '.join(causes)})" if causes else ""
        cost = REGISTRY[result.requirement].cost
        yield _annotation("error", _title(result), f"{_seen(result)}{follows} {cost}")
    if len(failed) > _MOST:
        more = ", ".join(result.requirement for result, _ in failed[_MOST:])
        yield _annotation("error", f"{len(failed) - _MOST} more failures", more)
    if trouble:
        yield _annotation("error", f"builder errors, {len(trouble):,} sessions", trouble[0])
    for result in results:
        if result.verdict is Verdict.WARNED:
            yield _annotation("warning", _title(result), _seen(result))


def _title(result: Result) -> str:
    return f"{result.requirement} {REGISTRY[result.requirement].name.replace('_', ' ')}"


def _seen(result: Result) -> str:
    return result.found.violation.seen if result.found is not None else result.note


def _annotation(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_property(visible(title))}::{_data(shortened(message, SENTENCE))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def add_job_summary(markdown: str, environment: Mapping[str, str] = os.environ) -> None:
    """Append Markdown to the job's summary, where there is one."""
    path = environment.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(markdown)
