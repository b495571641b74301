"""Estimates: exact for the prefix, never too low for the body, learned from a model at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextproof.conformance.contract.events import UsageReconciled
from contextproof.conformance.contract.plan import Calibration
from contextproof.conformance.contract.request import Block, Estimate, Request
from contextproof.conformance.contract.session import ModelSpec
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Region
from contextproof.reference_impl.estimator import ONE, ratio_of
from reference.hostile import texts
from reference.making import ENGINE, MODEL, assistant, built, context, exchange, planned, user, words

PLAN = planned()
USAGES = st.integers(0, 20_000)


def request(text: str, calibration: Calibration) -> Request:
    log = (user("u1", text), *exchange("x", text, words(60)), assistant("a1"), user("u2"))
    return built(PLAN, log, calibration=calibration).request


def counted(blocks: tuple[Block, ...], region: Region) -> int:
    return sum(count(MODEL.tokenizer, b.text) + 4 for b in blocks if b.region is region)


def estimated(calibration: Calibration, blocks: tuple[Block, ...], model: ModelSpec = MODEL) -> int:
    return sum(e.tokens for e in ENGINE.estimate(context(model), calibration, blocks).by_class)


def reconciled(calibration: Calibration, estimate: Estimate, usage: int) -> Calibration:
    return ENGINE.reconcile(context(), calibration, estimate, usage).calibration


@given(text=texts())
def test_the_body_keeps_its_margin_and_little_more(text: str) -> None:
    made = request(text, Calibration())
    body = counted(made.blocks, Region.B)
    assert 100 * made.estimate.body_tokens >= 105 * body
    assert 100 * made.estimate.body_tokens <= 110 * body
    assert made.estimate.prefix_tokens == counted(made.blocks, Region.A)


@given(text=texts(4), usages=st.lists(USAGES, max_size=4))
def test_the_port_estimates_blocks_as_the_build_did(text: str, usages: list[int]) -> None:
    calibration = Calibration()
    for usage in usages:
        calibration = reconciled(calibration, request(text, calibration).estimate, usage)
    made = request(text, calibration)
    answer = ENGINE.estimate(context(), calibration, made.blocks)
    assert answer.by_class == made.estimate.by_class


@given(usages=st.lists(USAGES, min_size=1, max_size=6))
def test_after_usage_above_the_estimate_the_same_content_is_estimated_at_that_usage(
    usages: list[int],
) -> None:
    calibration = Calibration()
    for usage in usages:
        made = request("Please look.", calibration)
        before = made.estimate.total
        calibration = reconciled(calibration, made.estimate, usage)
        after = estimated(calibration, made.blocks)
        if usage > before:
            assert after >= usage
            assert after <= usage + len(made.estimate.by_class) + 1
        else:
            assert usage <= after <= before or after == estimated(Calibration(), made.blocks)


def test_one_models_usage_leaves_every_other_alone() -> None:
    made = request("Please look.", Calibration())
    learned = reconciled(Calibration(), made.estimate, 3 * made.estimate.total)
    other = MODEL.model_copy(update={"name": "model-b"})
    plain = estimated(Calibration(), made.blocks, other)
    assert estimated(learned, made.blocks, other) == plain
    again = ENGINE.reconcile(context(other), learned, made.estimate, 1).calibration
    assert ratio_of(again, MODEL.name) == ratio_of(learned, MODEL.name) > ONE


def test_an_overhead_that_does_not_come_back_is_forgotten_step_by_step() -> None:
    made = request("Please look.", Calibration())
    calibration = reconciled(Calibration(), made.estimate, 2 * made.estimate.total)
    ratios = []
    for _ in range(30):
        made = request("Please look.", calibration)
        calibration = reconciled(calibration, made.estimate, 10)
        ratios.append(ratio_of(calibration, MODEL.name))
    assert ratios == sorted(ratios, reverse=True)
    assert ONE <= ratios[-1] < 1.01 * ONE


def test_a_steady_overhead_is_not_forgotten() -> None:
    calibration = Calibration()
    for _ in range(10):
        made = request("Please look.", calibration)
        usage = 6 * (counted(made.blocks, Region.A) + counted(made.blocks, Region.B)) // 5
        calibration = reconciled(calibration, made.estimate, usage)
    assert request("Please look.", calibration).estimate.total >= usage


def test_every_response_is_told_once() -> None:
    made = request("Please look.", Calibration())
    answer = ENGINE.reconcile(context(), Calibration(), made.estimate, 7)
    expected = UsageReconciled(
        session="session",
        epoch=1,
        turn=1,
        request=1,
        model=MODEL.name,
        estimated=made.estimate.total,
        reported=7,
    )
    assert answer.events == (expected,)


@pytest.mark.parametrize("text", ["<|endoftext|>" * 50, "^" * 5_000, "数" * 500, "\x00" * 100, ""])
def test_no_text_is_an_error(text: str) -> None:
    made = request(text, Calibration())
    assert made.estimate.body_tokens > counted(made.blocks, Region.B)
