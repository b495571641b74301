"""What `contextproof certify` does: make or take up a run's folder, have it played, write it up."""

from __future__ import annotations

import secrets
import time
import tomllib
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO

from pydantic import TypeAdapter, ValidationError

from contextproof import scenarios
from contextproof.conformance.adapters.reach import reach
from contextproof.conformance.adapters.twin import twin
from contextproof.conformance.builder import Builder
from contextproof.conformance.certification.budget import GATE_SEED, SESSIONS, Budget, Profile
from contextproof.conformance.certification.folder import Folder, planned
from contextproof.conformance.certification.outcome import Outcome, counterexamples, outcome_of
from contextproof.conformance.certification.reading import BadRecord, read
from contextproof.conformance.certification.record import FILE, KnownFailure, Shard, header
from contextproof.conformance.certification.run import work
from contextproof.conformance.counterexample import Counterexample
from contextproof.conformance.progress import Progress, unheard
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.shape import explain
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import HOLDING, Verdict


class BadUsage(Exception):
    """What was asked for cannot be done; the message says what to ask for instead."""


def make_budget(
    profile: Profile,
    *,
    seed: int | None,
    nonce: str,
    examples: int | None,
    only: tuple[str, ...],
    exclude: tuple[str, ...],
) -> Budget:
    """A budget from what the command line says.

    Raises:
        BadUsage: where ``only`` or ``exclude`` match no requirement.
    """
    ids = [requirement.id for requirement in all_requirements()]
    for part in (*only, *exclude):
        if not any(identifier.startswith(part) for identifier in ids):
            raise BadUsage(f"{part!r} matches no requirement; `contextproof explain 1` lists decision 1's")
    if seed is None:
        seed = GATE_SEED if profile == "gate" else secrets.randbelow(2**31)
    sessions = SESSIONS[profile] if examples is None else examples
    return Budget(profile=profile, seed=seed, nonce=nonce, sessions=sessions, only=only, exclude=exclude)


def read_shard(text: str | None, budget: Budget, *, seeded: bool) -> Shard | None:
    """The part that ``K/N`` names, of a run whose seed all parts share.

    Raises:
        BadUsage: where it names none, or the parts would not be of one run.
    """
    if text is None:
        return None
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise BadUsage(f"--shard {text}: write K/N, with K from 1 to N")
    if not seeded:
        raise BadUsage("--shard needs the --seed that all parts share")
    if budget.profile == "soak":
        raise BadUsage("a soak is not shared out into shards: it ends by the clock")
    return Shard(number=int(number), of=int(of))


def read_known_failures(path: Path) -> dict[str, KnownFailure]:
    """Read a known-failures file: TOML with ``[[failure]]`` tables of id, reason and link.

    Raises:
        BadUsage: where it cannot be read, or an id matches nothing.
    """
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8")).get("failure", [])
        known = TypeAdapter(tuple[KnownFailure, ...]).validate_python(tuple(listed))
    except OSError as error:
        raise BadUsage(f"{path}: cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadUsage(f"{path}: not TOML: {error}") from error
    except ValidationError as error:
        raise BadUsage(f"{path}: {explain(error)}") from error
    ids = {requirement.id for requirement in all_requirements()}
    for failure in known:
        if failure.id not in ids:
            raise BadUsage(f"{path}: {failure.id!r} is no requirement")
    return {failure.id: failure for failure in known}


@dataclass(frozen=True)
class Settings:
    """What is to be measured, how much, and which part of that here."""

    builder: Target
    budget: Budget
    shard: Shard | None = None


def certify(
    settings: Settings,
    out: Path,
    *,
    workers: int,
    resume: bool,
    known: Mapping[str, KnownFailure],
    minutes: int,
    progress: Progress,
    max_failures: int | None = None,
    shrinks: bool = True,
) -> tuple[Outcome, list[tuple[Counterexample, str]]]:
    """Play a run to its end and add it up; everything it leaves behind stands in the folder ``out``.

    Raises:
        BadUsage: where the folder exists and is not to be resumed, or was made for another run.
        BuilderError, HarnessError: as `run.work`.
    """
    builder = reach(settings.builder)  # a builder that cannot be reached is told before any work
    try:
        with twin(settings.builder):
            pass  # and so is one that starts only under the circumstances of here
        folder, lock = _folder(settings, builder, out, resume=resume)
    finally:
        builder.close()
    with lock:
        return _played(folder, workers, known, minutes, progress, max_failures, shrinks=shrinks)


def _played(
    folder: Folder,
    workers: int,
    known: Mapping[str, KnownFailure],
    minutes: int,
    progress: Progress,
    max_failures: int | None,
    *,
    shrinks: bool,
) -> tuple[Outcome, list[tuple[Counterexample, str]]]:
    """Have played what is missing, and close the record."""
    if folder.run().footer is not None and not folder.missing() and folder.header.budget.profile != "soak":
        return _as_it_was(folder)
    work(folder, workers, progress, max_failures)
    started = time.monotonic()
    # A soak goes on round after round; one that is to stop at failures stops between rounds too.
    while (
        folder.header.budget.profile == "soak"
        and time.monotonic() - started < 60 * minutes
        and not folder.has_failed(max_failures)
    ):
        folder.next_round()
        work(folder, workers, progress, max_failures)
    return _finished(folder, known, progress, shrinks=shrinks)


def _finished(
    folder: Folder, known: Mapping[str, KnownFailure], progress: Progress, *, shrinks: bool
) -> tuple[Outcome, list[tuple[Counterexample, str]]]:
    """Add the run up, shrink what failed, and close the record."""
    found = outcome_of(folder.run())
    builder = reach(folder.header.builder)
    try:
        spare = frozenset(known)
        made = counterexamples(found, builder, scenarios.corpus, spare, progress) if shrinks else []
    finally:
        builder.close()
    files = folder.finish(found, made, tuple(known.values()))
    return found, [(one.counterexample, str(file)) for one, file in zip(made, files, strict=True)]


def _as_it_was(folder: Folder) -> tuple[Outcome, list[tuple[Counterexample, str]]]:
    run = folder.run()
    written = [(one.counterexample, str(folder.path / one.file)) for one in run.counterexamples]
    return outcome_of(run), written


def certify_quietly(
    target: Target, profile: Profile, seed: int | None, out: Path, progress: Progress = unheard
) -> Outcome:
    """A whole run with everything else as the command line has it, in a folder that is not there yet."""
    budget = make_budget(profile, seed=seed, nonce="", examples=None, only=(), exclude=())
    found, _ = certify(
        Settings(builder=target, budget=budget),
        out,
        workers=2,
        resume=False,
        known={},
        minutes=0,
        progress=progress,
    )
    return found


def _folder(settings: Settings, builder: Builder, out: Path, *, resume: bool) -> tuple[Folder, IO[bytes]]:
    """The folder, made or taken up again, and what must stay open while it is written to."""
    if not out.exists():
        names = tuple(unit.name for unit in planned(settings.budget))
        made = header(settings.builder, builder, settings.budget, names, settings.shard)
        return Folder.start(out, made), _held(out)
    if not resume:
        raise BadUsage(f"{out} is there already; name another folder, or take it up with --resume")
    with ExitStack() as undo:
        try:
            read(out)
            lock = undo.enter_context(_held(out))
            folder = Folder.resume(out)
        except BadRecord as error:
            raise BadUsage(f"{out} cannot be taken up again: {error}") from error
        _check_is_the_same(folder, settings, builder, out)
        undo.pop_all()
    return folder, lock


def _held(out: Path) -> IO[bytes]:
    """A lock on a run's folder, given up when it is closed or this process ends.

    Raises:
        BadUsage: where another process holds it.
    """
    lock = (out / FILE).open("rb")
    try:
        import fcntl
    except ImportError:
        return lock  # no such locks here
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise BadUsage(f"{out} is being played by another process") from None
    return lock


def _check_is_the_same(folder: Folder, settings: Settings, builder: Builder, out: Path) -> None:
    made, budget = folder.header, folder.header.budget
    if made.suite != version("contextproof"):
        raise BadUsage(f"{out} was made by contextproof {made.suite}; take it up with that")
    if not made.builder.is_same_builder(settings.builder):
        raise BadUsage(f"{out} was made for {made.builder}, not for {settings.builder}")
    if (made.manifest, made.ports) != (builder.manifest, tuple(sorted(builder.ports))):
        raise BadUsage(f"{out} was made for this builder when it declared something else; start another run")
    if (budget.profile, budget.only) != (settings.budget.profile, settings.budget.only):
        raise BadUsage(f"{out} was made with --profile {budget.profile}, seed {budget.seed}; resume it so")
    if made.shard != settings.shard:
        named = f"--shard {made.shard}" if made.shard else "no --shard"
        raise BadUsage(f"{out} was made with {named}; resume it so")


def passes(found: Outcome, known: Collection[str], *, is_part: bool = False) -> tuple[bool, list[str]]:
    """Whether the run passes with these failures known; and those that are listed but now hold.

    A part of a run, and a smoke test, are not to see everything.
    """
    holding = [r.requirement for r in found.results if r.requirement in known and r.verdict in HOLDING]
    spared = {Verdict.NOT_CLAIMED}
    if found.budget.profile == "smoke" or is_part:
        spared.add(Verdict.UNEXERCISED)  # it is short by design, and certifies nothing
    barring = [
        result
        for result in found.results
        if result.verdict not in HOLDING | spared and result.requirement not in known
    ]
    seen = any(result.verdict is Verdict.PASSED for result in found.results)
    return seen and not barring and not holding and not found.trouble, holding
