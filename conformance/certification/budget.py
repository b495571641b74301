"""How much is played: profiles, and the units of work that any number of workers can share."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

from contextproof.conformance.contract.base import Count, Frozen, Id

Profile = Literal["smoke", "gate", "certify", "soak"]

#: Sessions generated for each strategy, by profile. Soak plays certify's number round after round.
SESSIONS: dict[Profile, int] = {"smoke": 12, "gate": 40, "certify": 160, "soak": 160}
#: How many times as many sessions some strategies get: those whose sessions are small, and bring about
#: one rare thing each.
WEIGHTS = {
    "openings": 8,
    "pressure": 4,
    "formation": 3,
    "working_state": 2,
    "compactions": 3,
}
#: The seed of the profile whose sessions are the same on every machine.
GATE_SEED = 20
#: Sessions in a unit. Beyond ten or so, Hypothesis mostly varies the sessions that it drew before.
UNIT_SESSIONS = 10


class Budget(Frozen):
    """What is to be played. The same budget gives the same sessions wherever it is played."""

    profile: Profile
    """What kind of run it is."""
    seed: Count
    """Of everything random."""
    nonce: str = ""
    """Mixed into the seed, so that nobody can fit a builder to known sessions."""
    sessions: Count
    """How many are generated for each strategy; some get more."""
    only: tuple[str, ...] = ()
    """Ids, or beginnings of ids, of the requirements judged; empty for all. A narrowed run certifies nothing.
    """
    exclude: tuple[str, ...] = ()
    """Ids, or beginnings of ids, of requirements left out."""

    @property
    def is_narrowed(self) -> bool:
        """Whether some requirements are left out."""
        return bool(self.only or self.exclude)

    def wants(self, identifier: str) -> bool:
        """Whether a requirement is to be judged."""
        named = not self.only or any(identifier.startswith(part) for part in self.only)
        return named and not any(identifier.startswith(part) for part in self.exclude)


class Unit(Frozen):
    """A piece of work, to be done by one worker.

    ``generated``: so many sessions of the strategy ``source``, from ``seed``. ``explicit``: the
    sessions written down for that strategy. ``scripted``: the one scripted session named ``source``.
    """

    name: Id
    kind: Literal["generated", "explicit", "scripted"]
    source: str
    seed: Count = 0
    sessions: Count = 0


def units(
    budget: Budget, strategies: Iterable[str], scripted: Iterable[str], round_number: int = 0
) -> tuple[Unit, ...]:
    """All units of a budget, the longest first. Later rounds (of a soak) hold generated ones alone."""
    found: list[Unit] = []
    names = tuple(strategies)
    if round_number == 0:
        found += [
            Unit(name=f"scripted-{name.replace('/', '-')}", kind="scripted", source=name) for name in scripted
        ]
        found += [Unit(name=f"explicit-{name}", kind="explicit", source=name) for name in names]
    for source in names:
        sessions = budget.sessions * WEIGHTS.get(source, 1)
        for start in range(0, sessions, UNIT_SESSIONS):
            name = f"{source}-{round_number:03d}-{start // UNIT_SESSIONS:03d}"
            found.append(
                Unit(
                    name=name,
                    kind="generated",
                    source=source,
                    seed=_seed(budget, name),
                    sessions=min(UNIT_SESSIONS, sessions - start),
                )
            )
    return tuple(found)


def _seed(budget: Budget, name: str) -> int:
    """A seed of its own for each unit, from the run's seed and nonce."""
    digest = sha256(f"{budget.seed}\0{budget.nonce}\0{name}".encode()).digest()
    return int.from_bytes(digest[:6], "big")
