"""What `contextproof certify` does: make or take up a run's folder, have it played, write it up."""

from __future__ import annotations

import secrets
import time
import tomllib
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from contextproof import scenarios
from contextproof.conformance.adapters.reach import reach
from contextproof.conformance.adapters.twin import twin
from contextproof.conformance.certification.budget import GATE_SEED, SESSIONS, Budget, Profile
from contextproof.conformance.certification.outcome import Outcome, counterexamples, outcome
from contextproof.conformance.certification.run import Folder, Settings, work
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.counterexample import Counterexample
from contextproof.conformance.progress import Progress, unheard
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.shape import explain
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import HOLDING, Verdict


class BadUsage(Exception):
    """What was asked for cannot be done; the message says what to ask for instead."""


class KnownFailure(Frozen):
    """A failure that is known, and does not fail the run meanwhile."""

    id: str
    reason: str = Field(min_length=1)
    link: str = ""


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


def certify(
    settings: Settings,
    out: Path,
    *,
    workers: int,
    resume: bool,
    known: frozenset[str],
    minutes: int,
    progress: Progress,
    max_failures: int | None = None,
) -> tuple[Outcome, list[tuple[Counterexample, str]]]:
    """Play a run to its end and add it up; counterexamples are written into the folder.

    Raises:
        BadUsage: where the folder exists and is not to be resumed, or was made for another run.
        BuilderError, HarnessError: as `run.work`.
    """
    reach(settings.builder).close()  # a builder that cannot be reached is told before any work
    with twin(settings.builder):
        pass  # and so is one that starts only under the circumstances of here
    folder = _folder(settings, out, resume=resume)
    settings = folder.settings
    work(folder, workers, progress, max_failures)
    started = time.monotonic()
    # A soak goes on round after round; one that is to stop at failures stops between rounds too.
    while (
        settings.budget.profile == "soak"
        and time.monotonic() - started < 60 * minutes
        and not folder.has_failed(max_failures)
    ):
        settings = settings.model_copy(update={"rounds": settings.rounds + 1})
        folder.change(settings)
        work(folder, workers, progress, max_failures)
    builder = reach(settings.builder)
    try:
        found = outcome(
            settings.builder,
            settings.budget,
            folder.records(),
            builder,
            complete=not folder.missing(),
        )
        made = counterexamples(found, builder, scenarios.corpus, known, progress)
    finally:
        builder.close()
    return found, [(one, str(folder.keep(one))) for one in made]


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
        known=frozenset(),
        minutes=0,
        progress=progress,
    )
    return found


def _folder(settings: Settings, out: Path, *, resume: bool) -> Folder:
    folder = Folder(out)
    if not out.exists():
        folder.start(settings)
    elif not resume:
        raise BadUsage(f"{out} is there already; name another folder, or take it up with --resume")
    elif not (out / "settings.json").exists():
        raise BadUsage(f"{out} is not the folder of a certification")
    elif not folder.settings.builder.is_same_builder(settings.builder):
        raise BadUsage(f"{out} was made for {folder.settings.builder}, not for {settings.builder}")
    elif (folder.settings.budget.profile, folder.settings.budget.only) != (
        settings.budget.profile,
        settings.budget.only,
    ):
        made = folder.settings.budget
        raise BadUsage(f"{out} was made with --profile {made.profile}, seed {made.seed}; resume it so")
    return folder


def passes(found: Outcome, known: frozenset[str]) -> tuple[bool, list[str]]:
    """Whether the run passes with these failures known; and those that are listed but now hold."""
    holding = [r.requirement for r in found.results if r.requirement in known and r.verdict in HOLDING]
    spared = {Verdict.NOT_CLAIMED}
    if found.budget.profile == "smoke":
        spared.add(Verdict.UNEXERCISED)  # it is short by design, and certifies nothing
    barring = [
        result
        for result in found.results
        if result.verdict not in HOLDING | spared and result.requirement not in known
    ]
    seen = any(result.verdict is Verdict.PASSED for result in found.results)
    return seen and not barring and not holding and not found.trouble, holding
