"""Decision 7 on hand-written traces. In o200k_base, " a" repeated is one token each."""

from __future__ import annotations

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import AgentInstructions, ToolDefinition
from contextproof.conformance.contract.request import Block, YieldStep
from contextproof.conformance.contract.session import Opening
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.play.trace import Trace
from contextproof.conformance.requirements import d07_prefix_never_yields as d07
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import holds, unjudged, violation

LOG = (t.user("u1"),)


def _words(tokens: int) -> str:
    return " a" * tokens


def _refused(name: TokenClass, measured: int, cap: int, unit: str = "tokens") -> a.Refused:
    return a.Refused.model_validate({"token_class": name, "measured": measured, "cap": cap, "unit": unit})


def _opened(opening: Opening, answer: a.PlanAnswer | None = None) -> Trace:
    return t.trace(LOG, [t.opened(opening, answer=answer)])


LONG = t.opening(instructions=_words(4_001))
NAMED = _refused(TokenClass.AGENT_INSTRUCTIONS, 4_001, 4_000)


def test_a_class_over_its_cap_that_is_named_holds() -> None:
    assert holds("CTX-07.1", _opened(LONG, NAMED)) == {d07.INSTRUCTIONS_OVER}


def test_a_session_that_opens_over_a_cap_is_a_violation() -> None:
    found = violation("CTX-07.1", _opened(LONG))
    assert found.seen.startswith("the session opened with a prefix of ")
    assert found.required == "a refusal that names agent_instructions 4001 of 4000 tokens"


@pytest.mark.parametrize(
    "answer",
    [
        _refused(TokenClass.AGENT_INSTRUCTIONS, 4_000, 4_000),
        _refused(TokenClass.AGENT_INSTRUCTIONS, 4_001, 3_000),
        _refused(TokenClass.PLATFORM_POLICY, 2_001, 2_000),
        _refused(TokenClass.AGENT_INSTRUCTIONS, 4_001, 4_000, "items"),
    ],
)
def test_a_refusal_with_a_false_figure_is_a_violation(answer: a.Refused) -> None:
    violation("CTX-07.1", _opened(LONG, answer))


def test_any_of_two_classes_over_their_caps_may_be_named() -> None:
    both = t.opening(policy=_words(2_001), instructions=_words(4_001))
    holds("CTX-07.1", _opened(both, NAMED))
    holds("CTX-07.1", _opened(both, _refused(TokenClass.PLATFORM_POLICY, 2_001, 2_000)))


def _tools(number: int) -> tuple[ToolDefinition, ...]:
    return tuple(t.TOOL.model_copy(update={"id": f"tool:{n}", "name": f"tool{n}"}) for n in range(number))


def test_the_ceiling_names_the_class_with_the_most_tokens() -> None:
    narrow = t.opening(instructions=_words(1_000), of=t.model(window=6_000, output_reserve=4_000))
    wide = narrow.model_copy(update={"model": t.model(window=16_000_000)})
    plan = t.plan(wide)
    roomy = t.opened(wide, purpose="roomy", answer=a.Planned(plan=plan))
    named = _refused(TokenClass.AGENT_INSTRUCTIONS, plan.prefix_tokens, 1_000)
    good = t.trace(LOG, [t.opened(narrow, answer=named), roomy])
    assert holds("CTX-07.2", good) == {d07.CEILING_OVER}
    other = _refused(TokenClass.PLATFORM_POLICY, plan.prefix_tokens, 1_000)
    violation("CTX-07.2", t.trace(LOG, [t.opened(narrow, answer=other), roomy]))
    found = violation("CTX-07.2", t.trace(LOG, [t.opened(narrow), roomy]))
    assert found.required.endswith(f"of {plan.prefix_tokens} tokens and a ceiling of 1000")


def test_thirty_one_tools_that_are_named_hold() -> None:
    many = t.opening(tools=_tools(31))
    named = _refused(TokenClass.TOOL_DEFINITIONS, 31, 30, "items")
    assert holds("CTX-07.3", _opened(many, named)) == {d07.TOO_MANY_TOOLS}
    assert "tool_definitions 31 of 30 items" in violation("CTX-07.3", _opened(many)).required


def test_forty_one_memory_items_that_open_are_a_violation() -> None:
    memory = tuple(t.memory(f"m{n}", "x") for n in range(41))
    found = violation("CTX-07.3", _opened(t.opening(memory=memory)))
    assert found.witnesses == (d07.TOO_MANY_MEMORIES,)


EXACT = t.opening(instructions=_words(4_000))


def test_an_opening_exactly_at_a_cap_that_opens_whole_holds() -> None:
    assert holds("CTX-07.4", _opened(EXACT)) == {d07.CLASS_AT_CAP}
    assert holds("CTX-07.4", _opened(t.opening(tools=_tools(30)))) == {d07.ITEMS_AT_CAP}


def test_an_opening_exactly_at_a_cap_that_is_refused_is_a_violation() -> None:
    roomy = t.opened(EXACT.model_copy(update={"model": t.model(window=10**7)}), purpose="roomy")
    refusal = _refused(TokenClass.AGENT_INSTRUCTIONS, 4_000, 4_000)
    violation("CTX-07.4", t.trace(LOG, [t.opened(EXACT, answer=refusal), roomy]))


def test_an_opening_exactly_at_a_cap_that_is_cut_is_a_violation() -> None:
    cut = t.plan(t.opening(instructions=_words(3_999)))
    found = violation("CTX-07.4", _opened(EXACT, a.Planned(plan=cut)))
    assert found.seen.startswith("agent_instructions 'instructions' is not whole")


GAVE_WAY = {"recall": (t.recall("x"),), "newly": (t.gave_way("x", step=YieldStep.RECALL),)}


def test_a_whole_prefix_under_pressure_holds() -> None:
    trace = t.trace(LOG, [t.opened(), t.build(LOG, **GAVE_WAY)])  # type: ignore[arg-type]
    assert holds("CTX-07.5", trace) == {d07.UNDER_PRESSURE}


def test_instructions_truncated_under_pressure_are_a_violation() -> None:
    def cut(blocks: tuple[Block, ...]) -> list[Block]:
        shorter = AgentInstructions(id="instructions", text="You help")
        return [b.block(shorter) if x.item_id == "instructions" else x for x in blocks]

    built = t.build(LOG, change=cut, **GAVE_WAY)  # type: ignore[arg-type]
    found = violation("CTX-07.5", t.trace(LOG, [t.opened(), built]))
    assert "agent_instructions 'instructions' is not whole" in found.seen


def test_memory_left_out_under_pressure_is_a_violation() -> None:
    opening = t.opening(memory=(t.memory("m1"),))
    plan = t.plan(opening)
    built = t.build(LOG, of=plan, change=lambda x: [y for y in x if y.item_id != "m1"])
    found = violation("CTX-07.5", t.trace(LOG, [t.opened(opening), built], plans=(plan,)))
    assert found.seen == "memory_snapshot 'm1' is not in the prefix"


def test_an_opening_within_every_cap_that_opens_holds() -> None:
    assert holds("CTX-07.6", _opened(t.opening())) == {d07.WITHIN}


def test_tools_that_are_not_permitted_do_not_count() -> None:
    barred = t.opening(tools=_tools(31), permissions=("tool0",))
    assert holds("CTX-07.6", _opened(barred)) == {d07.WITHIN, d07.BARRED_TOOLS}
    named = _refused(TokenClass.TOOL_DEFINITIONS, 31, 30, "items")
    violation("CTX-07.6", _opened(barred, named))


def test_refusing_a_sound_opening_for_ones_own_framing_is_a_violation() -> None:
    answer = _refused(TokenClass.FRAMING, 501, 500)
    assert "framing 501 of 500" in violation("CTX-07.6", _opened(t.opening(), answer)).seen


def test_an_opening_that_may_be_over_the_ceiling_is_not_judged() -> None:
    tight = t.opening(of=t.model(window=5_200, output_reserve=4_000))
    answer = _refused(TokenClass.AGENT_INSTRUCTIONS, 300, 200)
    unjudged("CTX-07.6", _opened(tight, answer))


RESERVED = t.opening(instructions=_words(4_001), of=t.model(window=4_999, output_reserve=4_000))


def test_a_reserve_too_large_that_is_named_before_all_else_holds() -> None:
    named = _refused(TokenClass.OUTPUT_RESERVE, 999, 1_000)
    trace = _opened(RESERVED, named)
    assert holds("CTX-07.7", trace) == {d07.RESERVE_TOO_LARGE}
    unjudged("CTX-07.1", trace)


def test_naming_another_class_before_the_reserve_is_a_violation() -> None:
    found = violation("CTX-07.7", _opened(RESERVED, NAMED))
    assert found.required == "a refusal that names output_reserve 999 of 1000 tokens"
