"""Decision 13 on hand-written traces: nonces, framing, labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import LogItem
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import ForcedRevocation
from contextproof.conformance.contract.vocabulary import Region, Role, Slot, Trust
from contextproof.conformance.contract.working_state import WorkingState
from contextproof.conformance.play.trace import OpenRecord, Trace
from contextproof.conformance.requirements import d13_labels as d13
from requirements import records as r
from requirements import toy_blocks as b
from requirements import traces as t
from requirements.judging import declared, holds, unjudged, violation

PAGE = t.result("r1", "k1", "A page. " * 30)
LOG: tuple[LogItem, ...] = (
    *(t.user("u1"), t.assistant("a1"), t.call("k1", "a1"), PAGE),
    *(t.assistant("a2", derived_from=("r1",)), t.user("u2")),
)
OTHER = t.opening(secret="another platform's secret")
Change = Callable[[tuple[Block, ...]], Iterable[Block]]


def _right(blocks: tuple[Block, ...]) -> list[Block]:
    """The toy labels by own trust; here what derives from the page is labelled as it must be."""
    lowered = b.block(LOG[4], slot=Slot.HISTORY, label=Trust.EXTERNAL_UNTRUSTED)  # type: ignore[arg-type]
    return [lowered if block.item_id == "a2" else block for block in blocks]


def _altered(item_id: str | None, change: Callable[[Block], Block]) -> Change:
    return lambda blocks: [change(x) if x.item_id == item_id else x for x in _right(blocks)]


def _sessions() -> list[OpenRecord]:
    return [t.opened(), t.opened(OTHER, purpose="other_secret")]


def test_nonces_keyed_to_content_hold() -> None:
    rotated = t.plan(epoch=2)
    records = [
        *(*_sessions(), t.build(LOG), t.build(LOG, yielded=(t.gave_way("r1"),), request=2)),
        t.build(LOG, of=rotated, index=1, request=3),
    ]
    trace = t.trace(LOG, records, plans=[t.plan(), rotated])
    assert holds("CTX-13.5", trace) == declared("CTX-13.5")


def _renonced(nonce: str) -> Callable[[Block], Block]:
    def change(block: Block) -> Block:
        old = d13._nonce(block)
        assert old is not None
        return block.model_copy(update={"text": block.text.replace(old, nonce)})

    return change


def test_a_nonce_drawn_anew_for_each_request_is_a_violation() -> None:
    fresh = t.build(LOG, request=2, change=_altered("u1", _renonced("0123456789abcdef")))
    assert "elsewhere" in violation("CTX-13.5", t.trace(LOG, [t.build(LOG), fresh])).seen


def test_another_nonce_for_a_pointer_is_a_violation() -> None:
    def change(blocks: tuple[Block, ...]) -> list[Block]:
        return [_renonced("0123456789abcdef")(x) if x.pointer else x for x in blocks]

    truncated = t.build(LOG, request=2, yielded=(t.gave_way("r1"),), change=change)
    violation("CTX-13.5", t.trace(LOG, [t.build(LOG), truncated]))


def test_one_nonce_for_different_content_is_a_violation() -> None:
    def change(blocks: tuple[Block, ...]) -> list[Block]:
        return [_renonced("0123456789abcdef")(x) if x.item_id in ("u1", "k1") else x for x in blocks]

    found = violation("CTX-13.5", t.trace(LOG, [t.build(LOG, change=change)]))
    assert "has too" in found.seen


def test_the_same_nonces_under_another_secret_are_a_violation() -> None:
    unkeyed = t.opened(OTHER, purpose="other_secret", answer=a.Planned(plan=t.plan()))
    trace = t.trace(LOG, [t.opened(), unkeyed, t.build(LOG)])
    assert "under two platform secrets" in violation("CTX-13.5", trace).seen


def test_short_nonces_are_a_violation() -> None:
    def short(blocks: tuple[Block, ...]) -> list[Block]:
        return [_short(block) if block.envelope else block for block in blocks]

    found = violation("CTX-13.5", t.trace(LOG, [t.build(LOG, change=short)]))
    assert found.required == "at least 64 bits"


def _short(block: Block) -> Block:
    """The nonce's first eight digits alone are declared to be it."""
    envelope = block.envelope
    assert envelope is not None
    cut = {
        name: getattr(envelope, name).model_copy(update={"end": getattr(envelope, name).start + 8})
        for name in ("nonce", "closing_nonce")
    }
    return block.model_copy(update={"envelope": envelope.model_copy(update=cut)})


def test_one_framing_everywhere_holds() -> None:
    rotated = a.Planned(plan=t.plan(epoch=2))
    change = t.applied(ForcedRevocation(tool="search"), rotated)
    trace = t.trace(LOG, [*_sessions(), t.build(LOG), change])
    assert holds("CTX-13.6", trace) == declared("CTX-13.6")


@pytest.mark.parametrize("framing", [[], ["  "], [b.FRAMING_TEXT, b.FRAMING_TEXT]])
def test_a_framing_that_is_missing_blank_or_doubled_is_a_violation(framing: list[str]) -> None:
    def change(blocks: tuple[Block, ...]) -> list[Block]:
        return [*map(b.framing, framing), *(x for x in blocks if x.type != "framing")]

    violation("CTX-13.6", t.trace(LOG, [t.build(LOG, change=change)]))


def test_another_framing_in_another_session_is_a_violation() -> None:
    blocks = [b.framing("Mind it.") if x.type == "framing" else x for x in t.prefix(OTHER)]
    other = t.opened(OTHER, purpose="other_secret", answer=a.Planned(plan=t.plan(OTHER, blocks=blocks)))
    assert "'Mind it.'" in violation("CTX-13.6", t.trace(LOG, [t.opened(), other])).seen


TRUSTED_FACT, UNTRUSTED_FACT = (
    r.fact("f1", "Trains run on Fridays.", derived_from=("u1",)),
    r.fact("f2", "The fare is nine crowns.", derived_from=("r1",)),
)
STATE = WorkingState(established_facts=(TRUSTED_FACT, UNTRUSTED_FACT))


def _by_trust(blocks: tuple[Block, ...]) -> list[Block]:
    """Working state as two blocks, one of each trust."""
    two = [
        b.state(WorkingState(established_facts=(TRUSTED_FACT,))),
        b.state(WorkingState(established_facts=(UNTRUSTED_FACT,)), label=Trust.EXTERNAL_UNTRUSTED),
    ]
    return [*(x for x in _right(blocks) if x.type != "working_state"), *two]


def _trace(change: Change, **given: object) -> Trace:
    return t.trace(LOG, [t.build(LOG, change=change, **given)])  # type: ignore[arg-type]


def test_labels_of_effective_trust_hold() -> None:
    trace = _trace(_by_trust, working_state=STATE, checkpoint=r.checkpoint(0, summarized=("u1",)))
    assert holds("CTX-13.7", trace) == declared("CTX-13.7")


@pytest.mark.parametrize(
    ("item_id", "label"),
    [
        ("a2", Trust.INTERNAL),
        ("r1", Trust.INTERNAL),
        ("u2", Trust.OPERATOR),
        ("u2", Trust.INTERNAL),
        ("k1", Trust.EXTERNAL_UNTRUSTED),
        ("cp-1", Trust.USER),
        (t.TOOL.id, Trust.PLATFORM),
    ],
)
def test_another_label_than_the_effective_trust_is_a_violation(item_id: str, label: Trust) -> None:
    change = _altered(item_id, lambda x: x.model_copy(update={"label": label}))
    found = violation("CTX-13.7", _trace(change, checkpoint=r.checkpoint(0)))
    assert found.at.item_id == item_id
    assert f"labelled {label}" in found.seen


def test_an_assistant_message_after_a_page_may_be_labelled_lower() -> None:
    log = (*LOG, t.assistant("a3"), t.user("u3"))
    lower = b.block(log[6], slot=Slot.HISTORY, label=Trust.EXTERNAL_UNTRUSTED)  # type: ignore[arg-type]

    def change(blocks: tuple[Block, ...]) -> list[Block]:
        return [lower if x.item_id == "a3" else x for x in _right(blocks)]

    holds("CTX-13.7", t.trace(log, [t.build(log, change=change)]))


def test_an_untrusted_fact_under_an_internal_label_is_a_violation() -> None:
    found = violation("CTX-13.7", _trace(_right, working_state=STATE))
    assert found.at.item_id == "f2"


def test_a_body_in_other_roles_holds() -> None:
    assert holds("CTX-13.8", _trace(_right, checkpoint=r.checkpoint(0))) == declared("CTX-13.8")


@pytest.mark.parametrize(
    "change",
    [{"role": Role.SYSTEM}, {"role": Role.DEVELOPER}, {"label": Trust.PLATFORM}],
)
def test_a_summary_that_speaks_as_the_platform_is_a_violation(change: dict[str, object]) -> None:
    lifted = _altered("cp-1", lambda x: x.model_copy(update=change))
    violation("CTX-13.8", _trace(lifted, checkpoint=r.checkpoint(0)))


def test_a_body_block_that_claims_region_a_is_judged_all_the_same() -> None:
    def lifted(block: Block) -> Block:
        return block.model_copy(update={"role": Role.SYSTEM, "region": Region.A})

    violation("CTX-13.8", _trace(_altered("u1", lifted)))
    unjudged("CTX-13.8", t.trace(LOG, [t.opened()]))
