"""The kill matrix: what was said of each engine, what is known of it, and whether that is good enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import NormalDist, median

from contextproof.calibration.inseparable import INSEPARABLE
from contextproof.calibration.null import EXCUSED
from contextproof.calibration.null.engines import Empty
from contextproof.conformance.calibrating.job import Kind, Measured
from contextproof.conformance.certification.budget import SESSIONS, WEIGHTS
from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.contract.calls import METHODS
from contextproof.conformance.evidence import Ledger
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.verdicts import Verdict, decide

#: What the suite is to reach: medians over the faulty engines.
MOST_SESSIONS, MOST_STEPS = 20, 6
_CONFIDENCE = 0.95


class Share(Frozen):
    """A probability in thousandths, with the bounds of its interval at 95 %."""

    estimate: Count
    low: Count
    high: Count


class FaultyRow(Frozen):
    """A faulty engine.

    Attributes:
        breaks, told: the requirement that its fault violates, and the one that a report names first.
        seeds, detected: seeds played, and those of them in which the named requirement was violated.
        by_hand: whether a session that is written down shows the fault, so that chance has no part.
        hits, generated: generated sessions that violated the named requirement, and all.
        in_certification: how likely generated sessions alone show it in a certification of default size.
        sessions: to the first violation, the median of the seeds. ``steps`` of the counterexample.
        others: requirements violated beside the named one.
        blinded: whether it is still detected while the named requirement always holds.
    """

    name: str
    breaks: str
    told: str
    seeds: Count
    detected: Count
    by_hand: bool
    hits: Count
    generated: Count
    in_certification: Share
    sessions: Count | None
    steps: Count | None
    others: tuple[str, ...]
    blinded: bool | None
    trouble: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether it was detected whatever the seed, and for what is wrong with it.

        What can't be told apart from other requirements may be told by one of those first.
        """
        named = self.told == self.breaks or (self.breaks in INSEPARABLE and self.told in self.others)
        return self.detected == self.seeds and named


class OddRow(Frozen):
    """An engine that conforms: sessions played, and requirements that accuse it."""

    name: str
    sessions: Count
    alarms: tuple[str, ...]
    trouble: tuple[str, ...]


class NullRow(Frozen):
    """An engine that does next to nothing: what it passes all the same."""

    name: str
    sessions: Count
    passes: tuple[str, ...]
    trouble: tuple[str, ...]


class Matrix(Frozen):
    """All rows, and of how many requirements they are rows."""

    suite: str
    depth: str
    seed: Count
    whole: bool
    faulty: tuple[FaultyRow, ...]
    odd: tuple[OddRow, ...]
    null: tuple[NullRow, ...]
    requirements: Count

    @property
    def median_sessions(self) -> int:
        """Sessions to detection, over the faulty engines that were detected."""
        return int(median([row.sessions for row in self.faulty if row.sessions is not None] or [0]))

    @property
    def median_steps(self) -> int:
        """Steps of a counterexample, over those that have one."""
        return int(median([row.steps for row in self.faulty if row.steps is not None] or [0]))


def matrix(suite: str, depth: str, seed: int, records: Sequence[Measured], *, whole: bool) -> Matrix:
    """The matrix of some records. It is ``whole`` where every engine of known verdict was measured."""
    return Matrix(
        suite=suite,
        depth=depth,
        seed=seed,
        whole=whole,
        faulty=tuple(_faulty_row(record) for record in records if record.job.kind is Kind.FAULTY),
        odd=tuple(_odd_row(name, own) for name, own in _by_name(records, Kind.ODD)),
        null=tuple(_null_row(name, own) for name, own in _by_name(records, Kind.NULL)),
        requirements=len(all_requirements()),
    )


def complaints(found: Matrix) -> list[str]:
    """What falls short of what the suite is to reach; nothing, where all is well."""
    told: list[str] = []
    for row in found.faulty:
        if row.detected < row.seeds:
            told.append(f"{row.name} was detected for {row.detected} of {row.seeds} seeds")
        elif not row.is_right:
            told.append(f"{row.name} breaks {row.breaks}, and a report names {row.told} first")
        if row.blinded:
            told.append(f"{row.name} still counts as detected while {row.breaks} always holds")
        if row.trouble:
            told.append(f"{row.name} answered outside the contract: {row.trouble[0]}")
    for odd in found.odd:
        told += [f"{odd.name} conforms, and {identifier} accuses it" for identifier in odd.alarms]
    rows: tuple[OddRow | NullRow, ...] = (*found.odd, *found.null)
    for other in rows:
        told += [f"{other.name} answered outside the contract: {trouble}" for trouble in other.trouble]
    if found.median_sessions > MOST_SESSIONS:
        told.append(f"half of the faults take more than {found.median_sessions} sessions to show")
    if found.median_steps > MOST_STEPS:
        told.append(f"half of the counterexamples have more than {found.median_steps} steps")
    return told + (_gaps(found) if found.whole else [])


def _gaps(found: Matrix) -> list[str]:
    """Requirements that no faulty engine stands for, and tables that say what is no longer so."""
    told = []
    alone = independent(found)
    broken = {row.breaks for row in found.faulty}
    for requirement in all_requirements():
        identifier = requirement.id
        if identifier not in broken:
            told.append(f"no faulty engine breaks {identifier}")
        elif identifier not in alone and identifier not in INSEPARABLE:
            told.append(f"no faulty engine breaks {identifier} alone, and nothing says why")
    passed = {identifier for row in found.null for identifier in row.passes}
    told += [f"a null engine passes {one}, and nothing says why" for one in sorted(passed - set(EXCUSED))]
    told += [f"{one} is said to be inseparable, and is not" for one in INSEPARABLE if one in alone]
    return told


def independent(found: Matrix) -> dict[str, str]:
    """By requirement: a faulty engine that breaks it and no other."""
    return {row.breaks: row.name for row in reversed(found.faulty) if row.detected and not row.others}


def _by_name(records: Sequence[Measured], kind: Kind) -> list[tuple[str, list[Measured]]]:
    """An engine's records together, engines in their order."""
    own = [record for record in records if record.job.kind is kind]
    names = dict.fromkeys(record.job.name for record in own)
    return [(name, [record for record in own if record.job.name == name]) for name in names]


def _faulty_row(record: Measured) -> FaultyRow:
    job, plays = record.job, record.plays
    firsts = [play.first for play in plays if play.first is not None]
    by_hand = any(play.first is not None and play.first <= play.explicit for play in plays)
    hits, generated = sum(play.hits for play in plays), sum(play.generated for play in plays)
    violated = {identifier for play in plays for identifier, _ in play.violated}
    return FaultyRow(
        name=job.name,
        breaks=job.breaks,
        told=record.told,
        seeds=len(plays),
        # What is written down shows whatever the seed, and is played for the first one alone.
        detected=len(plays) if by_hand else len(firsts),
        by_hand=by_hand,
        hits=hits,
        generated=generated,
        in_certification=in_certification(hits, generated, job.source),
        sessions=int(median(firsts)) if firsts else None,
        steps=record.steps,
        others=tuple(sorted(violated - {job.breaks})),
        blinded=record.blinded,
        trouble=record.trouble,
    )


def in_certification(hits: int, sessions: int, source: str) -> Share:
    """How likely a certification of default size shows what ``hits`` of ``sessions`` showed."""
    planned = SESSIONS["certify"] * WEIGHTS.get(source, 1)
    low, high = wilson(hits, sessions)
    return Share(
        estimate=_once(hits / sessions if sessions else 0.0, planned),
        low=_once(low, planned),
        high=_once(high, planned),
    )


def _once(share: float, sessions: int) -> int:
    """The probability, in thousandths and rounded down, that something of such a share occurs at all."""
    return int(1000 * (1 - (1 - share) ** sessions))


def wilson(hits: int, sessions: int) -> tuple[float, float]:
    """The Wilson score interval of a share, at 95 %; all that there is, where nothing was played."""
    if not sessions:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    share = hits / sessions
    middle = share + z * z / (2 * sessions)
    reach = z * (share * (1 - share) / sessions + z * z / (4 * sessions * sessions)) ** 0.5
    whole = 1 + z * z / sessions
    return max(0.0, (middle - reach) / whole), min(1.0, (middle + reach) / whole)


def _sessions(records: Iterable[Measured]) -> int:
    return sum(play.explicit + play.generated for record in records for play in record.plays)


def _odd_row(name: str, records: list[Measured]) -> OddRow:
    violated = {found for record in records for play in record.plays for found, _ in play.violated}
    return OddRow(
        name=name,
        sessions=_sessions(records),
        alarms=tuple(sorted(violated)),
        trouble=tuple(trouble for record in records for trouble in record.trouble)[:1],
    )


def _null_row(name: str, records: list[Measured]) -> NullRow:
    """What it passes: requirements put to the test in every way that they name, and never violated."""
    ledger = Ledger()
    for record in records:
        ledger.add(record.evidence, ())
    ports = frozenset(METHODS)
    verdicts = {
        requirement.id: decide(requirement, ledger, Empty.manifest, ports, every_witness=True).verdict
        for requirement in all_requirements()
    }
    return NullRow(
        name=name,
        sessions=_sessions(records),
        passes=tuple(identifier for identifier, verdict in verdicts.items() if verdict is Verdict.PASSED),
        trouble=tuple(trouble for record in records for trouble in record.trouble)[:1],
    )
