"""`contextproof gate`: the five gates and four metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from contextproof.conformance.commands.common import complain, takes_builder
from contextproof.conformance.commands.trimmer import (
    FormatOption,
    TokenizerOption,
    TrimmerOption,
    measure_trimmer,
    refuse_for_trimmers,
    trimmer_budget,
)
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import ExitCode


@takes_builder
def gate(
    builder: Target,
    scenario: Annotated[
        list[Path] | None,
        typer.Option(help="Play this scenario file instead of the scripted ones; may be repeated."),
    ] = None,
    generated: Annotated[
        bool, typer.Option("--generated", help="Play generated sessions too: the same on every machine.")
    ] = False,
    trimmer: TrimmerOption = None,
    messages: FormatOption = "openai",
    tokenizer: TokenizerOption = "o200k_base",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the closing line alone.")] = False,
) -> None:
    """Play the scripted sessions, the fifty turns first, and say which of the five gates hold.

    Prints each gate with what was checked and how often, four metrics, and for whatever fails the
    cause first. Exit status 0 only if all five gates hold.
    """
    from contextproof.conformance.gate import run_scripted
    from contextproof.conformance.report.gate import closing_line, print_gate
    from contextproof.conformance.report.leaving import tell_github
    from contextproof.conformance.report.progress import progress
    from contextproof.scenarios import BadScenario

    if trimmer is not None:
        refuse_for_trimmers(scenario=scenario, generated=generated)
        budget = trimmer_budget("gate", None, "", None, [], [])
        raise typer.Exit(
            measure_trimmer(trimmer, messages, tokenizer, builder, budget, out=None, as_json=as_json)
        )
    if generated:
        raise typer.Exit(_generated_gate(builder, as_json=as_json, quiet=quiet))
    try:
        with progress(Console(stderr=True), quiet=as_json or quiet) as tell:
            run = run_scripted(builder, scenario or (), progress=tell)
    except BadScenario as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    tell_github(run)
    if as_json:
        print(run.model_dump_json(indent=1))
    elif quiet:
        print(closing_line(run))
    else:
        print_gate(run, Console())
    raise typer.Exit(ExitCode.CONFORMING if run.all_hold else ExitCode.NOT_CONFORMING)


def _generated_gate(builder: Target, *, as_json: bool, quiet: bool) -> int:
    """The gates over scripted and generated sessions; returns the exit status."""
    import tempfile

    from contextproof.conformance.certification.command import certify_quietly
    from contextproof.conformance.report.certification import closing_line, print_certification
    from contextproof.conformance.report.leaving import tell_github
    from contextproof.conformance.report.progress import progress

    with (
        tempfile.TemporaryDirectory(prefix="contextproof-gate-") as folder,
        progress(Console(stderr=True), quiet=as_json or quiet) as tell,
    ):
        found = certify_quietly(builder, "gate", None, Path(folder) / "run", tell)
    tell_github(found)
    if as_json:
        print(found.model_dump_json(indent=1))
    elif quiet:
        print(closing_line(found))
    else:
        print_certification(found, (), Console())
    return ExitCode.CONFORMING if all(gate.holds for gate in found.gates) else ExitCode.NOT_CONFORMING
