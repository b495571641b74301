"""Taking snapshots: play the sessions against a builder, and show what came of them."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import NamedTuple

from rich.console import Console

from contextproof import scenarios
from contextproof.conformance.adapters.reach import reach
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.vocabulary import Decision
from contextproof.conformance.gate import GateRun, run_gate
from contextproof.conformance.progress import Progress, unheard
from contextproof.conformance.report.gate import print_gate
from contextproof.conformance.snapshot import answers, blocks, requests, sessions
from contextproof.conformance.snapshot.facts import Facts, measure
from contextproof.conformance.snapshot.files import Files, Snapshot, of_lines, of_value
from contextproof.conformance.snapshot.sessions import Played, play_all
from contextproof.conformance.snapshot.shown import escaped
from contextproof.conformance.target import Target

#: How wide the terminal is that the gate's output is shown on.
_COLUMNS = 100
#: What stands for the builder's name on a command line, which is not what is compared.
_NAMED = Target(factory="the builder")

ABOUT = "00-about.txt"


class Section(NamedTuple):
    """A folder of snapshots: what is in it, what makes them, and the decisions that bring them about."""

    folder: str
    what: str
    make: Callable[[Mapping[str, Played]], Files]
    decisions: tuple[Decision, ...]


_D = Decision
SECTIONS = (
    Section("10-envelopes", "items at each trust", blocks.envelopes, ()),
    Section("20-hostile", "hostile contents", blocks.hostile, ()),
    Section("30-pointers", "pointers", blocks.pointers, (_D.YIELD_ORDER, _D.COMPACTION)),
    Section("40-checkpoint", "checkpoints", blocks.checkpoints, (_D.COMPACTION,)),
    Section("50-working-state", "working state", blocks.working_state, (_D.WORKING_STATE,)),
    Section("60-requests", "whole requests", requests.requests, ()),
    Section("70-answers", "refusals", answers.answers, (_D.PREFIX_NEVER_YIELDS, _D.ATOMIC_PAIRS)),
)
GATE = "80-gate"
FOLDERS = (*(section.folder for section in SECTIONS), GATE)


class Captured(NamedTuple):
    """A set of snapshots: the files, what was measured, and what could not be shown and why."""

    files: Files
    facts: Facts
    absent: tuple[str, ...]


def capture(
    target: Target,
    names: tuple[str, ...] = sessions.ALL,
    *,
    with_gate: bool = True,
    progress: Progress = unheard,
) -> Captured:
    """Take the snapshots of a builder. Fewer sessions than all of them are for tests.

    Raises:
        BuilderError: where it cannot be reached, crashes, or answers outside the contract.
    """
    builder = reach(target)
    try:
        played, manifest = play_all(builder, names, progress), builder.manifest
    finally:
        builder.close()
    made = {section: section.make(played) for section in SECTIONS}
    absent = tuple(_absence(manifest, section) for section in SECTIONS if not made[section])
    files = {ABOUT: _about(manifest, absent)}
    for section in SECTIONS:
        files |= {f"{section.folder}/{name}": shown for name, shown in made[section].items()}
    if with_gate:
        files |= _gate(target, tuple(name for name in names if name != sessions.FIFTY_TURNS), progress)
    return Captured(dict(sorted(files.items())), measure(manifest, played), absent)


def _absence(manifest: Manifest, section: Section) -> str:
    """Why a section has nothing to show."""
    lacking = [decision.value for decision in section.decisions if decision not in manifest.claims]
    why = f"; it does not claim {', '.join(lacking)}" if lacking else ""
    return f"{section.folder}: the builder showed no {section.what} in these sessions{why}"


def _about(manifest: Manifest, absent: tuple[str, ...]) -> Snapshot:
    declared = manifest.model_dump(mode="json", exclude={"codecs"})
    codecs: dict[str, object] = {}
    for codec, entries in groupby(manifest.codecs, key=lambda entry: entry.codec):
        codecs[", ".join(entry.type for entry in entries)] = codec.model_dump(mode="json")
    told = {"codecs": codecs, "not shown": list(absent)}
    return of_value("what the builder declares", declared | told)


def _gate(target: Target, names: tuple[str, ...], progress: Progress) -> Files:
    """What `gate` prints over the short sessions, on a terminal and into a file."""
    chosen = [scenarios.load(name) for name in names]
    run = run_gate(target, chosen, scenarios.corpus, twins=frozenset(), progress=progress)
    run = run.model_copy(update={"builder": _NAMED})
    kinds = {"terminal": True, "plain": False}
    return {f"{GATE}/{kind}.txt": _printed(run, kind, terminal=is_one) for kind, is_one in kinds.items()}


def _printed(run: GateRun, kind: str, *, terminal: bool) -> Snapshot:
    out = io.StringIO()
    console = Console(
        file=out, force_terminal=terminal, color_system=None, width=_COLUMNS, legacy_windows=False
    )
    print_gate(run, console)
    printed = out.getvalue()
    lines = (escaped(line.rstrip()) for line in printed.rstrip("\n").split("\n"))
    return of_lines(f"what gate prints of the short sessions shown here, {kind}", lines, printed)
