"""Judges the reference engine as it stands on disk by the requirements alone: exit status 1 if one notices.

Cosmic Ray runs it against each mutant. It plays what a short certification plays, and stops at the first
violation, at the first answer outside the contract, or once everything was played. What was then never
put to the test in all the ways that a requirement names is no pass either.
"""

from __future__ import annotations

import sys

from contextproof import strategies
from contextproof.conformance.calibrating.job import Job, Kind
from contextproof.conformance.calibrating.measuring import measure
from contextproof.conformance.contract.calls import METHODS
from contextproof.conformance.evidence import Ledger
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import Requirement
from contextproof.conformance.verdicts import Verdict, decide
from contextproof.reference_impl.engine import MANIFEST

ENGINE = "contextproof.reference_impl.engine:factory"
#: Generated for each strategy, beside its explicit sessions.
SESSIONS = 12
SEED = 77


def main() -> int:
    """Whether anything was noticed."""
    ledger = Ledger()
    for source in strategies.by_key():
        job = Job(name="mutant", kind=Kind.ODD, spec=ENGINE, source=source, seeds=(SEED,), sessions=SESSIONS)
        found = measure(job)
        if found.trouble or found.told:
            print(source, found.told or found.trouble[0][:300])
            return 1
        ledger.add(found.evidence, ())
    unseen = [requirement.id for requirement in all_requirements() if _is_unseen(requirement, ledger)]
    print("unexercised:", *unseen) if unseen else print("survived")
    return int(bool(unseen))


def _is_unseen(requirement: Requirement, ledger: Ledger) -> bool:
    if requirement.scenarios == "scripted":
        return False  # the scripted sessions are not played here
    ports = frozenset(METHODS)
    result = decide(requirement, ledger, MANIFEST, ports, every_witness=True)
    return result.verdict is Verdict.UNEXERCISED


if __name__ == "__main__":
    sys.exit(main())
