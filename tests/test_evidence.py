"""Evidence adds up the same in any order, and a gap is never turned into a pass."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.causes import in_order_of_cause
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.vocabulary import Decision
from contextproof.conformance.evidence import Evidence, Found, Ledger, evidence_of
from contextproof.conformance.judgement import At, Judgement, judge
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.requirements.registry import SHOULD, Requirement
from contextproof.conformance.verdicts import Result, Verdict, decide
from fakes.tiny import USER, scenario

REQUIREMENTS = {requirement.id: requirement for requirement in all_requirements()}
ONE_HASH = REQUIREMENTS["CTX-03.2"]
EVERY_PORT = frozenset(port for requirement in REQUIREMENTS.values() for port in requirement.ports)

judgements = st.lists(
    st.builds(
        Judgement,
        held=st.booleans(),
        at=st.just(At(record=0)),
        witnesses=st.lists(st.sampled_from(ONE_HASH.witnesses), unique=True).map(tuple),
    )
)


def _manifest(*claims: Decision) -> Manifest:
    return Manifest(name="n", version="1", claims=claims, delimiters=(), codecs=(), summary_bound=0)


def _decide(ledger: Ledger, **more: object) -> Result:
    return decide(ONE_HASH, ledger, _manifest(*Decision), EVERY_PORT, **more)  # type: ignore[arg-type]


def _ledger(*sessions: list[Judgement]) -> Ledger:
    ledger = Ledger()
    for made in sessions:
        ledger.note(ONE_HASH.id, scenario(USER), made)
    return ledger


@given(st.lists(judgements))
def test_evidence_adds_up_the_same_in_any_grouping(sessions: list[list[Judgement]]) -> None:
    at_once = _ledger(*sessions).evidence.get(ONE_HASH.id, Evidence(requirement=ONE_HASH.id))
    merged = Ledger()
    for part in (sessions[::2], sessions[1::2]):
        ledger = _ledger(*part)
        merged.add(ledger.evidence.values(), ledger.found.values())
    assert merged.evidence.get(ONE_HASH.id, Evidence(requirement=ONE_HASH.id)) == at_once


@given(st.lists(judgements))
def test_a_requirement_passes_only_where_it_was_judged_and_always_held(
    sessions: list[list[Judgement]],
) -> None:
    verdict = _decide(_ledger(*sessions)).verdict
    everything = [judgement for made in sessions for judgement in made]
    if not everything:
        assert verdict is Verdict.UNEXERCISED
    else:
        held = all(judgement.held for judgement in everything)
        assert verdict is (Verdict.PASSED if held else Verdict.FAILED)


@given(st.lists(judgements), judgements)
def test_more_sessions_never_mend_a_failure(sessions: list[list[Judgement]], more: list[Judgement]) -> None:
    if _decide(_ledger(*sessions)).verdict is Verdict.FAILED:
        assert _decide(_ledger(*sessions, more)).verdict is Verdict.FAILED


def test_a_witness_never_seen_or_too_few_sessions_is_no_pass_where_that_is_asked() -> None:
    one = [judge(True, at=At(record=0), witnesses=ONE_HASH.witnesses[:1])]
    assert _decide(_ledger(one)).verdict is Verdict.PASSED
    unseen = _decide(_ledger(one), every_witness=True)
    assert unseen.verdict is Verdict.UNEXERCISED
    assert ONE_HASH.witnesses[1] in unseen.note
    few = _decide(_ledger(one), least_sessions=2)
    assert few.verdict is Verdict.UNEXERCISED


def test_an_unclaimed_decision_is_told_and_a_claimed_one_that_does_not_answer_fails() -> None:
    assert decide(ONE_HASH, Ledger(), _manifest(), EVERY_PORT).verdict is Verdict.NOT_CLAIMED
    mute = decide(ONE_HASH, Ledger(), _manifest(*Decision), frozenset())
    assert mute.verdict is Verdict.FAILED
    assert "is not there" in mute.note


def test_a_should_only_warns() -> None:
    should = next(r for r in all_requirements() if r.level is SHOULD)
    ledger = Ledger()
    ledger.note(should.id, scenario(USER), [judge(False, at=At(record=0))])
    assert decide(should, ledger, _manifest(*Decision), EVERY_PORT).verdict is Verdict.WARNED


def _failed(identifier: str, *follows: str) -> Result:
    violation = judge(False, at=At(record=0), follows=follows)
    return Result(
        requirement=identifier,
        verdict=Verdict.FAILED,
        evidence=evidence_of(identifier, [violation]),
        found=Found(requirement=identifier, scenario=scenario(USER), violation=violation),
    )


def test_a_cause_is_told_before_what_follows_from_it() -> None:
    told = in_order_of_cause([_failed("CTX-01.4"), _failed("CTX-13.5"), _failed("CTX-06.2")])
    assert [(result.requirement, causes) for result, causes in told] == [
        ("CTX-06.2", ()),
        ("CTX-13.5", ()),
        ("CTX-01.4", ("CTX-13.5",)),
    ]


def test_a_judgement_can_name_its_cause_itself_and_needs_that_to_have_failed() -> None:
    with_cause = in_order_of_cause([_failed("CTX-03.2", "CTX-04.1"), _failed("CTX-04.1")])
    assert [result.requirement for result, _ in with_cause] == ["CTX-04.1", "CTX-03.2"]
    alone = in_order_of_cause([_failed("CTX-03.2", "CTX-04.1")])
    assert alone[0][1] == ()


def test_a_cause_names_only_requirements_that_exist() -> None:
    from contextproof.conformance.causes import FOLLOWS

    named = {name for effect, causes in FOLLOWS.items() for name in (effect, *causes)}
    assert named <= set(REQUIREMENTS)


def test_no_requirement_is_its_own_cause() -> None:
    from graphlib import TopologicalSorter

    from contextproof.conformance.causes import FOLLOWS

    assert list(TopologicalSorter(FOLLOWS).static_order())  # raises where there is a circle


def test_the_smallest_session_that_shows_a_violation_is_kept() -> None:
    ledger = Ledger()
    violated = [judge(False, at=At(record=0))]
    for steps in ((USER, USER, USER), (USER,), (USER, USER)):
        ledger.note(ONE_HASH.id, scenario(*steps), violated)
    assert len(ledger.found[ONE_HASH.id].scenario.steps) == 1


def test_every_requirement_is_complete() -> None:
    for requirement in all_requirements():
        assert isinstance(requirement, Requirement)
        assert requirement.text
        assert requirement.witnesses
        assert requirement.cost.endswith(".")
        assert len(set(requirement.witnesses)) == len(requirement.witnesses)
