"""What a turn costs an engine after 50, 500 and 5,000 turns: `python benchmarks/turns.py`.

A turn is a user message, two tool calls with results and an answer: three requests and one carry,
with working state, a correction and environment beside them. The window is large enough that nothing
ever yields, so that requests grow with the session. What a turn costs should follow what it added, up
to joining the request.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Iterator

from contextproof.conformance.contract.answers import Built, Planned
from contextproof.conformance.contract.items import (
    AssistantMessage,
    EnvironmentItem,
    LogItem,
    MemoryCorrection,
    PlatformPolicy,
    ResultStatus,
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.session import CallContext, Live, ModelSpec, Opening
from contextproof.conformance.contract.working_state import Fact, WorkingState
from contextproof.reference_impl.engine import ReferenceEngine

_SESSIONS = (50, 500, 5_000)
#: Turns at the end of a session whose median is told.
_TOLD = 30
_REQUESTS = 3
_TOOLS = 10
_FACTS = 20

MODEL = ModelSpec(
    name="model",
    tokenizer="o200k_base",
    window=100_000_000,
    output_reserve=4_000,
    overhead_per_block=4,
)
OPENING = Opening(
    platform_secret="a secret of the platform's own",
    model=MODEL,
    policy=(PlatformPolicy(id="policy", text="Do no harm, and say what you did. " * 20),),
    tools=tuple(
        ToolDefinition(
            id=f"tool:{n}",
            name=f"read_{n}",
            description="Reads a page and says what it found there.",
            parameters_json='{"type":"object"}',
            source="builtin",
        )
        for n in range(_TOOLS)
    ),
    permissions=tuple(f"read_{n}" for n in range(_TOOLS)),
)
BESIDE = BuildInputs(
    log=(),
    working_state=WorkingState(
        established_facts=tuple(Fact(id=f"f{n}", text=f"Page {n} was read.") for n in range(_FACTS))
    ),
    corrections=(MemoryCorrection(id="k", memory_id="m", text="The report is due on Friday."),),
    environment=(EnvironmentItem(id="e", text="It is Thursday."),),
    live=Live(clock="2026-03-27T09:00:00+01:00", ids=("fresh",)),
)


def main() -> None:
    """Measure and print, each length against the shortest."""
    gc.disable()  # as timeit does: collections cost whoever holds the most, which is this script
    engine = ReferenceEngine()
    first = 0.0
    for turns in _SESSIONS:
        milliseconds, blocks = cost_of_a_turn(engine, turns)
        first = first or milliseconds
        sys.stdout.write(
            f"after {turns:5,} turns: {milliseconds:7.2f} ms a turn, {milliseconds / first:4.1f} times"
            f" the first; its last request has {blocks:6,} blocks\n"
        )


def cost_of_a_turn(engine: ReferenceEngine, turns: int) -> tuple[float, int]:
    """Median engine time of the last turns of a session, in ms, and blocks of its last request."""
    opened = engine.open_session(context(0), OPENING)
    assert isinstance(opened, Planned)
    taken: list[float] = []
    log: tuple[LogItem, ...] = ()
    blocks = 0
    for turn in range(1, turns + 1):
        spent = 0.0
        for added in requests_of(turn):
            log += added
            # Copied, since validating a long log again is the caller's cost and not the engine's.
            inputs = BESIDE.model_copy(update={"log": log})
            start = time.perf_counter()
            blocks = ask(engine, opened.plan, turn, inputs)
            spent += time.perf_counter() - start
        taken.append(spent)
    return 1_000 * statistics.median(taken[-_TOLD:]), blocks


def ask(engine: ReferenceEngine, plan: Plan, turn: int, inputs: BuildInputs) -> int:
    """What a main loop asks of an engine for one request; returns its number of blocks."""
    if isinstance(inputs.log[-1], UserMessage):
        engine.carry(context(turn), inputs.log)
    built = engine.build(context(turn), plan, inputs)
    assert isinstance(built, Built)
    return len(built.request.blocks)


def requests_of(turn: int) -> Iterator[tuple[LogItem, ...]]:
    """What the log gains before each request of a turn; the answer before comes with the next."""
    answer = AssistantMessage(id=f"a{turn}", text=f"Both pages of day {turn} say the same.")
    yield answer, UserMessage(id=f"u{turn}", text=f"What do the pages of day {turn} say?")
    for n in range(1, _REQUESTS):
        name = f"{turn}-{n}"
        yield (
            AssistantMessage(id=f"a{name}", text=""),
            ToolCall(
                id=f"c{name}",
                message_id=f"a{name}",
                call_id=f"call_{n}",
                name="read_1",
                arguments=f'{{"page": {turn}}}',
            ),
            ToolResult(
                id=f"r{name}",
                call_id=f"call_{n}",
                status=ResultStatus.OK,
                text=f"Line of page {name}. " * 60,
                source="web",
            ),
        )


def context(turn: int) -> CallContext:
    """Where a call is made."""
    return CallContext(session="session", epoch=1, turn=turn, request=1, model=MODEL)


if __name__ == "__main__":
    main()
