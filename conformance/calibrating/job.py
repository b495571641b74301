"""What is measured of one engine, and what that leaves behind."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.evidence import Evidence, Found


class Kind(StrEnum):
    """What is known of an engine beforehand: one fault, none, or that it does next to nothing."""

    FAULTY = "faulty"
    ODD = "odd"
    NULL = "null"


class Job(Frozen):
    """An engine, and the sessions that it is measured by. One process does it from start to end.

    Attributes:
        name, kind, spec: the engine, and how the command line names it.
        breaks: for a faulty one, the requirement that its fault violates; empty otherwise.
        source: key of the strategy whose sessions are played, ``scripted`` for the scripted ones.
        seeds: of what is generated; each is played by itself.
        sessions: how many are generated for each seed; for one that has not detected a faulty engine by
            then, as many as it takes, up to a certification's.
        explicit: whether the strategy's explicit sessions are played before.
        to_the_end: whether to go on once the named requirement was violated, to count how often it is.
        shrinks: whether the counterexample is made small.
    """

    name: Id
    kind: Kind
    spec: str
    breaks: str = ""
    source: str
    seeds: Annotated[tuple[Count, ...], Field(min_length=1)]
    sessions: Count
    explicit: bool = True
    to_the_end: bool = False
    shrinks: bool = False

    @property
    def title(self) -> str:
        """Names its record: the same job has the same title."""
        return f"{self.kind}-{self.name}-{self.source}-{'.'.join(map(str, self.seeds))}"


class Play(Frozen):
    """One seed's sessions of a job.

    Attributes:
        first: which session was the first to violate the named requirement (for an engine of which none
            is named, any), counting from 1 and explicit sessions first; None where none did.
        explicit, generated: sessions played of each sort; ``hits`` those generated ones that violated it.
        violated: every requirement violated, with how many sessions of both sorts violated it.
    """

    seed: Count
    first: Count | None
    explicit: Count
    generated: Count
    hits: Count
    violated: tuple[tuple[str, int], ...]


class Measured(Frozen):
    """What a job leaves behind.

    Attributes:
        told: the requirement that a report would name first; empty where nothing was violated.
        found: the smallest session that violates the named requirement (or any, where none is named).
        steps: how many steps it has, made small.
        blinded: for a faulty engine that was detected, whether the same session still counts as a
            detection once the named requirement always holds. It must not.
        evidence: all of it, by requirement.
        trouble: what the engine answered outside the contract, if it did.
    """

    job: Job
    plays: tuple[Play, ...]
    told: str
    found: Found | None
    steps: Count | None
    blinded: bool | None
    evidence: tuple[Evidence, ...]
    trouble: tuple[str, ...] = ()
