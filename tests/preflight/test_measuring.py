"""What is measured and decided: at a cap, one over, the reserve first, the ceiling, a builder's plan."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from contextproof import scenarios
from contextproof.calibration.faulty.openings import FullClassRefused, PrefixOneTokenOverTheCeilingOpens
from contextproof.conformance.adapters.in_process import InProcess, load
from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.contract.answers import Planned, Refused
from contextproof.conformance.contract.calls import OpenSessionCall
from contextproof.conformance.contract.session import CallContext, Opening
from contextproof.conformance.contract.vocabulary import FRAMING, TokenClass
from contextproof.conformance.play.recipes import Resolver, size_model
from contextproof.conformance.play.scenario import Scenario
from contextproof.conformance.preflight.asking import ask
from contextproof.conformance.preflight.checking import check
from contextproof.conformance.preflight.measuring import Answer, Measured, Reason, measure
from contextproof.conformance.preflight.reading import Configuration, Parts, read
from contextproof.reference_impl.engine import ReferenceEngine
from contextproof.strategies import by_key
from preflight.making import MODEL, checked, tools_of, words, written

ROOMY = 16_000_000
"""A window in which every prefix within its caps has room."""


@cache
def reference() -> Builder:
    return load("contextproof.reference_impl.engine:factory")


def answered(opening: Opening) -> Planned | Refused:
    context = CallContext(session="s", epoch=1, turn=0, request=0, model=opening.model)
    answer: Planned | Refused = reference().call(OpenSessionCall(context=context, opening=opening))
    return answer


def resolved(scenario: Scenario) -> Opening:
    """The opening of a scenario as the reference would be asked to open it."""
    resolver = Resolver(reference().manifest, scenarios.corpus)
    sized = size_model(scenario.opening.model, 0).model_copy(update={"window": ROOMY})
    roomy = answered(resolver.opening(scenario.opening, sized))
    prefix = roomy.plan.prefix_tokens if isinstance(roomy, Planned) else 0
    return resolver.opening(scenario.opening, size_model(scenario.opening.model, prefix))


def reasons(found: Measured) -> list[tuple[str, TokenClass, int, int]]:
    return [(r.rule, r.token_class, r.measured, r.cap) for r in found.reasons]


# --- Caps, to the token ----------------------------------------------------------------------------------

AT_CAP: dict[str, tuple[TokenClass, int, str]] = {
    "policy": (TokenClass.PLATFORM_POLICY, 2_000, "tokens"),
    "instructions": (TokenClass.AGENT_INSTRUCTIONS, 4_000, "tokens"),
    "memory": (TokenClass.MEMORY_SNAPSHOT, 1_500, "tokens"),
    "tools": (TokenClass.TOOL_DEFINITIONS, 6_000, "tokens"),
    "30 tools": (TokenClass.TOOL_DEFINITIONS, 30, "items"),
    "40 memory items": (TokenClass.MEMORY_SNAPSHOT, 40, "items"),
}


def members(case: str, over: int) -> dict[str, Any]:
    _, cap, unit = AT_CAP[case]
    if unit == "items":
        number = cap + over
        return {"tools": tools_of(1_000, number)} if "tools" in case else {"memory": ["x"] * number}
    return {case: tools_of(cap + over, 3) if case == "tools" else [words(2), words(cap + over - 2)]}


@pytest.mark.parametrize("case", AT_CAP)
def test_exactly_at_a_cap_opens(tmp_path: Path, case: str) -> None:
    token_class, cap, unit = AT_CAP[case]
    found = checked(tmp_path, **members(case, 0)).measured
    assert (found.answer, found.reasons) == (Answer.OPENS, ())
    assert (token_class, cap, cap, unit) in found.measures


@pytest.mark.parametrize("case", AT_CAP)
def test_one_over_a_cap_is_refused_and_says_by_how_much(tmp_path: Path, case: str) -> None:
    token_class, cap, unit = AT_CAP[case]
    found = checked(tmp_path, **members(case, 1)).measured
    assert found.answer is Answer.REFUSED
    assert [(r.token_class, r.measured, r.cap, r.unit, r.by) for r in found.reasons] == [
        (token_class, cap + 1, cap, unit, 1)
    ]


def test_only_permitted_tools_count(tmp_path: Path) -> None:
    found = checked(tmp_path, tools=tools_of(7_000, 31), permissions=["tool_1"]).measured
    assert found.opens
    assert (found.registered_tools, found.permitted_tools) == (31, 1)


def test_every_class_that_is_over_is_named(tmp_path: Path) -> None:
    found = checked(tmp_path, instructions=words(4_001), memory=["x"] * 41).measured
    assert [r.token_class for r in found.reasons] == [
        *(TokenClass.AGENT_INSTRUCTIONS, TokenClass.MEMORY_SNAPSHOT)
    ]


def test_items_are_weighed_the_heaviest_first(tmp_path: Path) -> None:
    found = checked(tmp_path, tools=tools_of(1_000, 2), memory=["x", words(50)]).measured
    assert [(w.name, w.tokens) for w in found.weights[:2]] == [("tool_0", 987), ("memory-2", 50)]
    first = found.weights[0]
    assert first.schema_tokens == 1
    assert first.description_tokens is not None
    assert 900 < first.description_tokens < 987


# --- The reserve and the ceiling -------------------------------------------------------------------------


@pytest.mark.parametrize("left", [999, 0, -1])
def test_the_reserve_is_named_before_anything_else(tmp_path: Path, left: int) -> None:
    model = {**MODEL, "window": 5_000, "output_reserve": 5_000 - left}
    found = checked(tmp_path, model=model, policy=words(2_001)).measured
    assert reasons(found) == [("output_reserve", TokenClass.OUTPUT_RESERVE, left, 1_000)]


def ceiling_at(prefix: int) -> dict[str, Any]:
    return {**MODEL, "window": prefix + 4_000 + 1_000, "overhead_per_block": 7}


def test_without_a_builder_the_ceiling_is_decided_between_two_bounds(tmp_path: Path) -> None:
    """Three blocks with the framing; one of them has an envelope."""
    given: dict[str, Any] = {"policy": words(300), "instructions": words(200)}
    least, most = 500 + 3 * 7, 500 + 3 * 7 + 500 + 80
    for ceiling, answer, measured in (
        (least - 1, Answer.REFUSED, least),
        (least, Answer.DEPENDS, most),
        (most - 1, Answer.DEPENDS, most),
    ):
        found = checked(tmp_path, model=ceiling_at(ceiling), **given).measured
        assert found.answer is answer
        assert reasons(found) == [("ceiling", TokenClass.PLATFORM_POLICY, measured, ceiling)]
    assert checked(tmp_path, model=ceiling_at(most), **given).measured.opens


def test_with_a_builder_the_ceiling_is_decided_to_the_token(tmp_path: Path) -> None:
    given: dict[str, Any] = {"policy": words(300), "instructions": words(200)}
    taken = checked(tmp_path, model=MODEL, **given).configuration.opening
    sent = ask(reference(), taken)[0].prefix.sent
    assert sent is not None
    for room, answer in ((sent - 1, Answer.REFUSED), (sent, Answer.OPENS)):
        model = taken.model.model_copy(update={"window": room + 5_000})
        measured, asked = ask(reference(), taken.model_copy(update={"model": model}))
        assert measured.answer is answer
        assert asked.opens is (answer is Answer.OPENS)
        assert asked.differences == ()


# --- Against the reference engine ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in scenarios.names() if name.startswith("openings/")])
def test_scripted_openings_are_decided_as_the_reference_decides_them(name: str) -> None:
    agree(resolved(scenarios.load(name)))


@given(scenario=by_key()["openings"])
@settings(
    max_examples=400, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
def test_it_refuses_exactly_when_the_reference_refuses_to_open(scenario: Scenario) -> None:
    agree(resolved(scenario))


def agree(opening: Opening) -> None:
    """With the reference asked, the same decision and one of its reasons; without, never the opposite."""
    measured, asked = ask(reference(), opening)
    answer = answered(opening)
    assert asked.differences == ()
    assert measured.opens is asked.opens is isinstance(answer, Planned)
    if isinstance(answer, Refused):
        assert named(answer) in reasons_named(measured.reasons)
    alone = measure(opening)
    assert alone.answer in (measured.answer, Answer.DEPENDS)
    if alone.answer is Answer.DEPENDS:
        assert measured.reasons == () or measured.reasons[0].rule == "ceiling"


def named(answer: Refused) -> tuple[TokenClass, int, int, str]:
    return answer.token_class, answer.measured, answer.cap, answer.unit


def reasons_named(some: Sequence[Reason]) -> list[tuple[TokenClass, int, int, str]]:
    return [(r.token_class, r.measured, r.cap, r.unit) for r in some]


@given(scenario=by_key()["openings"])
@settings(
    max_examples=25, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
def test_an_opening_in_the_contracts_own_form_is_read_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, scenario: Scenario
) -> None:
    opening = resolved(scenario)
    path = written(tmp_path_factory.mktemp("opening"), opening.model_dump_json())
    found = read(path, Parts()).opening
    same = {"tools": opening.tools}  # whose schemas are written anew
    assert found.model_copy(update=same) == opening
    assert measure(found).measures == measure(opening).measures


# --- Builders that disagree ------------------------------------------------------------------------------


def test_a_builder_that_opens_what_is_over_is_told_and_it_stays_refused() -> None:
    opening = resolved(scenarios.load("openings/ceiling_passed_by_one"))
    measured, asked = ask(InProcess(PrefixOneTokenOverTheCeilingOpens()), opening)
    assert measured.answer is Answer.REFUSED
    assert asked.opens
    assert asked.differences == ("it opens what is over a bound (contextproof explain CTX-07)",)


def test_a_builder_that_refuses_what_is_within_every_bound_is_told_and_it_does_not_open() -> None:
    opening = resolved(scenarios.load("openings/policy_at_cap"))
    found = check(Configuration(opening), InProcess(FullClassRefused()))
    assert found.measured.answer is Answer.OPENS
    assert not found.opens
    assert found.asked is not None
    assert "it refuses what is within every bound" in found.asked.differences[0]


class Misplanned(ReferenceEngine):
    """The reference, but for some fields of its plan."""

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        self.fields = fields

    def open_session(self, context: CallContext, opening: Opening) -> Planned | Refused:
        answer = super().open_session(context, opening)
        if isinstance(answer, Refused):
            return answer
        return answer.model_copy(update={"plan": answer.plan.model_copy(update=self.fields)})


def test_a_plan_that_counts_its_prefix_otherwise_is_told() -> None:
    opening = resolved(scenarios.load("openings/policy_at_cap"))
    measured, asked = ask(InProcess(Misplanned(prefix_tokens=17)), opening)
    assert measured.opens
    assert asked.differences == (
        f"its plan's prefix counts {measured.prefix.sent:,} tokens here (contextproof explain CTX-11.1)",
    )


def test_a_framing_over_its_cap_is_refused() -> None:
    opening = resolved(scenarios.load("openings/tools_30"))
    plan = answered(opening)
    assert isinstance(plan, Planned)
    blocks = tuple(
        block.model_copy(update={"text": words(501)}) if block.type == FRAMING else block
        for block in plan.plan.blocks
    )
    measured, _ = ask(InProcess(Misplanned(blocks=blocks)), opening)
    assert reasons(measured) == [("cap", TokenClass.FRAMING, 501, 500)]


def test_a_block_of_an_undeclared_type_is_a_builder_error() -> None:
    opening = resolved(scenarios.load("openings/tools_30"))
    plan = answered(opening)
    assert isinstance(plan, Planned)
    odd = plan.plan.blocks[0].model_copy(update={"type": "motto"})
    with pytest.raises(BuilderError, match="of the type 'motto', which nothing declares"):
        ask(InProcess(Misplanned(blocks=(odd,))), opening)


def test_a_builder_that_opens_no_sessions_cannot_be_asked() -> None:
    class Mute:
        manifest = reference().manifest

    with pytest.raises(BuilderError, match="open_session"):
        ask(InProcess(Mute()), resolved(scenarios.load("openings/policy_at_cap")))
