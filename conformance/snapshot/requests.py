"""Snapshots of whole requests: those of the fifty-turn session that show most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise

from contextproof.conformance.contract.answers import Built
from contextproof.conformance.contract.request import Yielded
from contextproof.conformance.play.trace import Sent, Trace
from contextproof.conformance.snapshot import sessions
from contextproof.conformance.snapshot.files import Files, add, of_blocks
from contextproof.conformance.snapshot.sessions import Played
from contextproof.conformance.snapshot.shown import nonces_of

#: Turns whose first request is shown whatever happens in them.
_TURNS = (1, 25, 50)


def requests(played: Mapping[str, Played]) -> Files:
    """Requests of turns 1, 25 and 50, and those on both sides of every yield and compaction."""
    files = Files()
    if sessions.FIFTY_TURNS not in played:
        return files
    trace = played[sessions.FIFTY_TURNS].trace
    reasons = _reasons(trace)
    for place, sent in enumerate(trace.sent):
        if place not in reasons:
            continue
        request = sent.request
        title = f"request {request.request} of the fifty turns, in turn {request.turn}, as sent"
        about = f"epoch {request.epoch}, model {request.model}, {len(request.blocks)} blocks"
        name = f"turn-{request.turn:02}-request-{request.request:03}"
        why = f"shown as the request {' and '.join(reasons[place])}"
        add(files, name, of_blocks(title, request.blocks, nonces_of(request.blocks), about, why))
    return files


def _reasons(trace: Trace) -> dict[int, list[str]]:
    """Why a request is shown, by its place among those sent."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    turns = [sent.request.turn for sent in trace.sent]
    for turn in _TURNS:
        if turn in turns:
            found[turns.index(turn)].append(f"that turn {turn} begins with")
    if trace.sent and yielded(trace.sent[0]):
        found[0].append("after a yield")
    for place, (before, sent) in enumerate(pairwise(trace.sent)):
        for what in _between(before, sent):
            found[place].append(f"before {what}")
            found[place + 1].append(f"after {what}")
    return dict(found)


def yielded(sent: Sent) -> tuple[Yielded, ...]:
    """What newly gave way for a request."""
    answer = sent.build.answer
    return answer.yielded if isinstance(answer, Built) else ()


def _between(before: Sent, sent: Sent) -> list[str]:
    """What gave way between a request and the next."""
    happened = []
    if yielded(sent):
        happened.append("a yield")
    if sent.build.inputs.checkpoint != before.build.inputs.checkpoint:
        happened.append("a compaction")
    return happened
