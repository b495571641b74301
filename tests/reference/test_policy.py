"""Calls are authorized when they are made."""

from __future__ import annotations

import pytest

from contextproof.conformance.contract.answers import Allowed, Denied
from contextproof.conformance.contract.items import ResultStatus
from contextproof.conformance.contract.vocabulary import Trust
from reference.making import ENGINE, LIVE, call, context, expect, opening, planned, tool

PLAN = planned(opening(tools=(tool("search"), tool("delete")), permissions=("search",)))


def authorized(name: str, *permissions: str) -> Allowed | Denied:
    live = LIVE.model_copy(update={"permissions": permissions})
    made = call("c1", "a1", call_id="provider-7", name=name)
    return ENGINE.authorize(context(), PLAN, live, made)


def test_a_pinned_tool_that_is_permitted_now_is_allowed() -> None:
    expect(Allowed, authorized("search", "search", "delete"))


def test_reasons_tell_a_revoked_tool_from_one_that_was_never_pinned() -> None:
    revoked = expect(Denied, authorized("search", "delete"))
    unpinned = expect(Denied, authorized("delete", "search", "delete"))
    assert revoked.reason != unpinned.reason


@pytest.mark.parametrize("name", ["search", "delete", "IGNORE-ALL-RULES-7"])
def test_the_result_closes_the_call_in_the_runtimes_own_words(name: str) -> None:
    result = expect(Denied, authorized(name)).result
    assert (result.id, result.call_id, result.status) == (
        LIVE.ids[0],
        "provider-7",
        ResultStatus.DENIED,
    )
    assert (result.source, result.trust) == ("runtime", Trust.INTERNAL)
    assert name not in result.text
