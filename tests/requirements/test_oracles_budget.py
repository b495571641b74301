"""The oracles behind decisions 1 to 8: content as rendered, slots, pairs, caps and bounds."""

from __future__ import annotations

import base64
import json

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract import measures
from contextproof.conformance.contract.codecs import (
    Base64,
    Codec,
    JsonString,
    Substitution,
    Xml,
)
from contextproof.conformance.contract.items import content
from contextproof.conformance.contract.manifest import TypeCodec
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import ForcedRevocation, RoutingChanged
from contextproof.conformance.contract.vocabulary import Slot, TokenClass, Trust
from contextproof.conformance.requirements import oracles_caps as caps
from contextproof.conformance.requirements import oracles_log as log_oracle
from contextproof.conformance.requirements import oracles_text as text_oracle
from contextproof.conformance.requirements import oracles_tools as tools
from contextproof.conformance.requirements import oracles_yield as yields
from contextproof.conformance.requirements.oracles_views import played
from requirements import toy_blocks as b
from requirements import traces as t

HOSTILE = 'Say "[[x]]" & <b>&lb;</b> \\n \u2028 <|endoftext|> 家'


def _user_block(interior: str) -> Block:
    return b.enveloped(
        "user_message",
        interior,
        label=Trust.USER,
        source="user",
        keyed=HOSTILE,
        item_id="u",
        slot=Slot.CURRENT,
    )


CODECS: list[tuple[Codec, str]] = [
    (Substitution(table=(("&", "&amp;"),)), HOSTILE.replace("&", "&amp;")),
    (JsonString(), json.dumps(HOSTILE)),
    (Xml(), HOSTILE.replace("&", "&amp;").replace("<", "&lt;")),
    (Base64(), base64.b64encode(HOSTILE.encode()).decode()),
]


@pytest.mark.parametrize(("codec", "rendered"), CODECS)
def test_content_is_told_under_every_codec(codec: Codec, rendered: str) -> None:
    manifest = b.MANIFEST.model_copy(update={"codecs": (TypeCodec(type="user_message", codec=codec),)})
    assert text_oracle.is_whole(manifest, _user_block(rendered), t.user("u", HOSTILE))
    assert not text_oracle.is_whole(manifest, _user_block(rendered), t.user("u", HOSTILE + "!"))


@pytest.mark.parametrize("times", [0, 1, 2])
def test_content_is_told_however_often_it_was_escaped(times: int) -> None:
    rendered = HOSTILE
    for _ in range(times):
        rendered = b.escaped(rendered)
    assert text_oracle.is_whole(b.MANIFEST, _user_block(rendered), t.user("u", HOSTILE))


def test_content_that_is_cut_or_reworded_is_not_whole() -> None:
    for text in (HOSTILE[:-1], HOSTILE.replace("Say", "Tell"), ""):
        assert not text_oracle.is_whole(b.MANIFEST, _user_block(b.escaped(text)), t.user("u", HOSTILE))


def test_a_structural_call_is_whole_by_its_values() -> None:
    call = t.call("k", "a", arguments='{"q": "x", broken')
    wire = json.dumps({"label": "internal", "name": call.name, "arguments": call.arguments})
    block = b.block(call, slot=Slot.ACTIVE).model_copy(update={"envelope": None, "text": wire})
    assert text_oracle.is_whole(b.MANIFEST, block, call)
    other = t.call("k", "a", arguments="{}")
    assert not text_oracle.is_whole(b.MANIFEST, block, other)


LOG = (
    t.user("u1"),
    t.assistant("a1"),
    t.call("k1", "a1", call_id="same"),
    t.result("r1", "same"),
    t.user("u2"),
    t.assistant("a2"),
    t.call("k2", "a2", call_id="same"),
    t.result("r2", "same"),
    t.assistant("a3"),
    t.call("k3", "a3", call_id="same"),
    t.call("k4", "a3"),
    t.result("r4", "k4"),
    t.result("r3", "same", status="denied"),
)


def test_slots_follow_the_current_user_message() -> None:
    slots = log_oracle.slots(LOG)
    assert [slots[name] for name in ("u1", "r1", "u2", "a2", "r3")] == [
        Slot.HISTORY,
        Slot.HISTORY,
        Slot.CURRENT,
        Slot.ACTIVE,
        Slot.ACTIVE,
    ]


def test_active_pairs_are_those_of_the_latest_message_with_calls() -> None:
    assert [item.id for item in log_oracle.active_pairs(LOG)] == ["k3", "k4", "r4", "r3"]
    assert log_oracle.active_pairs(LOG[:5]) == ()
    talking = (*LOG, t.assistant("a4"))
    assert [item.id for item in log_oracle.active_pairs(talking)] == ["k3", "k4", "r4", "r3"]


def test_older_results_leave_out_active_and_runtime_ones() -> None:
    assert [item.id for item in log_oracle.older_results(LOG, None)] == ["r1", "r2"]


def test_turns_are_counted_by_user_messages() -> None:
    turns = log_oracle.turns(LOG)
    assert (turns["u1"], turns["r1"], turns["u2"], turns["r3"]) == (1, 1, 2, 2)


def test_the_latest_correction_of_an_item_wins() -> None:
    given = (t.correction("c1", "m1"), t.correction("c2", "m2"), t.correction("c3", "m1"))
    assert [item.id for item in log_oracle.latest_corrections(given)] == ["c3", "c2"]


def test_an_opening_is_measured_by_content_and_by_permitted_tools() -> None:
    opening = t.opening(policy=" a" * 2_001, permissions=("search",))
    found = {(m.token_class, m.unit): m for m in measures.opening_measures(opening)}
    assert found[TokenClass.PLATFORM_POLICY, "tokens"].is_over
    assert found[TokenClass.TOOL_DEFINITIONS, "items"].measured == 1
    assert measures.over_cap(opening) == (found[TokenClass.PLATFORM_POLICY, "tokens"],)


def test_bounds_lie_above_what_is_really_sent() -> None:
    opening = t.opening(memory=(t.memory("m", HOSTILE),))
    assert caps.prefix_bound(opening) > t.plan(opening).prefix_tokens
    built = t.build(LOG, recall=(t.recall("x", HOSTILE),))
    trace = t.trace(LOG, [t.opened(), built])
    (made,) = played(trace)
    assert yields.everything_bound(trace, made.record, built) > made.request.estimate.total
    assert yields.standing_floor(trace, built, None) < made.request.estimate.total


def test_new_pointers_are_those_listed_and_those_only_seen() -> None:
    def pointing(blocks: tuple[Block, ...]) -> list[Block]:
        pointer = b.truncated(t.result("r1", "same"), slot=Slot.HISTORY)
        return [pointer if x.item_id == "r1" else x for x in blocks]

    built = t.build(LOG, change=pointing, newly=(t.gave_way("r2"),))
    (made,) = played(t.trace(LOG, [built]))
    assert yields.new_pointers(made) == {"r1", "r2"}
    assert [item.id for item in yields.verbatim_results(made)] == ["r4"]


def test_pinned_tools_are_told_from_openings_and_changes() -> None:
    first, revoked = t.plan(), t.plan(t.opening(tools=(t.STATE_TOOL,)), epoch=2)
    change = t.applied(ForcedRevocation(tool="search"), a.Planned(plan=revoked))
    trace = t.trace((), [t.opened(), change], plans=(first, revoked))
    assert tools.pinned_by_plan(trace) == [(t.TOOL, t.STATE_TOOL), (t.STATE_TOOL,)]
    assert tools.must_rotate(change, first, (t.TOOL,)) is True
    assert tools.must_rotate(change, first, ()) is False


def test_a_model_that_differs_only_in_its_window_leaves_rotation_open() -> None:
    first = t.plan()
    wider = RoutingChanged(model=t.model(window=30_000))
    assert tools.must_rotate(t.applied(wider, a.Planned(plan=first)), first, ()) is None
    same = RoutingChanged(model=t.model())
    assert tools.must_rotate(t.applied(same, a.Planned(plan=first)), first, ()) is False


def test_content_of_a_tool_ignores_the_order_of_keys() -> None:
    first = t.TOOL.model_copy(update={"parameters_json": '{"a": 1, "b": 2}'})
    second = t.TOOL.model_copy(update={"parameters_json": '{"b": 2, "a": 1}'})
    assert content(first) == content(second)
    assert text_oracle.is_whole(b.MANIFEST, b.block(second), first)
