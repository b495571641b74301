"""The verdict algebra: from judgements to a verdict a requirement, and from verdicts to a whole.

Merging takes the worst. Nothing that was not seen ever counts as a pass: no judgement at all is
``unexercised``, and so is the merge of nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.evidence import Evidence, Found, Ledger
from contextproof.conformance.requirements.registry import SHOULD, Requirement


class Verdict(StrEnum):
    """What can be said of a requirement, worst first."""

    HARNESS_ERROR = "harness error"
    FAILED = "failed"
    BUILDER_ERROR = "builder error"
    UNEXERCISED = "unexercised"
    WARNED = "warned"
    PASSED = "passed"
    HELD_BY_TRANSPORT = "held by transport"
    NOT_REACHABLE = "not reachable"
    NOT_CLAIMED = "not claimed"

    @property
    def badness(self) -> int:
        """Larger is worse."""
        return _BADNESS[self]


_BADNESS = {verdict: len(Verdict) - n for n, verdict in enumerate(Verdict)}

#: What a builder that is reached over a pipe cannot violate: it has only a copy of what it is handed.
HELD_OVER_A_PIPE = frozenset({"CTX-10.2"})

#: Verdicts that do not bar a gate. ``not claimed`` does: a gate holds only if all of it is claimed.
HOLDING = frozenset({Verdict.WARNED, Verdict.PASSED, Verdict.HELD_BY_TRANSPORT, Verdict.NOT_REACHABLE})


def merge(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts; of none, ``unexercised``."""
    return max(verdicts, key=lambda verdict: verdict.badness, default=Verdict.UNEXERCISED)


def holds(verdicts: Sequence[Verdict]) -> bool:
    """Whether a gate of these verdicts holds: something passed, and nothing bars it."""
    shown = {Verdict.PASSED, Verdict.HELD_BY_TRANSPORT}
    return all(v in HOLDING for v in verdicts) and any(v in shown for v in verdicts)


class ExitCode:
    """What a command's exit status says."""

    CONFORMING = 0
    NOT_CONFORMING = 1
    BUILDER_OR_USAGE_ERROR = 2
    HARNESS_ERROR = 3


class Result(Frozen):
    """One requirement's verdict with its evidence.

    ``found`` is a violation, if any; ``note`` says why there is no evidence, where there is none.
    """

    requirement: str
    verdict: Verdict
    evidence: Evidence
    found: Found | None = None
    note: str = ""


def decide(
    requirement: Requirement,
    ledger: Ledger,
    manifest: Manifest,
    ports: frozenset[str],
    *,
    least_sessions: int = 1,
    every_witness: bool = False,
    over_pipe: bool = False,
) -> Result:
    """The verdict on one requirement.

    Args:
        requirement: what is decided on.
        ledger: what was judged.
        manifest: what the builder claims.
        ports: the calls it answers.
        least_sessions: how many sessions must have put it to the test, for it to pass.
        every_witness: whether each of its witnesses must have been seen, for it to pass.
        over_pipe: whether the builder was reached over a pipe.
    """
    seen = ledger.evidence.get(requirement.id, Evidence(requirement=requirement.id))
    counts = dict(seen.witnesses)
    named = tuple((witness, counts.get(witness, 0)) for witness in requirement.witnesses)
    evidence = seen.model_copy(update={"witnesses": named})
    found = ledger.found.get(requirement.id)
    verdict, note = _verdict(requirement, evidence, manifest, ports)
    something = any(other.judgements for other in ledger.evidence.values())
    only_optional = set(requirement.witnesses) == set(requirement.optional)
    if verdict is Verdict.UNEXERCISED and only_optional and something:
        verdict = Verdict.NOT_REACHABLE
        note = "never brought about, as an engine may have it"
    if verdict is Verdict.PASSED:
        missing = [witness for witness, times in named if not times] if every_witness else []
        if set(missing) - set(requirement.optional):
            verdict, note = Verdict.UNEXERCISED, f"never seen: {', '.join(missing)}"
        elif missing:
            verdict = Verdict.NOT_REACHABLE
            note = f"never seen, as an engine may have it: {', '.join(missing)}"
        if verdict in HOLDING and seen.sessions < least_sessions:
            verdict = Verdict.UNEXERCISED
            note = f"put to the test by {seen.sessions} sessions, fewer than {least_sessions}"
    if verdict is Verdict.PASSED and over_pipe and requirement.id in HELD_OVER_A_PIPE:
        verdict, note = Verdict.HELD_BY_TRANSPORT, "a builder reached over a pipe has only copies"
    return Result(requirement=requirement.id, verdict=verdict, evidence=evidence, found=found, note=note)


def _verdict(
    requirement: Requirement, evidence: Evidence, manifest: Manifest, ports: frozenset[str]
) -> tuple[Verdict, str]:
    if requirement.decision not in manifest.claims:
        return Verdict.NOT_CLAIMED, f"the manifest does not claim {requirement.decision}"
    missing = [port for port in requirement.ports if port not in ports]
    if missing:
        note = f"the manifest claims {requirement.decision}, and `{missing[0]}` is not there"
        return Verdict.FAILED, note
    if not evidence.judgements:
        return Verdict.UNEXERCISED, "no session brought it about"
    if not evidence.violations:
        return Verdict.PASSED, ""
    return (Verdict.WARNED if requirement.level is SHOULD else Verdict.FAILED), ""
