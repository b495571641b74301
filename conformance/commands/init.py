"""`contextproof init`: the first files of a builder, in a folder of their own."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from contextproof.conformance.commands.common import complain
from contextproof.conformance.skeletons import NEXT, Language, skeleton
from contextproof.conformance.verdicts import ExitCode


def init(
    folder: Annotated[Path, typer.Argument(help="Where to write; made if need be, and else empty.")],
    language: Annotated[Language, typer.Option(help="What to start with.")],
) -> None:
    """Write a skeleton that can be called, claims nothing, and says what to fill in next.

    Nothing that is there already is overwritten: the folder must be empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        complain(f"{folder} is there already and is not empty; name another folder")
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR)
    for name, text in skeleton(language).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")
    print("Next:")
    for command in NEXT[language]:
        print(f"  {command.format(folder=shlex.quote(str(folder)))}")
