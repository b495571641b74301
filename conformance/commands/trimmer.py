"""What `--trimmer` does in `contextproof certify` and `gate`: measure a plain trimmer instead."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from contextproof.conformance.certification.budget import GATE_SEED, SESSIONS, Budget, Profile
from contextproof.conformance.commands.common import REFERENCE, complain
from contextproof.conformance.contract.tokenizers import TokenizerName
from contextproof.conformance.target import TIMEOUT, Target
from contextproof.conformance.trimming.formats import FormatName
from contextproof.conformance.verdicts import ExitCode

if TYPE_CHECKING:
    from contextproof.conformance.trimming.running import Measured

TrimmerOption = Annotated[
    str | None,
    typer.Option(
        "--trimmer",
        help="Instead of a builder: a function from messages and a token limit to messages, as "
        "package.module:function. It is judged by what applies to it; the level is partial at the best.",
    ),
]
FormatOption = Annotated[FormatName, typer.Option("--format", help="With --trimmer: its messages.")]
TokenizerOption = Annotated[
    TokenizerName, typer.Option("--tokenizer", help="With --trimmer: what the limit counts in.")
]


def trimmer_budget(
    profile: Profile, seed: int | None, nonce: str, examples: int | None, only: list[str], exclude: list[str]
) -> Budget:
    """A budget from what the command line says. Raises typer.BadParameter."""
    from contextproof.conformance.trimming.rules import all_rules

    if profile == "soak":
        raise typer.BadParameter("a trimmer is not played round after round; use --examples for more")
    ids = [rule.id for rule in all_rules()]
    for part in (*only, *exclude):
        if not any(identifier.startswith(part) for identifier in ids):
            raise typer.BadParameter(f"{part!r} matches no rule for trimmers; there are {', '.join(ids)}")
    if seed is None:
        seed = GATE_SEED if profile == "gate" else secrets.randbelow(2**31)
    sessions = SESSIONS[profile] if examples is None else examples
    return Budget(
        profile=profile, seed=seed, nonce=nonce, sessions=sessions, only=tuple(only), exclude=tuple(exclude)
    )


def refuse_for_trimmers(**given: object) -> None:
    """Refuse options that say nothing of a trimmer. Raises typer.BadParameter."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter(f"--{name.replace('_', '-')} has no meaning with --trimmer")


def measure_trimmer(
    spec: str,
    format_: FormatName,
    tokenizer: TokenizerName,
    target: Target,
    budget: Budget,
    *,
    out: Path | None,
    as_json: bool,
) -> int:
    """Measure a trimmer, write its counterexamples into ``out``, and print it; returns the exit status."""
    from contextproof.conformance.report.progress import progress
    from contextproof.conformance.report.trimming import print_trimmer
    from contextproof.conformance.trimming.playing import Subject
    from contextproof.conformance.trimming.running import measure

    if target.factory != REFERENCE:
        raise typer.BadParameter("give --trimmer, or a builder, not both")
    if out is not None and out.exists():
        complain(f"{out} is there already; name another folder")
        return ExitCode.BUILDER_OR_USAGE_ERROR
    given = target.limits.timeout
    subject = Subject(spec, format_, tokenizer)
    if given != TIMEOUT:
        subject = Subject(spec, format_, tokenizer, timeout=given)
    with progress(Console(stderr=True), quiet=as_json) as tell:
        measured = measure(subject, budget, progress=tell)
    scripts = _written(measured, spec, out) if out is not None else {}
    if as_json:
        print(measured.outcome.model_dump_json(indent=1))
    else:
        print_trimmer(measured, scripts, Console())
    return ExitCode.CONFORMING if measured.outcome.conforms else ExitCode.NOT_CONFORMING


def _written(measured: Measured, spec: str, out: Path) -> dict[str, Path]:
    """Write the outcome and a script for each example; returns the scripts by rule."""
    from contextproof.conformance.trimming.reproducing import script

    out.mkdir(parents=True)
    (out / "outcome.json").write_text(measured.outcome.model_dump_json(indent=1), encoding="utf-8")
    scripts: dict[str, Path] = {}
    for example in measured.examples:
        path = out / f"{example.finding.rule}.py"
        path.write_text(script(example, spec), encoding="utf-8")
        scripts[example.finding.rule] = path
    return scripts
