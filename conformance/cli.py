"""The commands. Each is thin over a function that the pytest plugin uses too."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from contextproof.conformance.builder import BuilderError
from contextproof.conformance.certification.budget import Profile
from contextproof.conformance.verdicts import ExitCode

REFERENCE = "contextproof.reference_impl.engine:factory"

app = typer.Typer(
    name="contextproof",
    help="Measures context engines: is the prefix one, are pairs whole, is trust contained, is the "
    "budget sound, is the same built from the same?\n\n"
    "Exit status: 0 conforming, 1 not conforming, 2 the builder cannot be measured or the command is "
    "misused, 3 a fault of contextproof itself.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def main() -> None:
    """Run the command line; anything unforeseen is our own fault and says so."""
    try:
        app()
    except BuilderError as error:
        _complain(f"builder error: {error}")
        sys.exit(ExitCode.BUILDER_OR_USAGE_ERROR)
    except KeyboardInterrupt:
        _complain("interrupted; nothing was certified")
        sys.exit(ExitCode.HARNESS_ERROR)
    except BrokenPipeError:
        sys.exit(ExitCode.HARNESS_ERROR)
    except OSError as error:
        _complain(f"cannot read or write {error.filename or 'the output'}: {error.strerror or error}")
        sys.exit(ExitCode.BUILDER_OR_USAGE_ERROR)
    except Exception as error:
        _complain(f"a fault of contextproof, not of the builder: {type(error).__name__}: {error}")
        _complain("please report it with the traceback that CONTEXTPROOF_DEBUG=1 shows")
        if _debugging():
            raise
        sys.exit(ExitCode.HARNESS_ERROR)


def _debugging() -> bool:
    return bool(os.environ.get("CONTEXTPROOF_DEBUG"))


def _complain(message: str) -> None:
    from contextproof.conformance.report.escape import visible

    Console(stderr=True).print(visible(message), markup=False, highlight=False, soft_wrap=True)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"contextproof {version('contextproof')}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    pass


@app.command()
def gate(
    builder: Annotated[
        str,
        typer.Option(
            help="The engine to measure, as package.module:factory. The working directory is importable."
        ),
    ] = REFERENCE,
    scenario: Annotated[
        list[Path] | None,
        typer.Option(help="Play this scenario file instead of the scripted ones; may be repeated."),
    ] = None,
    generated: Annotated[
        bool, typer.Option("--generated", help="Play generated sessions too: the same on every machine.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Play the scripted sessions, the fifty turns first, and say which of the five gates hold.

    Prints each gate with what was checked and how often, four metrics, and for whatever fails the
    cause first. Exit status 0 only if all five gates hold.
    """
    from contextproof.conformance.gate import run_scripted
    from contextproof.conformance.report.gate import print_gate
    from contextproof.conformance.report.progress import progress
    from contextproof.scenarios import BadScenario

    if generated:
        raise typer.Exit(_generated_gate(builder, as_json=as_json))
    try:
        with progress(Console(stderr=True), quiet=as_json) as tell:
            run = run_scripted(builder, scenario or (), progress=tell)
    except BadScenario as error:
        _complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    if as_json:
        print(run.model_dump_json(indent=1))
    else:
        print_gate(run, Console())
    raise typer.Exit(ExitCode.CONFORMING if run.all_hold else ExitCode.NOT_CONFORMING)


def _generated_gate(builder: str, *, as_json: bool) -> int:
    """The gates over scripted and generated sessions; returns the exit status."""
    import tempfile

    from contextproof.conformance.certification.command import certify_quietly
    from contextproof.conformance.report.certification import print_certification
    from contextproof.conformance.report.progress import progress

    with (
        tempfile.TemporaryDirectory(prefix="contextproof-gate-") as folder,
        progress(Console(stderr=True), quiet=as_json) as tell,
    ):
        found = certify_quietly(builder, "gate", None, Path(folder) / "run", tell)
    if as_json:
        print(found.model_dump_json(indent=1))
    else:
        print_certification(found, (), Console())
    return ExitCode.CONFORMING if all(gate.holds for gate in found.gates) else ExitCode.NOT_CONFORMING


@app.command()
def certify(
    builder: Annotated[
        str,
        typer.Option(
            help="The engine to measure, as package.module:factory. The working directory is importable."
        ),
    ] = REFERENCE,
    profile: Annotated[
        Profile, typer.Option(help="How much is played: smoke, gate, certify, or soak (round after round).")
    ] = "certify",
    examples: Annotated[
        int | None,
        typer.Option(min=1, help="Sessions generated for each strategy, instead of the profile's."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of everything random; drawn and printed if not given.")
    ] = None,
    nonce: Annotated[str, typer.Option(help="Mixed into the seed: a verifier's own secret.")] = "",
    workers: Annotated[int, typer.Option("-n", min=1, help="Processes that play at once.")] = 2,
    only: Annotated[
        list[str] | None, typer.Option(help="Judge only requirements whose id begins so; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Leave out requirements whose id begins so; may be repeated.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the run; by default contextproof-SEED here.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Take up a run that was interrupted.")] = False,
    known_failures: Annotated[
        Path | None,
        typer.Option(help="TOML file of failures that are known: [[failure]] with id, reason, link."),
    ] = None,
    minutes: Annotated[int, typer.Option(min=1, help="With --profile soak: how long.")] = 10,
    max_failures: Annotated[
        int | None, typer.Option(min=1, help="Stop once so many requirements have failed.")
    ] = None,
    first: Annotated[
        list[Path] | None,
        typer.Option(help="Counterexamples (files or folders) to replay before anything else."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Play generated sessions by the hundred and say of every requirement whether it held.

    For what failed, the smallest session found is written as a counterexample, with the command that
    replays it. The same seed, nonce and profile play the same sessions with any number of workers.
    """
    from contextproof.conformance.certification import command as c
    from contextproof.conformance.certification.run import HarnessError, Settings
    from contextproof.conformance.report.certification import print_certification
    from contextproof.conformance.report.progress import progress

    try:
        known = frozenset(c.read_known_failures(known_failures)) if known_failures else frozenset()
        budget = c.make_budget(
            profile,
            seed=seed,
            nonce=nonce,
            examples=examples,
            only=tuple(only or ()),
            exclude=tuple(exclude or ()),
        )
        if first and not _replay(first, builder, _complain):
            _complain("a counterexample is not fixed yet; nothing else was played")
            raise typer.Exit(ExitCode.NOT_CONFORMING)
        folder = out or Path(f"contextproof-{budget.seed}")
        with progress(Console(stderr=True), quiet=as_json) as tell:
            found, written = c.certify(
                Settings(builder=builder, budget=budget),
                folder,
                workers=workers,
                resume=resume,
                known=known,
                minutes=minutes,
                progress=tell,
                max_failures=max_failures,
            )
    except c.BadUsage as error:
        _complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    except KeyboardInterrupt:
        _complain(f"interrupted; take it up again with --resume --out {folder} --seed {budget.seed}")
        raise typer.Exit(ExitCode.HARNESS_ERROR) from None
    except HarnessError as error:
        _complain(f"a fault of contextproof, not of the builder: {str(error).splitlines()[0]}")
        raise typer.Exit(ExitCode.HARNESS_ERROR) from None
    if as_json:
        print(found.model_dump_json(indent=1))
    else:
        print_certification(found, written, Console())
    good, mended = c.passes(found, known)
    for identifier in mended:
        _complain(f"{identifier} is listed as a known failure and holds now; take it off the list")
    raise typer.Exit(ExitCode.CONFORMING if good else ExitCode.NOT_CONFORMING)


def _replay(paths: list[Path], builder: str, say: Callable[[str], None]) -> bool:
    """Replay counterexamples; whether all of them are fixed."""
    from contextproof.conformance.adapters.in_process import load
    from contextproof.conformance.report.replay import BadCounterexample, replay_files

    engine = load(builder)
    try:
        return replay_files(paths, engine, say)
    except BadCounterexample as error:
        _complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    finally:
        engine.close()


@app.command()
def replay(
    files: Annotated[list[Path], typer.Argument(help="Counterexample files, or folders of them.")],
    builder: Annotated[
        str, typer.Option(help="The engine to play them against, as package.module:factory.")
    ] = REFERENCE,
) -> None:
    """Play counterexamples again: FIXED, STILL FAILS, FAILS DIFFERENTLY or NO LONGER VALID.

    Exit status 0 only if every one of them is fixed.
    """
    fixed = _replay(files, builder, print)
    raise typer.Exit(ExitCode.CONFORMING if fixed else ExitCode.NOT_CONFORMING)


@app.command()
def schema(
    out: Annotated[
        Path | None, typer.Option(help="Write one file a message into this folder instead of printing.")
    ] = None,
) -> None:
    """Give the JSON Schemas of every message: calls, answers, manifest, scenario, trace.

    Without --out, one JSON document with a member for each.
    """
    from contextproof.conformance.schemas import print_schemas, write_schemas

    if out is None:
        print_schemas(sys.stdout)
        return
    try:
        number = write_schemas(out)
    except OSError as error:
        _complain(f"cannot write schemas to {out}: {error.strerror or error}")
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    print(f"wrote {number} schemas to {out}")


@app.command()
def explain(
    requirement: Annotated[str, typer.Argument(help="An id such as CTX-03.2, or a decision such as CTX-03.")],
) -> None:
    """Say what a requirement demands, when it is put to the test, and what a violation costs."""
    from contextproof.conformance.report.explain import explain_lines

    try:
        told = explain_lines(requirement)
    except KeyError as error:
        _complain(str(error.args[0]))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    print("\n".join(told))


@app.command()
def host(
    builder: Annotated[str, typer.Argument(help="The engine to serve, as package.module:factory.")],
) -> None:
    """Serve a Python builder over standard input and output, one JSON-RPC message a line.

    What the builder prints goes to standard error.
    """
    from contextproof.conformance.adapters.host import serve

    serve(builder)


if __name__ == "__main__":
    main()
