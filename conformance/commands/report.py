"""`contextproof report`, `merge` and `verify`: what a run left behind, told, joined and tried again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from contextproof.conformance.commands.common import complain, takes_builder
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import ExitCode


def report(
    run: Annotated[Path, typer.Argument(help="A run's folder, or its run.jsonl.")],
    html: Annotated[
        Path | None, typer.Option(help="Write one page that needs nothing else: pictures, evidence.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a summary for a CI job.")] = None,
    as_json: Annotated[Path | None, typer.Option("--json", help="Write the certificate.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML, a case for each requirement.")] = None,
    badge: Annotated[Path | None, typer.Option(help="Write a badge, as SVG.")] = None,
) -> None:
    """Tell what a run found, from its record alone, in any forms that are wanted.

    Without one, prints what `certify` printed at its end. Of a run that still goes on, it tells what there
    is by now, and that it is unfinished.
    """
    from contextproof.conformance.certification.outcome import outcome_of
    from contextproof.conformance.certification.reading import BadRecord, read
    from contextproof.conformance.report.certification import print_certification
    from contextproof.conformance.report.forms import write_forms

    given = {"html": html, "markdown": markdown, "json": as_json, "junit": junit, "badge": badge}
    wanted = {form: path for form, path in given.items() if path is not None}
    try:
        found = read(run)
        outcome = outcome_of(found)
    except BadRecord as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    if found.state:
        complain(found.state)
    if wanted:
        write_forms(found, wanted)
        return
    folder = run if run.is_dir() else run.parent
    written = [(one.counterexample, str(folder / one.file)) for one in found.counterexamples]
    print_certification(outcome, written, Console())


def merge(
    runs: Annotated[list[Path], typer.Argument(help="Folders (or run.jsonl files) of one run's parts.")],
    out: Annotated[Path, typer.Option(help="Folder for the whole; it must not be there yet.")],
) -> None:
    """Join what shards or several machines played into the record of one run.

    They must be finished parts of one run: same suite, seed, budget and builder, and no session twice.
    The joined record comes to just what one machine would have come to.
    """
    from contextproof.conformance.certification.merging import CannotMerge
    from contextproof.conformance.certification.merging import merge as join
    from contextproof.conformance.certification.reading import BadRecord, read
    from contextproof.conformance.report.certification import print_certification
    from contextproof.conformance.report.forms import CERTIFICATE, write_forms

    try:
        outcome = join(runs, out)
    except (BadRecord, CannotMerge) as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    except FileExistsError:
        complain(f"{out} is there already; name another folder")
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    whole = read(out)
    write_forms(whole, {"json": out / CERTIFICATE})
    written = [(one.counterexample, str(out / one.file)) for one in whole.counterexamples]
    print_certification(outcome, written, Console())
    if whole.missing:
        complain(f"{len(whole.missing):,} of {len(whole.units):,} units are in none of them")


@takes_builder
def verify(
    builder: Target,
    certificate: Annotated[Path, typer.Argument(help="The certificate.json to try again.")],
    nonce: Annotated[
        str | None, typer.Option(help="Mixed into the seed; drawn and printed if not given.")
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Sessions generated for each strategy.")] = 12,
    workers: Annotated[int, typer.Option("-n", min=1, help="Processes that play at once.")] = 2,
) -> None:
    """Play a sample of other sessions against a builder, and say whether its certificate stands.

    It stands where this is the builder certified, and nothing that is certified to hold failed.
    """
    from contextproof.conformance.certificate.verifying import BadCertificate, read_certificate
    from contextproof.conformance.certificate.verifying import verify as try_again
    from contextproof.conformance.report.progress import progress
    from contextproof.conformance.report.verification import verification_lines

    try:
        document = read_certificate(certificate)
    except BadCertificate as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    with progress(Console(stderr=True)) as tell:
        found = try_again(document, builder, nonce=nonce, examples=examples, workers=workers, progress=tell)
    for line in verification_lines(document, found):
        print(line)
    raise typer.Exit(ExitCode.CONFORMING if found.stands else ExitCode.NOT_CONFORMING)
