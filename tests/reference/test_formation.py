"""Facts are offered once the session is closed, and nothing untrusted is eligible."""

from __future__ import annotations

from contextproof.conformance.contract.items import SessionClosed, UsageRecorded
from contextproof.conformance.contract.working_state import Constraint, Fact, Task, WorkingState
from reference.making import ENGINE, context, exchange, planned, user

PLAN = planned()
LOG = (user("u1"), *exchange("x", "page"))
FACTS = (
    Fact(id="f1", text="Trusted.", derived_from=("x-c0",)),
    Fact(id="f2", text="From a page.", derived_from=("x-c0", "x-r0")),
    Fact(id="f3", text="From nowhere known.", derived_from=("nothing",)),
)
STATE = WorkingState(
    constraints=(Constraint(id="c", text="C."),),
    tasks=(Task(id="t", text="T."),),
    established_facts=FACTS,
)
CLOSED = SessionClosed(id="closed")


def test_nothing_is_offered_before_the_session_is_closed() -> None:
    assert ENGINE.candidates(context(), PLAN, LOG, STATE).candidates == ()
    resumed = (*LOG, CLOSED, user("u2"))
    assert ENGINE.candidates(context(), PLAN, resumed, STATE).candidates == ()


def test_every_fact_and_nothing_else_is_offered_with_its_provenance() -> None:
    log = (*LOG, CLOSED, UsageRecorded(id="usage", request=1, tokens=1))
    offered = ENGINE.candidates(context(), PLAN, log, STATE).candidates
    assert [candidate.fact for candidate in offered] == list(FACTS)
    assert [candidate.provenance for candidate in offered] == [f.derived_from for f in FACTS]


def test_what_rests_on_untrusted_or_unknown_content_is_not_eligible_and_says_why() -> None:
    offered = ENGINE.candidates(context(), PLAN, (*LOG, CLOSED), STATE).candidates
    assert [candidate.eligible for candidate in offered] == [True, False, False]
    assert [bool(candidate.reason) for candidate in offered] == [False, True, True]
