"""Judges the reference engine as it stands on disk by the requirements alone: exit status 1 if one notices.

Cosmic Ray runs it against each mutant. It plays what a short certification plays, and stops at the first
violation, at the first answer outside the contract, or once everything was played.
"""

from __future__ import annotations

import sys

from contextproof import strategies
from contextproof.conformance.calibrating.job import Job, Kind
from contextproof.conformance.calibrating.measuring import measure

ENGINE = "contextproof.reference_impl.engine:factory"
#: Generated for each strategy, beside its explicit sessions.
SESSIONS = 12
SEED = 77


def main() -> int:
    """Whether anything was noticed."""
    for source in strategies.by_key():
        job = Job(
            name="mutant", kind=Kind.ODD, spec=ENGINE, source=source, seeds=(SEED,), sessions=SESSIONS
        )
        found = measure(job)
        if found.trouble or found.told:
            print(source, found.told or found.trouble[0][:300])
            return 1
    print("survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
