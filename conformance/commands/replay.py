"""`contextproof replay`: counterexamples played again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from contextproof.conformance.commands.common import REFERENCE, complain
from contextproof.conformance.verdicts import ExitCode


def replay_all(paths: list[Path], builder: str, say: Callable[[str], None]) -> bool:
    """Replay counterexamples; whether all of them are fixed."""
    from contextproof.conformance.adapters.in_process import load
    from contextproof.conformance.report.replay import BadCounterexample, replay_files

    engine = load(builder)
    try:
        return replay_files(paths, engine, say)
    except BadCounterexample as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    finally:
        engine.close()


def replay(
    files: Annotated[list[Path], typer.Argument(help="Counterexample files, or folders of them.")],
    builder: Annotated[
        str, typer.Option(help="The engine to play them against, as package.module:factory.")
    ] = REFERENCE,
) -> None:
    """Play counterexamples again: FIXED, STILL FAILS, FAILS DIFFERENTLY or NO LONGER VALID.

    Exit status 0 only if every one of them is fixed.
    """
    fixed = replay_all(files, builder, print)
    raise typer.Exit(ExitCode.CONFORMING if fixed else ExitCode.NOT_CONFORMING)
