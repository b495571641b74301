"""`contextproof snapshot`: what a builder renders as plain text, and `snapshot diff`: what changed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from contextproof.conformance.commands.common import complain, takes_builder
from contextproof.conformance.progress import Progress
from contextproof.conformance.snapshot.forms import SESSIONS, Format
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import ExitCode

snapshot = typer.Typer(rich_markup_mode=None, add_completion=False)


@snapshot.callback(invoke_without_command=True)
@takes_builder
def take(
    builder: Target,
    ctx: typer.Context,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Folder that holds the snapshots, such as snapshots.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Accept what is rendered now: write it into the folder.")
    ] = False,
) -> None:
    """Check what a builder renders against the snapshots in a folder, or write them with --update.

    Plays the fifty turns and some short sessions, and shows envelopes, hostile contents, pointers,
    checkpoints, working state, whole requests and refusals, a file each. Exit status 0 where nothing
    changed or all is accepted, 1 where something changed, 2 where it cannot be told.

    `contextproof snapshot diff OLD NEW` compares two folders.
    """
    if ctx.invoked_subcommand is not None:
        return
    if folder is None:
        complain("say which folder holds the snapshots: --dir snapshots")
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR)
    from contextproof.conformance.snapshot.store import BadFolder

    try:
        raise typer.Exit(_accept(builder, folder) if update else _check(builder, folder))
    except BadFolder as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None


def _check(builder: Target, folder: Path) -> int:
    from contextproof.conformance.snapshot.capture import capture
    from contextproof.conformance.snapshot.checking import check
    from contextproof.conformance.snapshot.store import read

    read(folder)  # what cannot be compared is told before anything is played
    with _progress() as tell:
        captured = capture(builder, progress=tell)
    compared = check(captured, folder)
    _say_absent(captured.absent)
    if compared.difference.is_empty:
        print(f"{len(captured.files)} snapshots in {folder}: nothing changed")
        return ExitCode.CONFORMING
    print(compared.told(), end="")
    complain("to accept this, run it again with --update")
    return ExitCode.NOT_CONFORMING


def _accept(builder: Target, folder: Path) -> int:
    from contextproof.conformance.snapshot.capture import capture
    from contextproof.conformance.snapshot.checking import accept
    from contextproof.conformance.snapshot.store import refuse_no_folder

    refuse_no_folder(folder)
    with _progress() as tell:
        captured = capture(builder, progress=tell)
    done = accept(captured, folder)
    _say_absent(captured.absent)
    for name in done.deleted:
        print(f"unused, deleted: {name}")
    written, deleted, kept = len(done.written), len(done.deleted), len(done.kept)
    print(f"{folder}: {written} files written, {deleted} deleted, {kept} as they were")
    return ExitCode.CONFORMING


def _say_absent(absent: tuple[str, ...]) -> None:
    for line in absent:
        print(f"nothing to show in {line}")


def _progress() -> AbstractContextManager[Progress]:
    from contextproof.conformance.report.progress import progress

    return progress(Console(stderr=True))


@snapshot.command("diff")
def compare(
    old: Annotated[Path, typer.Argument(help="Folder of snapshots as they were.")],
    new: Annotated[Path, typer.Argument(help="Folder of snapshots as they are.")],
    form: Annotated[Format, typer.Option("--format", help="How to tell it.")] = "text",
    sessions: Annotated[int, typer.Option(min=1, help="Live sessions to tell the cost for.")] = SESSIONS,
) -> None:
    """Tell what changed between two folders of snapshots, and what follows from it.

    Lines that changed alike are told once, with the files they are in. Exit status 0 where nothing
    changed, 1 where something did, 2 where the two cannot be compared.
    """
    from contextproof.conformance.snapshot.checking import beside
    from contextproof.conformance.snapshot.store import BadFolder

    try:
        compared = beside(old, new)
    except BadFolder as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    print(compared.told(form, sessions=sessions), end="")
    raise typer.Exit(ExitCode.CONFORMING if compared.difference.is_empty else ExitCode.NOT_CONFORMING)
