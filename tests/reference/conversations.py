"""Well-formed conversations of every shape: parallel calls, reused ids, results in any order."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from contextproof.conformance.contract.items import LogItem, ResultStatus, UsageRecorded
from contextproof.conformance.contract.vocabulary import Trust
from reference.making import assistant, call, result, user

#: Ids of calls as providers give them: they recur in later messages, and even within one.
_CALL_IDS = st.sampled_from(("a", "b", ""))
_STATUSES = st.sampled_from(tuple(ResultStatus))
_TEXTS = st.sampled_from(("", "one line", "two\nlines", "⟪ctx", "数据 " * 40))


@st.composite
def logs(draw: st.DrawFn, *, max_turns: int = 4) -> tuple[LogItem, ...]:
    """A log that ends where a request may be built: every call is answered."""
    log: list[LogItem] = []

    def fresh(kind: str) -> str:
        return f"{kind}{len(log)}"

    for _ in range(draw(st.integers(1, max_turns))):
        log.append(user(fresh("u"), draw(_TEXTS)))
        for _ in range(draw(st.integers(0, 3))):
            log += _unit(draw, fresh)
            log.append(UsageRecorded(id=fresh("usage"), request=1, tokens=1))
    return tuple(log)


def _unit(draw: st.DrawFn, fresh: Callable[[str], str]) -> list[LogItem]:
    message = fresh("a")
    ids = draw(st.lists(_CALL_IDS, max_size=4))
    calls: list[LogItem] = [call(f"{message}-c{n}", message, call_id=c) for n, c in enumerate(ids)]
    results: list[LogItem] = [
        result(
            f"{message}-r{n}",
            call_id,
            draw(_TEXTS),
            status=draw(_STATUSES),
            trust=draw(st.sampled_from((None, Trust.INTERNAL))),
        )
        for n, call_id in enumerate(draw(st.permutations(ids)))
    ]
    return [assistant(message, draw(_TEXTS)), *calls, *results]
