"""The command line: every command of `conformance.commands`, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from contextproof.conformance.builder import BuilderError
from contextproof.conformance.commands.calibrate import calibrate
from contextproof.conformance.commands.certify import certify
from contextproof.conformance.commands.common import complain
from contextproof.conformance.commands.gate import gate
from contextproof.conformance.commands.init import init
from contextproof.conformance.commands.preflight import preflight
from contextproof.conformance.commands.replay import replay
from contextproof.conformance.commands.report import merge, report, verify
from contextproof.conformance.commands.smoke import smoke
from contextproof.conformance.commands.snapshot import snapshot
from contextproof.conformance.commands.tell import explain, host, schema
from contextproof.conformance.verdicts import ExitCode

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
        complain(f"builder error: {error}")
        sys.exit(ExitCode.BUILDER_OR_USAGE_ERROR)
    except KeyboardInterrupt:
        complain("interrupted; nothing was certified")
        sys.exit(ExitCode.HARNESS_ERROR)
    except BrokenPipeError:
        sys.exit(ExitCode.HARNESS_ERROR)
    except OSError as error:
        complain(f"cannot read or write {error.filename or 'the output'}: {error.strerror or error}")
        sys.exit(ExitCode.BUILDER_OR_USAGE_ERROR)
    except Exception as error:
        complain(f"a fault of contextproof, not of the builder: {type(error).__name__}: {error}")
        complain("please report it with the traceback that CONTEXTPROOF_DEBUG=1 shows")
        if _debugging():
            raise
        sys.exit(ExitCode.HARNESS_ERROR)


def _debugging() -> bool:
    return bool(os.environ.get("CONTEXTPROOF_DEBUG"))


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


for command in (
    gate,
    certify,
    report,
    merge,
    verify,
    calibrate,
    replay,
    smoke,
    preflight,
    explain,
    schema,
    host,
    init,
):
    app.command()(command)
app.add_typer(snapshot, name="snapshot")


if __name__ == "__main__":
    main()
