"""What it costs to build the last request of the fifty-turn session again: `python benchmarks/rebuild.py`.

Warm, the session was played just before and only the attempt number is new, as after a failed send.
Anew, the engine has seen nothing of the session: it indexes the whole log, renders every item and
counts every block. The aim is 2 ms warm, median.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from contextproof import scenarios
from contextproof.conformance.adapters.in_process import InProcess
from contextproof.conformance.contract.plan import BuildInputs
from contextproof.conformance.play.driver import play
from contextproof.conformance.play.trace import Sent
from contextproof.reference_impl.engine import ReferenceEngine

_ROUNDS = 200
_ROUNDS_ANEW = 10
_AIM_MS = 2.0


def main() -> None:
    """Play, measure, and print."""
    engine = ReferenceEngine()
    builder = InProcess(engine)
    fifty = scenarios.load(scenarios.FIRST)
    trace = play(fifty, builder, corpus=scenarios.corpus, beside=frozenset())
    last = trace.sent[-1]
    inputs = trace.inputs(last.build)
    retries = [retried(inputs, n) for n in range(_ROUNDS)]
    warm = median_ms(_ROUNDS, lambda n: rebuild(engine, last, retries[n]))
    strange = [elsewhere(last, n) for n in range(_ROUNDS_ANEW)]
    anew = median_ms(_ROUNDS_ANEW, lambda n: rebuild(engine, strange[n], inputs))
    sys.stdout.write(
        f"last request of {fifty.name}: {len(last.request.blocks)} blocks,"
        f" {last.send.count:,} tokens, a log of {len(trace.log):,} entries\n"
        f"rebuilt warm   {warm:8.3f} ms median of {_ROUNDS} (aim {_AIM_MS} ms)\n"
        f"built anew     {anew:8.3f} ms median of {_ROUNDS_ANEW}, {anew / warm:.0f} times as much\n"
    )


def rebuild(engine: ReferenceEngine, sent: Sent, inputs: BuildInputs) -> None:
    """Build once more."""
    answer = engine.build(sent.build.context, sent.plan, inputs)
    assert answer.answer == "built", answer.answer


def retried(inputs: BuildInputs, n: int) -> BuildInputs:
    """Inputs with another attempt number, so that no whole answer can be remembered."""
    return inputs.model_copy(update={"live": inputs.live.model_copy(update={"attempt": n + 2})})


def elsewhere(sent: Sent, n: int) -> Sent:
    """The same request in a session under another platform secret: nothing rendered is known."""
    opening = sent.plan.opening.model_copy(update={"platform_secret": f"another secret, number {n}"})
    return sent._replace(plan=sent.plan.model_copy(update={"opening": opening}))


def median_ms(rounds: int, run: Callable[[int], None]) -> float:
    """Median time of some rounds, in milliseconds."""
    taken: list[float] = []
    for n in range(rounds):
        start = time.perf_counter()
        run(n)
        taken.append(time.perf_counter() - start)
    return 1_000 * statistics.median(taken)


if __name__ == "__main__":
    main()
