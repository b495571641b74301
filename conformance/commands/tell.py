"""Commands that tell rather than measure: `schema` and `explain`; and `host`, which serves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from contextproof.conformance.commands.common import REFERENCE, complain
from contextproof.conformance.verdicts import ExitCode


def schema(
    out: Annotated[
        Path | None, typer.Option(help="Write one file a message into this folder instead of printing.")
    ] = None,
) -> None:
    """Give the JSON Schemas of every message, and of scenario, trace, run record and certificate.

    Without --out, one JSON document with a member for each. With it, a file for each, and beside them
    an example of every message, the transcript of a small session, and test vectors.
    """
    from contextproof.conformance.schemas.writing import print_schemas, write_schemas

    if out is None:
        print_schemas(sys.stdout)
        return
    try:
        number = write_schemas(out, REFERENCE)
    except OSError as error:
        complain(f"cannot write schemas to {out}: {error.strerror or error}")
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    print(f"wrote {number} files to {out}")


def explain(
    requirement: Annotated[str, typer.Argument(help="An id such as CTX-03.2, or a decision such as CTX-03.")],
) -> None:
    """Say what a requirement demands, when it is put to the test, and what a violation costs."""
    from contextproof.conformance.report.explain import explain_lines

    try:
        told = explain_lines(requirement)
    except KeyError as error:
        complain(str(error.args[0]))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    print("\n".join(told))


def host(
    builder: Annotated[str, typer.Argument(help="The engine to serve, as package.module:factory.")],
) -> None:
    """Serve a Python builder over standard input and output, one JSON-RPC message a line.

    What the builder prints goes to standard error.
    """
    from contextproof.conformance.adapters.host import serve

    serve(builder)
