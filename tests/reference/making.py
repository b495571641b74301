"""Openings, logs and calls for tests of the reference engine, each with sensible defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from contextproof.conformance.contract.answers import (
    BuildAnswer,
    Built,
    CompactAnswer,
    Planned,
)
from contextproof.conformance.contract.items import (
    WORKING_STATE_TOOL,
    AssistantMessage,
    LogItem,
    PlatformPolicy,
    ResultStatus,
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.ports import Summary, SummaryPart
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import CallContext, Live, ModelSpec, Opening
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.reference_impl.engine import ReferenceEngine

ENGINE = ReferenceEngine()
SECRET = "a secret of the platform's own"
MODEL = ModelSpec(
    name="model-a",
    tokenizer="o200k_base",
    window=1_000_000,
    output_reserve=4_000,
    overhead_per_block=4,
)
LIVE = Live(clock="2026-03-27T09:00:00+01:00", ids=("fresh-1", "fresh-2"))

Answer = TypeVar("Answer")


def words(tokens: int) -> str:
    """A text of exactly so many tokens by either tokenizer."""
    return "a" + " a" * (tokens - 1) if tokens else ""


def tool(name: str = "search", *, item_id: str | None = None, **fields: Any) -> ToolDefinition:
    """A tool definition."""
    defaults = {"description": f"What {name} does.", "parameters_json": "{}", "source": "builtin"}
    return ToolDefinition(id=item_id or f"tool:{name}", name=name, **{**defaults, **fields})


def opening(*, model: ModelSpec = MODEL, **fields: Any) -> Opening:
    """An opening with one line of policy, two tools, and every tool permitted."""
    tools = fields.pop("tools", (tool("search"), tool(WORKING_STATE_TOOL)))
    defaults = {
        "platform_secret": SECRET,
        "policy": (PlatformPolicy(id="policy", text="Be careful."),),
        "tools": tools,
        "permissions": tuple(definition.name for definition in tools),
    }
    return Opening(model=model, **{**defaults, **fields})


def context(model: ModelSpec = MODEL, *, epoch: int = 1, turn: int = 1, request: int = 1) -> CallContext:
    """Where a call is made."""
    return CallContext(session="session", epoch=epoch, turn=turn, request=request, model=model)


def planned(opened: Opening | None = None) -> Plan:
    """The plan of a session that opens."""
    opened = opened or opening()
    answer = ENGINE.open_session(context(opened.model), opened)
    return expect(Planned, answer).plan


def plan_with_body(body: int, opened: Opening | None = None) -> Plan:
    """The plan of a session whose body has so many tokens."""
    opened = opened or opening()
    reserve = opened.model.output_reserve
    window = reserve + planned(opened).prefix_tokens + body
    model = opened.model.model_copy(update={"window": window})
    return planned(opened.model_copy(update={"model": model}))


def expect(kind: type[Answer], answer: object) -> Answer:
    """An answer of the kind expected."""
    assert isinstance(answer, kind), f"answered {getattr(answer, 'answer', answer)}"
    return answer


def user(item_id: str, text: str = "Please go on.", **fields: Any) -> UserMessage:
    """A user message."""
    return UserMessage(id=item_id, text=text, **fields)


def assistant(item_id: str, text: str = "Here it is.", **fields: Any) -> AssistantMessage:
    """An assistant message."""
    return AssistantMessage(id=item_id, text=text, **fields)


def call(item_id: str, message_id: str, **fields: Any) -> ToolCall:
    """A call of the search tool; its call id is the item's unless given."""
    defaults = {"call_id": item_id, "name": "search", "arguments": "{}"}
    return ToolCall(id=item_id, message_id=message_id, **{**defaults, **fields})


def result(item_id: str, call_id: str, text: str = "Found it.", **fields: Any) -> ToolResult:
    """An untrusted result of status ok."""
    defaults: dict[str, Any] = {"status": ResultStatus.OK, "source": "web"}
    return ToolResult(id=item_id, call_id=call_id, text=text, **{**defaults, **fields})


def exchange(name: str, *texts: str, trust: Trust | None = None) -> tuple[LogItem, ...]:
    """An assistant message with a call and its result for each text."""
    calls = [call(f"{name}-c{n}", f"{name}-a") for n in range(len(texts))]
    results = [result(f"{name}-r{n}", f"{name}-c{n}", text, trust=trust) for n, text in enumerate(texts)]
    return (assistant(f"{name}-a", ""), *calls, *results)


def inputs(log: Sequence[LogItem], **fields: Any) -> BuildInputs:
    """What a build is handed."""
    return BuildInputs(log=tuple(log), **{"live": LIVE, **fields})


def build(plan: Plan, given: BuildInputs) -> BuildAnswer:
    """The engine's answer."""
    return ENGINE.build(context(plan.opening.model, epoch=plan.epoch), plan, given)


def built(plan: Plan, log: Sequence[LogItem], **fields: Any) -> Built:
    """The request that is built."""
    return expect(Built, build(plan, inputs(log, **fields)))


def compact(plan: Plan, given: BuildInputs, summarizer: Summarizer) -> CompactAnswer:
    """The engine's answer."""
    place = context(plan.opening.model, epoch=plan.epoch)
    return ENGINE.compact(place, plan, given, summarizer)


def pointers(blocks: Sequence[Block]) -> list[str | None]:
    """Ids of the items that blocks are pointers for."""
    return [block.item_id for block in blocks if block.pointer is not None]


class Summarizer:
    """Answers with the same summary each time, and notes what it was given."""

    def __init__(self, text: str = "They talked.", *, complete: bool = True) -> None:
        self.summary = Summary(text=text, complete=complete)
        self.calls: list[tuple[tuple[SummaryPart, ...], int]] = []

    def __call__(self, parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
        """Summarize."""
        self.calls.append((tuple(parts), max_tokens))
        return self.summary

    @property
    def given(self) -> str:
        """All text it was ever given."""
        return "\n".join(part.text for parts, _ in self.calls for part in parts)
