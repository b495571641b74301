"""`contextproof replay`: counterexamples played again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from contextproof.conformance.commands.common import complain, takes_builder
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import ExitCode


def replay_all(paths: list[Path], builder: Target, say: Callable[[str], None]) -> bool:
    """Replay counterexamples; whether all of them are fixed."""
    from contextproof.conformance.adapters.reach import reach
    from contextproof.conformance.report.replay import BadCounterexample, replay_files

    engine = reach(builder)
    try:
        return replay_files(paths, engine, say)
    except BadCounterexample as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    finally:
        engine.close()


@takes_builder
def replay(
    builder: Target,
    files: Annotated[list[Path], typer.Argument(help="Counterexample files, or folders of them.")],
) -> None:
    """Play counterexamples again: FIXED, STILL FAILS, FAILS DIFFERENTLY or NO LONGER VALID.

    Exit status 0 only if every one of them is fixed.
    """
    fixed = replay_all(files, builder, print)
    raise typer.Exit(ExitCode.CONFORMING if fixed else ExitCode.NOT_CONFORMING)
