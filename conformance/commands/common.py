"""What several commands share: options, and how they complain."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

REFERENCE = "contextproof.reference_impl.engine:factory"

BuilderOption = Annotated[
    str,
    typer.Option(
        help="The engine to measure, as package.module:factory. The working directory is importable."
    ),
]


def complain(message: str) -> None:
    """Say on standard error what is wrong; whatever a builder wrote in it is shown escaped."""
    from contextproof.conformance.report.escape import visible

    Console(stderr=True).print(visible(message), markup=False, highlight=False, soft_wrap=True)
