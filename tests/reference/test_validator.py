"""The validator accepts every well-formed request and rejects every torn one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contextproof.conformance.contract.answers import InvalidInput, InvalidKind, Violation
from contextproof.conformance.contract.items import LogItem
from contextproof.conformance.contract.request import Block, Request
from reference.conversations import logs
from reference.making import (
    ENGINE,
    assistant,
    build,
    built,
    call,
    context,
    expect,
    inputs,
    planned,
    result,
    user,
)

PLAN = planned()
CALL, RESULT, NEXT = "tool_call", "tool_result", ("user_message", "assistant_message")


def request_of(log: Sequence[LogItem]) -> Request:
    return built(PLAN, log).request


def found(request: Request, blocks: Sequence[Block]) -> tuple[Violation, ...]:
    malformed = request.model_copy(update={"blocks": tuple(blocks)})
    return ENGINE.validate(context(), malformed).violations


@given(logs())
def test_every_well_formed_request_is_accepted(log: tuple[LogItem, ...]) -> None:
    request = request_of(log)
    assert found(request, request.blocks) == ()


@given(logs(), st.data())
def test_a_dropped_half_is_found(log: tuple[LogItem, ...], data: st.DataObject) -> None:
    blocks = list(request_of(log).blocks)
    halves = [n for n, block in enumerate(blocks) if block.type in (CALL, RESULT)]
    assume(halves)
    del blocks[data.draw(st.sampled_from(halves))]
    assert found(request_of(log), blocks)


@given(logs(), st.data())
def test_a_half_that_stands_twice_is_found(log: tuple[LogItem, ...], data: st.DataObject) -> None:
    blocks = list(request_of(log).blocks)
    halves = [n for n, block in enumerate(blocks) if block.type in (CALL, RESULT)]
    assume(halves)
    at = data.draw(st.sampled_from(halves))
    blocks.insert(data.draw(st.sampled_from(halves)) + 1, blocks[at])
    assert found(request_of(log), blocks)


@given(logs(), st.data())
def test_a_result_that_leaves_its_unit_is_found(log: tuple[LogItem, ...], data: st.DataObject) -> None:
    blocks = list(request_of(log).blocks)
    results = [n for n, block in enumerate(blocks) if block.type == RESULT]
    assume(results)
    at = data.draw(st.sampled_from(results))
    after = next(n for n, block in enumerate(blocks) if n > at and block.type in NEXT)
    moved = blocks.pop(at)
    blocks.insert(after, moved)
    # Where the next message has an open call of the same id, it would be that call's result.
    assume(blocks[after + 1 : after + 2] == [] or blocks[after + 1].type != CALL)
    assert found(request_of(log), blocks)


C1 = (assistant("a1"), call("c1", "a1", call_id="x"))
R1 = result("r1", "x")
TORN: list[tuple[str, tuple[LogItem, ...], InvalidKind, str]] = [
    ("an unanswered call", (*C1,), InvalidKind.UNANSWERED_CALL, "c1"),
    ("a result of no call", (*C1, R1, result("r2", "y")), InvalidKind.ORPHANED_RESULT, "r2"),
    ("two results", (*C1, R1, result("r2", "x")), InvalidKind.DUPLICATE_RESULT, "r2"),
    ("a result before its call", (C1[0], R1, C1[1]), InvalidKind.MISORDERED, "r1"),
    ("a late result", (*C1, R1, user("u2"), result("r2", "x")), InvalidKind.LATE_RESULT, "r2"),
    ("a late first result", (*C1, user("u2"), R1), InvalidKind.UNANSWERED_CALL, "c1"),
    ("a call of no message", (call("c0", "a0"), result("r0", "c0")), InvalidKind.ORPHANED_CALL, "c0"),
]


@pytest.mark.parametrize(("log", "kind", "subject"), [t[1:] for t in TORN], ids=[t[0] for t in TORN])
def test_a_torn_log_is_refused_naming_the_item(
    log: tuple[LogItem, ...], kind: InvalidKind, subject: str
) -> None:
    answer = expect(InvalidInput, build(PLAN, inputs((user("u1"), *log))))
    assert (answer.kind, answer.subject) == (kind, subject)
