"""The driver: what it hands over, what it writes down, and what it skips."""

from __future__ import annotations

from typing import Any

import pytest

from contextproof.conformance.contract.answers import BudgetExhausted, Built, CompactionNeeded
from contextproof.conformance.contract.items import Message, ToolResult, UsageRecorded
from contextproof.conformance.contract.request import Block, Estimate
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.play.document import TraceDocument, from_document, to_document
from contextproof.conformance.play.sides import defects
from contextproof.conformance.play.trace import BuildRecord, ResumeRecord, SendRecord, SkipRecord
from contextproof.conformance.play.variations import without_permission_changes
from fakes.tiny import REQUEST, USER, call, minimal_builder, played, reply, scenario


def _skips(trace: Any) -> list[str]:
    return [record.reason for record in trace.records if isinstance(record, SkipRecord)]


def test_a_turn_is_built_sent_and_its_usage_noted() -> None:
    trace = played(USER, {"step": "request", "extra_tokens": 7}, reply("a1"), {"step": "close"})
    sent = trace.sent[0]
    overhead = sent.build.context.model.overhead_per_block
    counted = sum(count("o200k_base", block.text) + overhead for block in sent.request.blocks)
    assert sent.send.count == counted
    assert sent.send.usage == counted + 7
    usages = [item for item in trace.log if isinstance(item, UsageRecorded)]
    assert [usage.tokens for usage in usages] == [counted + 7]
    assert trace.ended == "closed"


def test_beside_every_main_build_stand_a_repeat_one_of_other_live_values_and_a_roomy_one() -> None:
    trace = played(USER, REQUEST)
    purposes = [record.purpose for _, record in trace.builds()]
    assert purposes == ["main", "repeat", "other_live", "roomy"]
    main, repeat, other, roomy = (record for _, record in trace.builds())
    assert repeat.inputs == main.inputs
    assert other.inputs.live != main.inputs.live
    assert other.inputs.model_copy(update={"live": main.inputs.live}) == main.inputs
    assert roomy.context.model.window > main.context.model.window


def test_a_window_in_body_tokens_leaves_exactly_that_beside_prefix_and_reserve() -> None:
    trace = played(USER)
    model = trace.plans[0].opening.model
    assert model.window == model.output_reserve + trace.plans[0].prefix_tokens + 5000


def test_a_failed_send_is_retried_with_the_attempt_counted() -> None:
    trace = played(USER, {"step": "request", "failures": 2})
    sends = [record.delivered for record in trace.records if isinstance(record, SendRecord)]
    attempts = [r.inputs.live.attempt for _, r in trace.builds("main", "retry")]
    assert sends == [False, False, True]
    assert attempts == [1, 2, 3]
    assert len(trace.sent) == 1


def test_results_enter_the_log_in_the_order_the_scenario_says() -> None:
    step = reply("a1", call("c1", call_id="1"), call("c2", call_id="2"), order=["c2", "c1"])
    trace = played(USER, REQUEST, step)
    assert [item.id for item in trace.log if isinstance(item, ToolResult)] == ["r-c2", "r-c1"]


def test_an_unanswered_call_is_closed_as_interrupted_when_the_user_speaks() -> None:
    steps = (USER, REQUEST, reply("a1", call("c1", outcome=None)), {**USER, "id": "u2"})
    trace = played(*steps)
    messages = [(item.type, item.id) for item in trace.log if isinstance(item, Message)]
    assert messages[-2:] == [("tool_result", "c1:interrupted"), ("user_message", "u2")]


def test_what_cannot_be_played_is_skipped_with_the_reason() -> None:
    assert _skips(played(REQUEST)) == ["there is no user message yet"]
    assert _skips(played(USER, reply("a1"))) == ["no request was sent that this could answer"]
    assert _skips(played(USER, {"step": "compact"})) == ["the builder has no compactor"]


def _answering(answer: Any) -> Any:
    class Answering(minimal_builder()):  # type: ignore[misc]
        def build(self, context: Any, plan: Any, inputs: Any) -> Any:
            return answer

    return Answering()


@pytest.mark.parametrize(
    "answer",
    [
        BudgetExhausted(token_class=TokenClass.ACTIVE, needed=2, available=1),
        CompactionNeeded(estimate=Estimate(by_class=(), prefix_tokens=0)),
    ],
)
def test_a_turn_without_a_request_ends_unsent_and_the_next_one_begins_anew(answer: Any) -> None:
    trace = played(
        USER, REQUEST, reply("a1"), REQUEST, {**USER, "id": "u2"}, REQUEST, builder=_answering(answer)
    )
    assert trace.sent == ()
    assert len(list(trace.builds("main"))) == 2
    assert len(_skips(trace)) == 2


def test_a_derivation_from_what_never_came_in_is_left_out() -> None:
    memory = [{"id": "m", "text": "likes tea"}]
    trace = played({**USER, "derived_from": ["m", "p", "never"]}, memory=memory)
    assert trace.log[0].derived_from == ("m",)  # type: ignore[union-attr]


def test_a_resume_without_a_name_to_start_by_still_passes_everything_through_json() -> None:
    trace = played(USER, REQUEST, reply("a1"), {"step": "resume"}, {**USER, "id": "u2"}, REQUEST)
    resumed = next(record for record in trace.records if isinstance(record, ResumeRecord))
    assert not resumed.fresh
    assert len(trace.sent) == 2


def test_recipes_resolve_against_the_builder_and_the_corpus() -> None:
    pieces = [
        {"kind": "literal", "text": "<"},
        {"kind": "repeat", "text": "ab", "times": 2},
        {"kind": "corpus", "name": "log", "start": 4, "characters": 12},
        {"kind": "sent", "item": "p"},
        {"kind": "delimiter"},
        {"kind": "literal", "text": ">"},
    ]
    trace = played({**USER, "text": pieces})
    assert trace.log[0].text == "<ababtext. log teDo no harm.>"  # type: ignore[union-attr]


def test_a_builder_that_changes_its_inputs_is_noticed() -> None:
    class Changing(minimal_builder()):  # type: ignore[misc]
        def build(self, context: Any, plan: Any, inputs: Any) -> Any:
            answer = super().build(context, plan, inputs)
            inputs.__dict__["log"] = inputs.log[1:]
            return answer

    trace = played(USER, REQUEST, builder=Changing())
    main = next(record for _, record in trace.builds("main"))
    assert not main.inputs_unchanged


def test_a_trace_survives_its_document_and_names_each_block_once() -> None:
    trace = played(USER, REQUEST, reply("a1", call("c1")), REQUEST, {"step": "close"})
    document = TraceDocument.from_json(to_document(trace).canonical())
    assert from_document(document) == trace
    assert len(set(document.blocks)) == len(document.blocks)


def _pairs(blocks: tuple[Block, ...]) -> bool:
    """Whether each message's calls are answered once each before the next message: a second opinion."""
    calls: list[str | None] = []
    for block in blocks:
        if block.type == "tool_call":
            calls.append(block.call_id)
        elif block.type == "tool_result":
            if block.call_id not in calls:
                return False
            calls.remove(block.call_id)
        elif block.type in ("user_message", "assistant_message"):
            if calls:
                return False
            calls = []
    return not calls


def test_every_defect_shown_to_a_validator_is_one() -> None:
    class WithIds(minimal_builder()):  # type: ignore[misc]
        def build(self, context: Any, plan: Any, inputs: Any) -> Any:
            answer = super().build(context, plan, inputs)
            ids = {item.id: getattr(item, "call_id", None) for item in inputs.log}
            blocks = tuple(
                block.model_copy(update={"call_id": ids.get(block.item_id)})
                for block in answer.request.blocks
            )
            return Built(request=answer.request.model_copy(update={"blocks": blocks}))

    steps = (
        *(USER, REQUEST, reply("a1", call("c1"), call("c2")), REQUEST, reply("a2", call("c3"))),
        *({**USER, "id": "u2"}, REQUEST),
    )
    trace = played(*steps, builder=WithIds())
    blocks = trace.sent[-1].request.blocks
    found = list(defects(blocks))
    assert _pairs(blocks)
    assert len({name for name, _ in found}) >= 6
    assert [name for name, changed in found if _pairs(changed)] == []


def test_the_variation_without_permission_changes_drops_just_those() -> None:
    change = {"step": "permissions", "permissions": []}
    varied = without_permission_changes(scenario(USER, change, REQUEST))
    assert varied.steps == scenario(USER, REQUEST).steps


def test_side_builds_can_be_left_out() -> None:
    from contextproof.conformance.adapters.in_process import InProcess
    from contextproof.conformance.play.driver import play

    trace = play(scenario(USER, REQUEST), InProcess(minimal_builder()()), beside=frozenset())
    assert [r.purpose for r in trace.records if isinstance(r, BuildRecord)] == ["main"]
