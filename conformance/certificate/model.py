"""The certificate as a document: everything it claims, with what that rests on, and how to try it again."""

from __future__ import annotations

from typing import Literal

from contextproof.conformance.certification.budget import Budget
from contextproof.conformance.certification.outcome import Level
from contextproof.conformance.certification.record import Environment, KnownFailure, Shard
from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.contract.vocabulary import Decision
from contextproof.conformance.metrics import Metrics
from contextproof.conformance.requirements.registry import Gate
from contextproof.conformance.requirements.registry import Level as Obligation
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import Verdict


class Identity(Frozen):
    """The builder as it named itself, and how it was reached."""

    name: str
    """Its name, by its manifest."""
    version: str
    """Its version, by its manifest."""
    reached: Target
    """The factory or the command that it was reached by."""


class GateLine(Frozen):
    """One of the five gates."""

    gate: Gate
    """Which one."""
    holds: bool
    """Whether it holds: all of its requirements are claimed, were put to the test, and held."""
    verdict: Verdict
    """The worst verdict of its requirements."""
    judgements: Count
    """How many judgements it rests on."""
    requirements: tuple[str, ...]
    """Ids of its requirements."""


class WitnessLine(Frozen):
    """A named situation in which a requirement could really be violated."""

    situation: str
    """What it is."""
    times: Count
    """In how many judgements it was there."""


class RequirementLine(Frozen):
    """A requirement with its verdict and evidence."""

    id: str
    """Its id; `contextproof explain ID` gives its text."""
    name: str
    """Its name."""
    decision: Decision
    """The decision that it restates."""
    level: Obligation
    """MUST or SHOULD. A SHOULD that is violated warns, and bars no level."""
    gate: Gate | None
    """The gate that it belongs to, if any."""
    verdict: Verdict
    """What came of it."""
    note: str
    """Why there is no evidence, where there is none; else empty."""
    sessions: Count
    """Sessions that put it to the test."""
    judgements: Count
    """Places at which it was judged."""
    violations: Count
    """Places at which it was violated."""
    witnesses: tuple[WitnessLine, ...]
    """The situations that it was to be judged in, and how often it was."""
    seen: str
    """What was seen at the first violation kept; else empty."""
    required: str
    """What is required there; else empty."""
    cost: str
    """What a violation costs the builder's owner."""
    follows_from: tuple[str, ...]
    """Ids of failures that this one follows from."""


class Deviation(Frozen):
    """A reading that is looser than the record's letter, or a choice that the builder declared."""

    subject: Literal["order", "active slot", "structural types", "pointer for an active result"]
    """What it is about."""
    told: str
    """What the builder does."""


class CalibrationFigures(Frozen):
    """How well this version of the suite detects what is wrong, and leaves alone what is right."""

    faulty: Count
    """Faulty engines measured."""
    detected: Count
    """Those of them that were detected whatever the seed, by the requirement that they break."""
    conforming: Count
    """Engines measured that conform and look unlike the reference."""
    false_alarms: Count
    """Accusations of them."""
    sessions_to_detection: Count
    """Sessions until a fault shows, the median."""
    steps_of_a_counterexample: Count
    """Steps of the smallest session that shows it, the median."""


class Floor(Frozen):
    """What doing next to nothing scores: a real score is read against it."""

    engine: str
    """The trivial engine that passes the most."""
    passed: Count
    """Requirements that it passes."""
    requirements: Count
    """Of how many."""


class CounterexampleFile(Frozen):
    """A session that shows a failure."""

    requirement: str
    """The id of what it violates."""
    file: str
    """The file that holds it, beside the run record."""
    steps: Count
    """How many steps it has."""


class Trouble(Frozen):
    """Sessions in which the builder crashed or answered outside the contract."""

    sessions: Count
    """How many."""
    first: str
    """What happened in the first one."""


class Certificate(Frozen):
    """What a run says of a builder."""

    document: Literal["contextproof certificate"] = "contextproof certificate"
    """What this is."""
    version: Literal[1] = 1
    """The version of its form."""
    level: Level | None
    """`full` where every MUST is claimed and holds, `partial` where some whole decisions do, else `none`.
    Null where the run certifies nothing.
    """
    verdict: str
    """The answer in one sentence."""
    decisions: tuple[Decision, ...]
    """The decisions that hold as a whole."""
    builder: Identity
    """What was measured."""
    suite: str
    """The version of contextproof that measured it."""
    requirement_set: str
    """The version of the requirements."""
    requirement_sha256: str
    """A digest of their texts."""
    tokenizers: tuple[tuple[str, str], ...]
    """The tokenizers that counted, with the SHA-256 of their rank files."""
    environments: tuple[Environment, ...]
    """What it ran on."""
    budget: Budget
    """How much was played, from which seed and nonce."""
    shard: Shard | None
    """The part of the run that this is; null for all of it."""
    complete: bool
    """Whether every session of the budget was played."""
    sessions: Count
    """Sessions judged."""
    requests: Count
    """Requests sent in them."""
    gates: tuple[GateLine, ...]
    """The five gates."""
    metrics: Metrics
    """The four metrics, shares and ratios in thousandths."""
    requirements: tuple[RequirementLine, ...]
    """Every requirement that was to be judged."""
    not_claimed: tuple[Decision, ...]
    """Decisions that the builder does not claim: neither passed nor failed."""
    deviations: tuple[Deviation, ...]
    """Looser readings and declared choices that the builder makes use of."""
    known_failures: tuple[KnownFailure, ...]
    """Failures that its owner listed as known. They are failures all the same."""
    trouble: Trouble | None
    """Where the builder broke down; null where it never did."""
    counterexamples: tuple[CounterexampleFile, ...]
    """Sessions that show failures."""
    calibration: CalibrationFigures | None
    """How good the instrument is; null where this version was not calibrated."""
    null_floor: Floor | None
    """What doing next to nothing scores; null where this version was not calibrated."""
    reproduce: str
    """The command that plays the same sessions again."""
    verify: str
    """The command that plays others, under a fresh nonce, and says whether this stands."""
