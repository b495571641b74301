"""Decision 15 on hand-written traces."""

from __future__ import annotations

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.working_state import WorkingState
from contextproof.conformance.play.trace import Trace
from requirements import records as r
from requirements import traces as t
from requirements.judging import declared, holds, unjudged, violation

LOG = (t.user("u1"), t.assistant("a1"), t.call("k1", "a1"), t.result("r1", "k1"))
TOLD, READ = r.fact("f1", derived_from=("u1",)), r.fact("f2", "The fare is nine.", derived_from=("r1",))
STATE = WorkingState(constraints=(r.constraint("c1"),), tasks=(r.task("t1"),), established_facts=(TOLD, READ))
BANNED = r.candidate(READ, eligible=False, reason="it rests on untrusted content")
BOTH = (r.candidate(TOLD), BANNED)


def _trace(*candidates: a.Candidate, closed: bool = True) -> Trace:
    return t.trace(LOG, [r.offered(LOG, STATE, *candidates, closed=closed)])


@pytest.mark.parametrize("requirement", ["CTX-15.1", "CTX-15.3", "CTX-15.4"])
def test_every_fact_offered_once_with_its_gate_holds(requirement: str) -> None:
    assert holds(requirement, _trace(*BOTH)) == declared(requirement)


@pytest.mark.parametrize(
    "offered",
    [
        (),
        BOTH[:1],
        (*BOTH, BANNED),
        (r.candidate(TOLD, provenance=()), BANNED),
        (r.candidate(r.fact("f1", "Trains don't run.", derived_from=("u1",))), BANNED),
    ],
)
def test_a_fact_not_offered_once_with_its_provenance_is_a_violation(
    offered: tuple[a.Candidate, ...],
) -> None:
    violation("CTX-15.1", _trace(*offered))


def test_nothing_before_the_boundary_holds_and_anything_is_a_violation() -> None:
    assert holds("CTX-15.2", _trace(closed=False)) == declared("CTX-15.2")
    assert violation("CTX-15.2", _trace(*BOTH, closed=False)).seen.endswith("'f1', 'f2'")
    unjudged("CTX-15.2", _trace(*BOTH))


@pytest.mark.parametrize(
    "candidate",
    [r.candidate(READ), r.candidate(READ, eligible=False), r.candidate(READ, eligible=False, reason=" ")],
)
def test_an_untrusted_fact_that_is_eligible_or_unexplained_is_a_violation(candidate: a.Candidate) -> None:
    assert violation("CTX-15.3", _trace(candidate)).at.item_id == "f2"


def test_an_untrusted_fact_offered_without_its_provenance_is_a_violation_all_the_same() -> None:
    laundered = r.candidate(READ.model_copy(update={"derived_from": ()}), provenance=())
    violation("CTX-15.3", _trace(laundered))


@pytest.mark.parametrize("entry", [r.fact("t1", "Book it."), r.fact("f1", "Something else.")])
def test_anything_else_offered_is_a_violation(entry: object) -> None:
    violation("CTX-15.4", _trace(*BOTH, r.candidate(entry)))  # type: ignore[arg-type]
