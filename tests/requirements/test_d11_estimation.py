"""Decision 11 on hand-written traces."""

from __future__ import annotations

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.request import ClassTokens, Estimate
from contextproof.conformance.contract.session import RoutingChanged
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.play.trace import BuildRecord, EstimateRecord, ReconcileRecord
from contextproof.conformance.requirements import d11_estimation as d11
from requirements import records as r
from requirements import traces as t
from requirements.judging import declared, holds, unjudged, violation

PROSE = "The night train leaves from platform nine, and it runs on Fridays only. " * 12
LOG = (t.user("u1", PROSE), t.assistant("a1", PROSE), t.user("u2", PROSE))


def test_plans_measured_exactly_hold() -> None:
    other = t.model("model-b", tokenizer="cl100k_base")
    rotated = t.plan(t.opening(of=other), epoch=2)
    change = t.applied(RoutingChanged(model=other), a.Planned(plan=rotated))
    trace = t.trace(LOG, [t.opened(), change], plans=[t.plan(), rotated])
    assert holds("CTX-11.1", trace) == declared("CTX-11.1")


@pytest.mark.parametrize("off", [-1, 1])
def test_a_prefix_that_is_off_by_one_token_is_a_violation(off: int) -> None:
    true = t.plan()
    wrong = true.model_copy(update={"prefix_tokens": true.prefix_tokens + off})
    found = violation("CTX-11.1", t.trace(LOG, [t.opened(answer=a.Planned(plan=wrong))]))
    assert found.seen == f"prefix_tokens is {true.prefix_tokens + off}"


def _estimated_at(body: float, *, without: TokenClass | None = None, **how: object) -> BuildRecord:
    """A request whose body's classes are estimated at so many times their count."""
    sent = r.request(t.build(LOG))
    exact = t.by_class(t.model(), sent.blocks, margin=1.0)
    entries = [
        ClassTokens(
            token_class=entry.token_class,
            tokens=entry.tokens if _is_prefix(entry) else int(entry.tokens * body),
        )
        for entry in exact
        if entry.token_class is not without
    ]
    estimate = Estimate(by_class=tuple(entries), prefix_tokens=sent.estimate.prefix_tokens)
    return t.build(LOG, request_changes={"estimate": estimate}, **how)  # type: ignore[arg-type]


def _is_prefix(entry: ClassTokens) -> bool:
    return entry.token_class in {e.token_class for e in t.plan().tokens}


def test_estimates_with_their_margin_hold() -> None:
    result = (t.assistant("a"), t.call("k", "a"), t.result("r", "k"))
    log = (*LOG, *result, t.user("u3"))
    pressed = t.build(log, newly=(t.gave_way("r"),), calibration=r.LEARNED)
    assert holds("CTX-11.2", t.trace(log, [t.build(log), pressed])) == declared("CTX-11.2")


def test_an_estimate_below_the_margin_is_a_violation() -> None:
    holds("CTX-11.2", t.trace(LOG, [_estimated_at(1.06)]))
    assert "the body is estimated at" in violation("CTX-11.2", t.trace(LOG, [_estimated_at(1.04)])).seen


def test_a_class_without_an_entry_is_a_violation() -> None:
    found = violation("CTX-11.2", t.trace(LOG, [_estimated_at(3, without=TokenClass.HISTORY)]))
    assert found.seen.endswith("classes without an entry: 'history'")


def _reconciled(*, usage: int = 0, after: int = 0, other: int = 0) -> list[object]:
    built = t.build(LOG)
    total = r.request(built).estimate.total
    return [
        r.estimated(built, "before"),
        r.reconciled(built, total + usage, True),
        r.estimated(built, "after", plus=after),
        r.estimated(built, "other_model_before"),
        r.estimated(built, "other_model_after", plus=other),
    ]


def test_another_model_left_alone_holds_and_one_inflated_is_a_violation() -> None:
    assert holds("CTX-11.3", t.trace(LOG, _reconciled(usage=9))) == declared("CTX-11.3")
    violation("CTX-11.3", t.trace(LOG, _reconciled(usage=9, other=1)))


def test_an_overrun_that_is_learned_from_holds_and_one_that_is_not_is_a_violation() -> None:
    assert holds("CTX-11.4", t.trace(LOG, _reconciled(usage=9, after=9))) == declared("CTX-11.4")
    violation("CTX-11.4", t.trace(LOG, _reconciled(usage=9, after=8)))
    unjudged("CTX-11.4", t.trace(LOG, _reconciled(usage=-9)))


@pytest.mark.parametrize(("requirement", "most"), [("CTX-11.5", 1.25), ("CTX-11.7", 2.0)])
def test_an_estimate_too_high_for_prose_is_a_violation(requirement: str, most: float) -> None:
    assert holds(requirement, t.trace(LOG, [_estimated_at(most - 0.01)])) == declared(requirement)
    found = violation(requirement, t.trace(LOG, [_estimated_at(most + 0.01)]))
    assert found.seen.startswith("a body that counts")


@pytest.mark.parametrize("text", ["漢字 " * 300, "=" * 900, "<|im_start|> and more prose " * 30, "short"])
def test_bodies_that_are_not_ordinary_are_not_judged(text: str) -> None:
    log = (t.user("u1", text),)
    unjudged("CTX-11.7", t.trace(log, [t.build(log)]))


def test_calibrated_estimates_are_not_judged_as_uncalibrated() -> None:
    unjudged("CTX-11.7", t.trace(LOG, [_estimated_at(9, calibration=r.LEARNED)]))


HOSTILE = ("<|endoftext|>", "x" * 500, "a train 🚆🚆", "夜行列車", "bell \x07 and \x00")


def test_any_text_estimated_at_its_count_holds() -> None:
    log = tuple(t.user(f"u{n}", text) for n, text in enumerate(HOSTILE))
    trace = t.trace(log, [r.estimated(t.build(log), "before")])
    assert holds("CTX-11.6", trace) == declared("CTX-11.6")


def test_a_text_estimated_at_nothing_is_a_violation() -> None:
    built = t.build(LOG)
    low = r.estimated(built, "before").model_copy(update={"answer": a.Estimated(by_class=())})
    violation("CTX-11.6", t.trace(LOG, [low]))


def test_one_event_a_response_holds() -> None:
    trace = t.trace(LOG, _reconciled(usage=9))
    assert holds("CTX-11.8", trace) == declared("CTX-11.8")


def _told(*events: object) -> ReconcileRecord:
    return r.reconciled(t.build(LOG), 9_000, *events)


@pytest.mark.parametrize("events", [(), (True, True)])
def test_no_event_or_two_are_a_violation(events: tuple[object, ...]) -> None:
    found = violation("CTX-11.8", t.trace(LOG, [_told(*events)]))
    assert found.seen.startswith(f"{len(events)} events")


def test_an_event_of_other_figures_or_elsewhere_is_a_violation() -> None:
    (event,) = _told(True).answer.events
    other = event.model_copy(update={"reported": 8_999})
    violation("CTX-11.8", t.trace(LOG, [_told(other)]))
    violation("CTX-11.8", t.trace(LOG, [t.build(LOG, events=(event,))]))


def test_the_witness_of_an_overrun_is_only_given_where_there_was_one() -> None:
    within = holds("CTX-11.8", t.trace(LOG, _reconciled(usage=-1)))
    assert within == {d11.RESPONSE}
    assert isinstance(_reconciled()[0], EstimateRecord)
