"""Asking a builder to open the session, and comparing what it plans with what is measured here."""

from __future__ import annotations

from collections import Counter

from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.base import MAX_INTEGER, Frozen
from contextproof.conformance.contract.calls import OpenSessionCall
from contextproof.conformance.contract.measures import Measure
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import CallContext, ModelSpec, Opening
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import CLASS_OF_PLACE, FRAMING, TokenClass, place_of
from contextproof.conformance.preflight.measuring import Answer, Measured, Sent, measure

#: A window in which every prefix within its caps has room.
_ROOMY_WINDOW = 16_000_000
_SESSION = "preflight"


class Asked(Frozen):
    """What a builder answered.

    Attributes:
        name: the builder's name and version.
        answered: its answer, in words.
        opens: whether it opened the session.
        by_class: what its prefix takes as sent, counted here; empty where it never showed one.
        differences: where its answer and what is measured here disagree.
    """

    name: str
    answered: str
    opens: bool
    by_class: dict[TokenClass, int]
    differences: tuple[str, ...] = ()


def ask(builder: Builder, opening: Opening) -> tuple[Measured, Asked]:
    """Measure an opening as this builder would send it.

    Raises:
        BuilderError: where the builder opens no sessions, or fails to answer.
    """
    if "open_session" not in builder.ports:
        raise BuilderError("it does not answer `open_session`, so it cannot be asked for its plan")
    answer = _opened(builder, opening)
    plan = answer.plan if isinstance(answer, a.Planned) else _roomy_plan(builder, opening)
    sent = None if plan is None else _sent(opening.model, plan)
    framing = None if plan is None else _framing(opening.model, plan)
    measured = measure(opening, sent, framing)
    manifest = builder.manifest
    return measured, Asked(
        name=f"{manifest.name} {manifest.version}",
        answered=_told(answer),
        opens=isinstance(answer, a.Planned),
        by_class=dict(sent or {}),
        differences=_differences(measured, answer),
    )


def _opened(builder: Builder, opening: Opening) -> a.PlanAnswer:
    context = CallContext(session=_SESSION, epoch=1, turn=0, request=0, model=opening.model)
    answer: a.PlanAnswer = builder.call(OpenSessionCall(context=context, opening=opening))
    return answer


def _roomy_plan(builder: Builder, opening: Opening) -> Plan | None:
    """Its plan of the same opening with room for everything; None where room is not what it lacks."""
    window = min(MAX_INTEGER, opening.model.output_reserve + _ROOMY_WINDOW)
    model = opening.model.model_copy(update={"window": window})
    answer = _opened(builder, opening.model_copy(update={"model": model}))
    return answer.plan if isinstance(answer, a.Planned) else None


def _sent(model: ModelSpec, plan: Plan) -> Sent:
    tokens: Counter[TokenClass] = Counter()
    for block in plan.blocks:
        tokens[_class_of(block)] += count(model.tokenizer, block.text) + model.overhead_per_block
    return tokens


def _class_of(block: Block) -> TokenClass:
    try:
        return CLASS_OF_PLACE[place_of(block.type, block.slot)]
    except ValueError:
        raise BuilderError(
            f"its plan has a block of the type {block.type!r}, which nothing declares"
        ) from None


def _framing(model: ModelSpec, plan: Plan) -> int:
    return sum(count(model.tokenizer, block.text) for block in plan.blocks if block.type == FRAMING)


def _told(answer: a.PlanAnswer) -> str:
    if isinstance(answer, a.Planned):
        return f"it opens, with a prefix of {answer.plan.prefix_tokens:,} tokens"
    named = Measure(answer.token_class, answer.measured, answer.cap, answer.unit)
    return f"it refuses, naming {named}"


def _differences(measured: Measured, answer: a.PlanAnswer) -> tuple[str, ...]:
    told = []
    opens = isinstance(answer, a.Planned)
    if opens and measured.answer is Answer.REFUSED:
        told.append("it opens what is over a bound (contextproof explain CTX-07)")
    if not opens and measured.answer is not Answer.REFUSED:
        told.append("it refuses what is within every bound (contextproof explain CTX-07.6)")
    sent = measured.prefix.sent
    if isinstance(answer, a.Planned) and answer.plan.prefix_tokens != sent:
        told.append(f"its plan's prefix counts {sent:,} tokens here (contextproof explain CTX-11.1)")
    return tuple(told)
