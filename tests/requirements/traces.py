"""Hand-written traces: small functions with sensible defaults, for the tests of requirements.

A test writes a log, builds over a leading part of it, and changes the one thing it is about:

    log = (t.user("u1"), t.assistant("a1"), t.user("u2"))
    first, second = t.sent(log[:1], request=1), t.sent(log, request=2)
    trace = t.trace(log, [t.opened(), *first, *second])

`t.build` assembles a well-formed request from its inputs in the record's order; pass ``change``, a
function from its blocks to other blocks, for a faulty one, or ``answer`` for a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract import items as i
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.plan import Calibration, Plan
from contextproof.conformance.contract.request import (
    Block,
    Request,
    Yielded,
    prefix_sha256,
)
from contextproof.conformance.contract.session import (
    CallContext,
    Change,
    Live,
    ModelSpec,
    Opening,
)
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Slot, TokenClass
from contextproof.conformance.contract.working_state import WorkingState
from contextproof.conformance.play import trace as tr
from requirements import toy_blocks as b
from requirements.toy_items import (
    STATE_TOOL,
    TOOL,
    assistant,
    call,
    correction,
    environment,
    gave_way,
    memory,
    recall,
    result,
    user,
)
from requirements.toy_plans import by_class, context, estimate, live, model, opening, plan, prefix

__all__ = [
    "STATE_TOOL",
    "TOOL",
    "TokenClass",
    "applied",
    "assistant",
    "body",
    "build",
    "by_class",
    "call",
    "context",
    "correction",
    "environment",
    "estimate",
    "gave_way",
    "inputs",
    "live",
    "make_request",
    "memory",
    "model",
    "opened",
    "opening",
    "plan",
    "prefix",
    "recall",
    "result",
    "send",
    "sent",
    "trace",
    "user",
]


# Requests --------------------------------------------------------------------------------------


def inputs(log: Sequence[i.LogItem] = (), **more: object) -> tr.RecordedInputs:
    """Recorded inputs over a leading part of the trace's log, otherwise empty."""
    fields: dict[str, object] = {
        "log_length": len(log),
        "checkpoint": None,
        "working_state": WorkingState(),
        "corrections": (),
        "recall": (),
        "environment": (),
        "calibration": Calibration(),
        "yielded": (),
        "live": live(),
        **more,
    }
    return tr.RecordedInputs.model_validate(fields)


def body(log: Sequence[i.LogItem], given: tr.RecordedInputs, secret: str = b.SECRET) -> tuple[Block, ...]:
    """Region B in the record's order; what the inputs list as yielded is a pointer or left out."""
    gone = {entry.item_id for entry in given.yielded}
    checkpoint = given.checkpoint
    before = (
        ()
        if checkpoint is None
        else (
            b.summary(checkpoint, secret=secret),
            *(b.elided(checkpoint, span, secret=secret) for span in checkpoint.pointers),
        )
    )
    messages = _messages(log, given, gone, secret)
    latest = {item.memory_id: item for item in given.corrections}
    return (
        *before,
        *(block for block in messages if block.slot is Slot.HISTORY),
        *(block for block in messages if block.slot is Slot.ACTIVE),
        *(b.block(item, secret=secret) for item in latest.values()),
        *([b.state(given.working_state, secret=secret)] if any(given.working_state.entries()) else []),
        *(b.block(item, secret=secret) for item in given.recall if item.id not in gone),
        *(b.block(item, secret=secret) for item in given.environment),
        *(block for block in messages if block.slot is Slot.CURRENT),
    )


def _messages(log: Sequence[i.LogItem], given: tr.RecordedInputs, gone: set[str], secret: str) -> list[Block]:
    users = [place for place, item in enumerate(log) if isinstance(item, i.UserMessage)]
    current = users[-1] if users else len(log)
    covers = given.checkpoint.covers if given.checkpoint else 0
    passed_over = given.checkpoint.passed_over if given.checkpoint else ()
    blocks = []
    for place, item in enumerate(log):
        if not isinstance(item, i.Message) or (place < covers and item.id not in passed_over):
            continue
        slot = Slot.HISTORY if place < current else Slot.CURRENT if place == current else Slot.ACTIVE
        if isinstance(item, i.ToolResult) and item.id in gone:
            blocks.append(b.truncated(item, slot=slot, secret=secret))
        else:
            blocks.append(b.block(item, slot=slot, secret=secret))
    return blocks


def make_request(at: CallContext, blocks: Iterable[Block], **changes: object) -> Request:
    """A request of these blocks, prefix included; hash and estimate are true unless changed."""
    whole = tuple(blocks)
    made = Request(
        session=at.session,
        epoch=at.epoch,
        turn=at.turn,
        request=at.request,
        model=at.model.name,
        blocks=whole,
        prefix_sha256=prefix_sha256(whole),
        estimate=estimate(at.model, whole),
    )
    return made.model_copy(update=changes)


# Records ---------------------------------------------------------------------------------------


def opened(
    of: Opening | None = None, *, purpose: str = "main", answer: a.Planned | a.Refused | None = None
) -> tr.OpenRecord:
    """An opening and its answer: its plan, unless another answer is given."""
    whole = of or opening()
    return tr.OpenRecord.model_validate(
        {
            "context": context(turn=0, of=whole.model),
            "step": -1,
            "purpose": purpose,
            "opening": whole,
            "answer": answer or a.Planned(plan=plan(whole)),
        }
    )


def applied(
    change: Change,
    answer: a.Planned | a.Refused,
    *,
    before: int = 0,
    now: Live | None = None,
    turn: int = 1,
    of: ModelSpec | None = None,
) -> tr.ApplyRecord:
    """A change the engine was told of; ``before`` and ``of`` are the plan and model then in force."""
    return tr.ApplyRecord(
        context=context(turn=turn, of=of),
        step=0,
        plan=before,
        change=change,
        live=now or live(),
        answer=answer,
    )


def build(
    log: Sequence[i.LogItem],
    *,
    of: Plan | None = None,
    index: int = 0,
    purpose: str = "main",
    turn: int = 1,
    request: int = 1,
    step: int = 0,
    change: Callable[[tuple[Block, ...]], Iterable[Block]] | None = None,
    newly: tuple[Yielded, ...] = (),
    answer: a.BuildAnswer | None = None,
    request_changes: dict[str, object] | None = None,
    events: tuple[object, ...] = (),
    inputs_unchanged: bool = True,
    **given: Any,
) -> tr.BuildRecord:
    """A build over ``log`` under plan ``of`` (at ``index`` of the trace's plans).

    Its request is assembled from the inputs ``given`` with what is ``newly`` yielded given up;
    ``change`` then alters all its blocks, prefix included (hash and estimate follow them).
    """
    in_force = of or plan()
    at = context(turn=turn, request=request, epoch=in_force.epoch, of=in_force.opening.model)
    recorded = inputs(log, **given)
    if answer is None:
        after = recorded.model_copy(update={"yielded": recorded.yielded + newly})
        secret = in_force.opening.platform_secret
        blocks = (*in_force.blocks, *body((*log, *recorded.probed), after, secret))
        if change is not None:
            blocks = tuple(change(blocks))
        answer = a.Built.model_validate(
            {
                "request": make_request(at, blocks, **(request_changes or {})),
                "yielded": newly,
                "events": events,
            }
        )
    return tr.BuildRecord.model_validate(
        {
            "context": at,
            "step": step,
            "purpose": purpose,
            "plan": index,
            "inputs": recorded,
            "answer": answer,
            "inputs_unchanged": inputs_unchanged,
        }
    )


def send(of: tr.BuildRecord, *, delivered: bool = True, extra: int = 0) -> tr.SendRecord:
    """The sending of a build's request; usage is the count plus ``extra`` tokens."""
    assert isinstance(of.answer, a.Built)
    spec = of.context.model
    counted = sum(
        count(spec.tokenizer, block.text) + spec.overhead_per_block for block in of.answer.request.blocks
    )
    return tr.SendRecord(
        context=of.context,
        step=of.step,
        delivered=delivered,
        count=counted,
        usage=counted + extra if delivered else None,
    )


def sent(log: Sequence[i.LogItem], **how: Any) -> tuple[tr.BuildRecord, tr.SendRecord]:
    """A main build and its delivery; keywords as `build` takes them."""
    made = build(log, **how)
    return made, send(made)


def trace(
    log: Sequence[i.LogItem],
    records: Iterable[object],
    *,
    plans: Sequence[Plan] | None = None,
    scenario: str = "hand-written",
    manifest: Manifest = b.MANIFEST,
    ended: str = "closed",
) -> tr.Trace:
    """A trace of these records; its one plan is the default opening's unless given."""
    return tr.Trace.model_validate(
        {
            "scenario": scenario,
            "manifest": manifest,
            "ports": ("open_session", "apply", "build", "validate", "compact", "estimate"),
            "log": tuple(log),
            "plans": tuple(plans) if plans is not None else (plan(),),
            "records": tuple(records),
            "ended": ended,
        }
    )
