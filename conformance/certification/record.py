"""The run record: what a run leaves behind, a line of JSON at a time, in one file that only grows.

A header says what is measured and how; then comes a line for each session judged, in any order; at the
end verdicts, counterexamples and a footer. A run without a footer is still going on, or was interrupted.
Everything else that is told of a run is worked out from these lines alone.
"""

from __future__ import annotations

import platform
import sys
from functools import cache
from importlib.metadata import version
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, TypeAdapter, model_validator

from contextproof.conformance.builder import Builder
from contextproof.conformance.certification.budget import Budget
from contextproof.conformance.certification.series import Series
from contextproof.conformance.certification.timeline import Timeline
from contextproof.conformance.contract.base import Count, Frozen, Id, canonical_json, sha256
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.tokenizers import TokenizerName, digest
from contextproof.conformance.counterexample import Counterexample
from contextproof.conformance.evidence import Evidence
from contextproof.conformance.judgement import Judgement
from contextproof.conformance.metrics import Tally
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import Gate, Level
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import Verdict

#: Name of the file within a run's folder.
FILE = "run.jsonl"
#: Version of the requirement set; it changes where a requirement's meaning does.
REQUIREMENT_SET = "1.0"


class Listed(Frozen):
    """A requirement as it stood when the run was made; evidence counts ``witnesses`` in this order."""

    id: Id
    name: str
    level: Level
    gate: Gate | None
    witnesses: tuple[str, ...]


class RequirementSet(Frozen):
    """What was judged by. ``sha256`` covers the texts too."""

    version: str
    sha256: str
    requirements: tuple[Listed, ...]


class Environment(Frozen):
    """Where it ran, as far as it may matter: no names of hosts or people, no paths."""

    python: str
    """The version of Python."""
    implementation: str
    """Whose Python it is."""
    platform: str
    """Operating system and processor."""


class Shard(Frozen):
    """Part ``number`` of ``of`` equal parts of a run's units."""

    number: Annotated[int, Field(ge=1)]
    """Which part."""
    of: Annotated[int, Field(ge=1)]
    """Of how many."""

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if self.number > self.of:
            raise ValueError("a shard's number is at most the number of shards")
        return self

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class Header(Frozen):
    """What is measured, by what, and how much of it.

    Attributes:
        record: version of this format.
        suite: version of contextproof.
        tokenizers: SHA-256 digests of rank files, by name.
        units: names of all units of the first round, of the whole run and not of a shard alone.
        shard: the part of them that this record is to hold; None for all.
    """

    line: Literal["header"] = "header"
    record: Literal[1] = 1
    suite: str
    requirements: RequirementSet
    tokenizers: tuple[tuple[str, str], ...]
    builder: Target
    manifest: Manifest
    ports: tuple[str, ...]
    environments: tuple[Environment, ...]
    budget: Budget
    units: tuple[Id, ...]
    shard: Shard | None = None


class RoundLine(Frozen):
    """A soak goes on with another round of units."""

    line: Literal["round"] = "round"
    units: tuple[Id, ...]


class Noted(Frozen):
    """A violation, as the first one of its requirement in a session."""

    requirement: Id
    violation: Judgement


class SessionLine(Frozen):
    """One session that was played and judged, or in which the builder broke down.

    Attributes:
        unit, index: its place. ``of``: lines that its unit has, so that a whole one can be told.
        name, steps, ended: the scenario's name, how many steps it has, and how it ended.
        evidence: by requirement that was put to the test: judgements, violations, then how often each
            witness was seen, in the header's order.
        violations: of requirements that no shorter session of the unit violates; all, where it is the
            only one. ``scenario`` is there where they are, or where there is trouble.
        trouble: how the builder crashed or answered outside the contract; nothing was judged then.
        series: request by request, for scripted sessions.
    """

    line: Literal["session"] = "session"
    unit: Id
    index: Count
    of: Count = 0
    name: Id
    steps: Count
    ended: str
    requests: Count
    milliseconds: Count
    evidence: dict[Id, tuple[int, ...]] = Field(default_factory=dict)
    violations: tuple[Noted, ...] = ()
    scenario: Scenario | None = None
    trouble: str | None = None
    tally: Tally = Tally()
    series: Series | None = None


class KnownFailure(Frozen):
    """A failure that is known, and does not fail the run meanwhile."""

    id: str
    """The requirement that fails."""
    reason: Annotated[str, Field(min_length=1)]
    """Why that is put up with."""
    link: str = ""
    """Where it is followed up."""


class KnownLine(Frozen):
    """The failures that the builder's owner listed as known."""

    line: Literal["known"] = "known"
    failures: tuple[KnownFailure, ...]


class VerdictLine(Frozen):
    """The verdict on a requirement, as it came out of the lines before."""

    line: Literal["verdict"] = "verdict"
    requirement: Id
    verdict: Verdict
    sessions: Count
    judgements: Count
    violations: Count
    note: str = ""


class CounterexampleLine(Frozen):
    """A counterexample, as its file beside the record holds it, and how it went."""

    line: Literal["counterexample"] = "counterexample"
    file: str
    counterexample: Counterexample
    timeline: Timeline


class Footer(Frozen):
    """The end. ``complete`` says whether every unit of the whole run was played."""

    line: Literal["footer"] = "footer"
    complete: bool
    units: Count
    sessions: Count
    requests: Count
    troubled: Count
    verdicts_sha256: str


Line = Annotated[
    Header | RoundLine | SessionLine | KnownLine | VerdictLine | CounterexampleLine | Footer,
    Field(discriminator="line"),
]
LINE: TypeAdapter[Line] = TypeAdapter(Line)


def written(line: Frozen) -> bytes:
    """A line as it stands in the file."""
    return line.model_dump_json().encode() + b"\n"


@cache
def requirement_set() -> RequirementSet:
    """The requirements of this version of the suite."""
    known = all_requirements()
    texts = [[r.id, r.level, r.gate, r.text, list(r.witnesses), list(r.optional)] for r in known]
    return RequirementSet(
        version=REQUIREMENT_SET,
        sha256=sha256(canonical_json(texts)),
        requirements=tuple(
            Listed(id=r.id, name=r.name, level=r.level, gate=r.gate, witnesses=r.witnesses) for r in known
        ),
    )


def environment() -> Environment:
    """Where this process runs."""
    return Environment(
        python=".".join(map(str, sys.version_info[:3])),
        implementation=platform.python_implementation(),
        platform=f"{platform.system()} {platform.machine()}",
    )


def header(
    target: Target, builder: Builder, budget: Budget, units: tuple[str, ...], shard: Shard | None = None
) -> Header:
    """The header of a run that starts here and now."""
    return Header(
        suite=version("contextproof"),
        requirements=requirement_set(),
        tokenizers=tuple((name, digest(name)) for name in get_args(TokenizerName)),
        builder=target,
        manifest=builder.manifest,
        ports=tuple(sorted(builder.ports)),
        environments=(environment(),),
        budget=budget,
        units=units,
        shard=shard,
    )


def compact(evidence: Evidence, witnesses: tuple[str, ...]) -> tuple[int, ...]:
    """Evidence of one session as it stands in a line."""
    seen = dict(evidence.witnesses)
    return (evidence.judgements, evidence.violations, *(seen.get(witness, 0) for witness in witnesses))
