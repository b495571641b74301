"""`contextproof certify`: generated sessions by the hundred, and a verdict a requirement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from contextproof.conformance.certification.budget import Profile
from contextproof.conformance.commands.common import complain, takes_builder
from contextproof.conformance.commands.replay import replay_all
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
def certify(
    builder: Target,
    profile: Annotated[
        Profile, typer.Option(help="How much is played: smoke, gate, certify, or soak (round after round).")
    ] = "certify",
    examples: Annotated[
        int | None,
        typer.Option(min=1, help="Sessions generated for each strategy, instead of the profile's."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of everything random; drawn and printed if not given.")
    ] = None,
    nonce: Annotated[str, typer.Option(help="Mixed into the seed: a verifier's own secret.")] = "",
    workers: Annotated[int, typer.Option("-n", min=1, help="Processes that play at once.")] = 2,
    only: Annotated[
        list[str] | None, typer.Option(help="Judge only requirements whose id begins so; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Leave out requirements whose id begins so; may be repeated.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the run; by default contextproof-SEED here.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Take up a run that was interrupted.")] = False,
    known_failures: Annotated[
        Path | None,
        typer.Option(help="TOML file of failures that are known: [[failure]] with id, reason, link."),
    ] = None,
    minutes: Annotated[int, typer.Option(min=1, help="With --profile soak: how long.")] = 10,
    max_failures: Annotated[
        int | None, typer.Option(min=1, help="Stop once so many requirements have failed.")
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            help="Play part K of N of the sessions, as 3/8, on one machine of N; needs --seed. "
            "`contextproof merge` joins the parts."
        ),
    ] = None,
    first: Annotated[
        list[Path] | None,
        typer.Option(help="Counterexamples (files or folders) to replay before anything else."),
    ] = None,
    trimmer: TrimmerOption = None,
    messages: FormatOption = "openai",
    tokenizer: TokenizerOption = "o200k_base",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the closing line alone.")] = False,
) -> None:
    """Play generated sessions by the hundred and say of every requirement whether it held.

    For what failed, the smallest session found is written as a counterexample, with the command that
    replays it. The same seed, nonce and profile play the same sessions with any number of workers.
    The run's folder holds its record, run.jsonl, which `contextproof report` tells in other forms, and
    the certificate.
    """
    from contextproof.conformance.certification import command as c
    from contextproof.conformance.certification.run import HarnessError
    from contextproof.conformance.report.certification import closing_line, print_certification
    from contextproof.conformance.report.leaving import leave_behind
    from contextproof.conformance.report.progress import progress

    if trimmer is not None:
        chances = trimmer_budget(profile, seed, nonce, examples, only or [], exclude or [])
        refuse_for_trimmers(resume=resume, shard=shard, first=first, known_failures=known_failures)
        place = out or Path(f"contextproof-{chances.seed}")
        raise typer.Exit(
            measure_trimmer(trimmer, messages, tokenizer, builder, chances, out=place, as_json=as_json)
        )
    try:
        known = c.read_known_failures(known_failures) if known_failures else {}
        budget = c.make_budget(
            profile,
            seed=seed,
            nonce=nonce,
            examples=examples,
            only=tuple(only or ()),
            exclude=tuple(exclude or ()),
        )
        part = c.read_shard(shard, budget, seeded=seed is not None or profile == "gate")
        if first and not replay_all(first, builder, complain):
            complain("a counterexample is not fixed yet; nothing else was played")
            raise typer.Exit(ExitCode.NOT_CONFORMING)
        folder = out or Path(f"contextproof-{budget.seed}")
        with progress(Console(stderr=True), quiet=as_json or quiet) as tell:
            found, written = c.certify(
                c.Settings(builder=builder, budget=budget, shard=part),
                folder,
                workers=workers,
                resume=resume,
                known=known,
                minutes=minutes,
                progress=tell,
                max_failures=max_failures,
            )
        leave_behind(folder, found)
    except c.BadUsage as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    except KeyboardInterrupt:
        complain(f"interrupted; the same command with --resume --out {folder} --seed {budget.seed} goes on")
        raise typer.Exit(ExitCode.HARNESS_ERROR) from None
    except HarnessError as error:
        complain(f"a fault of contextproof, not of the builder: {str(error).splitlines()[0]}")
        raise typer.Exit(ExitCode.HARNESS_ERROR) from None
    if as_json:
        print(found.model_dump_json(indent=1))
    elif quiet:
        print(closing_line(found))
    else:
        print_certification(found, written, Console(), folder)
    if found.trouble and not found.sessions:
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR)  # nothing could be measured
    good, mended = c.passes(found, known, is_part=shard is not None)
    for identifier in mended:
        complain(f"{identifier} is listed as a known failure and holds now; take it off the list")
    raise typer.Exit(ExitCode.CONFORMING if good else ExitCode.NOT_CONFORMING)
