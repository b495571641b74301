"""`contextproof calibrate`: what the suite detects, and what it leaves alone."""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from contextproof.conformance.commands.common import complain
from contextproof.conformance.verdicts import ExitCode

_SEED = 1


def calibrate(
    engines: Annotated[
        list[str] | None, typer.Argument(help="Measure these engines of known verdict alone, by name.")
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="A few engines, drawn by the seed.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Five seeds, how often each fault shows, what it breaks beside.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = _SEED,
    workers: Annotated[int, typer.Option("-n", min=1, help="Processes that measure at once.")] = 2,
    out: Annotated[
        Path | None, typer.Option(help="Folder that keeps what is done; a run there is taken up again.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the page to publish.")] = False,
) -> None:
    """Measure the suite itself, by engines whose verdict is known.

    Faulty engines must be detected, by the requirement that they break; engines that conform must not
    be accused; null engines show what doing nothing scores. Exit status 0 if all of that is so.
    """
    from contextproof.conformance.calibrating.depth import Depth, jobs
    from contextproof.conformance.calibrating.matrix import complaints, matrix
    from contextproof.conformance.calibrating.run import Folder, OtherCalibration, Settings, work
    from contextproof.conformance.report.calibration import markdown, print_matrix
    from contextproof.conformance.report.progress import progress

    if sample and full:
        complain("--sample and --full exclude one another")
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR)
    depth = Depth.SAMPLE if sample else Depth.FULL if full else Depth.MATRIX
    names = tuple(sorted(engines or ()))
    try:
        wanted = jobs(depth, seed, names)
        settings = Settings(suite=version("contextproof"), depth=depth, seed=seed, engines=names)
        with tempfile.TemporaryDirectory(prefix="contextproof-calibration-") as temporary:
            folder = Folder(out or Path(temporary), settings)
            with progress(Console(stderr=True), quiet=as_json or as_markdown) as tell:
                records = work(folder, wanted, workers, tell)
    except KeyError as error:
        complain(
            f"there is no engine {error.args[0]!r}; `contextproof explain ID` names those of a requirement"
        )
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    except OtherCalibration as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    found = matrix(settings.suite, depth, seed, records, whole=depth is not Depth.SAMPLE and not names)
    if as_json:
        print(found.model_dump_json(indent=1))
    elif as_markdown:
        print("\n".join(markdown(found)))
    else:
        print_matrix(found, Console())
    raise typer.Exit(ExitCode.NOT_CONFORMING if complaints(found) else ExitCode.CONFORMING)
