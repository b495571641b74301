"""What the stdio adapter costs, as ratios: `python -m benchmarks.stdio`.

A certification's units with the reference hosted, against the same units in process: aim 2 times at
most. A message of 20 kB to a hosted builder and back, against the same message through a bare pipe whose
two ends read and write it as JSON and look at nothing: aim 3 times at most. (A process that gives back
the bytes unread is told too: to parse and write 20 kB costs far more than to send them.)

Each side of the first runs in a process of its own, so that neither finds counted what the other
counted. Processor time is taken, of all processes together, and the best tenth of the trips, so that a
busy machine gives the same ratios.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from contextproof import scenarios, strategies
from contextproof.conformance.adapters.in_process import load
from contextproof.conformance.adapters.stdio import host
from contextproof.conformance.adapters.twin import twin
from contextproof.conformance.adapters.wire import call_line
from contextproof.conformance.certification.budget import Budget, Unit
from contextproof.conformance.certification.generation import generate
from contextproof.conformance.certification.unit import play_unit
from contextproof.conformance.contract.answers import Planned
from contextproof.conformance.contract.calls import ApplyCall
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.session import CallContext, Change, ClockAdvanced, Live
from contextproof.conformance.memory import collect_rarely
from contextproof.conformance.target import Target

REFERENCE = "contextproof.reference_impl.engine:factory"
_SOURCES, _SESSIONS, _ROUNDS = ("sessions", "pressure"), 30, 2
_TRIPS, _BYTES = 1_000, 20_000
_UNREAD = "import os\nwhile data := os.read(0, 1 << 20): os.write(1, data)"
_AS_JSON = (
    "import json, sys\nfor line in sys.stdin.buffer:\n"
    "    sys.stdout.buffer.write(json.dumps(json.loads(line)).encode() + b'\\n')\n"
    "    sys.stdout.buffer.flush()"
)


class SamePlan:
    """Answers the plan that it is handed: the least that a builder can do with a message."""

    manifest = Manifest(name="same plan", version="1", claims=(), delimiters=(), codecs=(), summary_bound=0)

    def apply(self, context: CallContext, plan: Plan, change: Change, live: Live) -> Planned:  # noqa: ARG002
        """The plan as it was."""
        return Planned(plan=plan)


def main() -> None:
    """Measure both, and print them as ratios."""
    if sys.argv[1:]:
        sys.stdout.write(f"{played(hosted=sys.argv[1] == 'hosted')}\n")
        return
    certify = {kind: min(_in_a_process(kind) for _ in range(_ROUNDS)) for kind in ("in process", "hosted")}
    sys.stdout.write(
        f"certifying, {len(_SOURCES)} units: in process {certify['in process']:.1f} s, "
        f"hosted {certify['hosted']:.1f} s: {certify['hosted'] / certify['in process']:.2f} times (aim 2)\n"
    )
    hosted, as_json, unread = trips()
    ratio = hosted / as_json
    sys.stdout.write(
        f"{_BYTES:,} bytes there and back, the best tenth of {_TRIPS}: hosted {1e6 * hosted:.0f} µs, "
        f"bare pipe {1e6 * as_json:.0f} µs: {ratio:.2f} times (aim 3); unread {1e6 * unread:.0f} µs\n"
    )


def _in_a_process(kind: str) -> float:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.stdio", kind], capture_output=True, text=True, check=True
    )
    return float(ran.stdout)


def played(*, hosted: bool) -> float:
    """Seconds of processor time that the units take."""
    collect_rarely()
    budget = Budget(profile="smoke", seed=1, sessions=_SESSIONS)
    units = [Unit(name=name, kind="generated", source=name, seed=1, sessions=_SESSIONS) for name in _SOURCES]
    sessions = {unit: generate(strategies.by_key()[unit.source], unit.seed, unit.sessions) for unit in units}
    builder = host(REFERENCE) if hosted else load(REFERENCE)
    start = sum(os.times()[:4])
    with twin(Target(factory=REFERENCE)) as other:
        for unit, some in sessions.items():
            play_unit(unit, some, budget, builder, other, scenarios.corpus)
    builder.close()
    return sum(os.times()[:4]) - start


def trips() -> tuple[float, float, float]:
    """Seconds for a message there and back: to a hosted builder, over a bare pipe, and over one unread."""
    call = message(_BYTES)
    line = call_line(1, "apply", call)
    document = json.loads(line)
    builder = host("benchmarks.stdio:SamePlan")
    calls = iter([renamed(call, n) for n in range(_TRIPS)])  # or the answers would be remembered
    hosted = _best_tenth(lambda: builder.call(next(calls)))
    builder.close()
    with _piped(_AS_JSON) as process:
        as_json = _best_tenth(lambda: json.loads(_echoed(process, json.dumps(document).encode() + b"\n")))
    with _piped(_UNREAD) as process:
        unread = _best_tenth(lambda: _echoed(process, line))
    return hosted, as_json, unread


def _piped(script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )


def _echoed(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line)
    found = b""
    while len(found) < len(line):
        found += process.stdout.read(len(line) - len(found))
    return found


def message(size: int) -> ApplyCall:
    """A call of about so many bytes, with the plan of the small session in it."""
    from contextproof.conformance.play.driver import play
    from contextproof.conformance.smoke import small_session

    builder = load(REFERENCE)
    trace = play(small_session(), builder, beside=frozenset())
    sent = trace.sent[-1]
    plan, live = sent.plan, trace.inputs(sent.build).live
    call = ApplyCall(context=sent.build.context, plan=plan, change=ClockAdvanced(clock=live.clock), live=live)
    blocks = plan.blocks
    while len(call_line(1, "apply", call)) < size:
        blocks += plan.blocks[-1:]
        call = call.model_copy(update={"plan": plan.model_copy(update={"blocks": blocks})})
    return call


def renamed(call: ApplyCall, number: int) -> ApplyCall:
    """The same call of a session with another name."""
    return call.model_copy(update={"plan": call.plan.model_copy(update={"session": f"session {number}"})})


def _best_tenth(run: Callable[[], object]) -> float:
    taken: list[float] = []
    for _ in range(_TRIPS):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.quantiles(taken, n=10)[0]


if __name__ == "__main__":
    main()
