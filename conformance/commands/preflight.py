"""`contextproof preflight`: whether a session would open with a configuration, before it is deployed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from contextproof.conformance.commands.common import chosen, complain
from contextproof.conformance.target import MAX_MESSAGE, TIMEOUT, Target
from contextproof.conformance.verdicts import ExitCode

if TYPE_CHECKING:
    from contextproof.conformance.preflight.checking import Preflight
    from contextproof.conformance.preflight.reading import Parts

_MEGABYTE = 2**20
_Files = list[Path] | None


def preflight(
    opening: Annotated[
        Path | None,
        typer.Argument(
            help="The configuration as one JSON document: model, policy, instructions, tools, memory, "
            'permissions. A member is the thing itself, or {"path": "…"} for a file beside it.'
        ),
    ] = None,
    policy: Annotated[_Files, typer.Option(help="Platform policy: a text. May be repeated.")] = None,
    instructions: Annotated[_Files, typer.Option(help="Agent instructions: a text. May be repeated.")] = None,
    tools: Annotated[
        _Files,
        typer.Option(
            help="A tool list as JSON: an MCP tools/list result, or tools as OpenAI, Anthropic, Gemini or "
            "Bedrock take them. May be repeated."
        ),
    ] = None,
    memory: Annotated[_Files, typer.Option(help="The memory snapshot: a JSON list, or JSON lines.")] = None,
    model: Annotated[
        str | None, typer.Option(help="The model, as NAME:tokenizer:window:reserve (in tokens).")
    ] = None,
    builder: Annotated[
        str | None,
        typer.Option(help="Ask this engine too, as package.module:factory: what it adds is then measured."),
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="Ask the engine that this command starts, over its standard streams.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="With --command: seconds that the engine may take over one call.")
    ] = TIMEOUT,
    pass_env: Annotated[
        list[str] | None,
        typer.Option(
            help="With --command: an environment variable that the engine is given; may be repeated."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a summary.")] = False,
) -> None:
    """Say whether a session would open with a configuration, and what is too large.

    Each class is measured by the model's own tokenizer against its cap, and the whole against the
    ceiling. Options take the place of the document's members. Exit status 0 where a session opens, 1
    where it would be refused or that depends on a builder that was not named, 2 where what was given
    cannot be read.
    """
    from contextproof.conformance.preflight.document import BadInput
    from contextproof.conformance.preflight.reading import Parts

    if as_json and as_markdown:
        raise typer.BadParameter("give --json or --markdown, not both")
    target = None
    if builder is not None or command is not None:
        target = chosen(builder, command, timeout, pass_env, MAX_MESSAGE // _MEGABYTE)
    parts = Parts(
        policy=tuple(policy or ()),
        instructions=tuple(instructions or ()),
        tools=tuple(tools or ()),
        memory=tuple(memory or ()),
        model=model,
    )
    try:
        found = _checked(opening, parts, target)
    except BadInput as error:
        complain(str(error))
        raise typer.Exit(ExitCode.BUILDER_OR_USAGE_ERROR) from None
    _print(found, "json" if as_json else "markdown" if as_markdown else "text")
    raise typer.Exit(ExitCode.CONFORMING if found.opens else ExitCode.NOT_CONFORMING)


def _checked(opening: Path | None, parts: Parts, target: Target | None) -> Preflight:
    from contextproof.conformance.adapters.reach import reach
    from contextproof.conformance.preflight.checking import check
    from contextproof.conformance.preflight.reading import read

    configuration = read(opening, parts)
    if target is None:
        return check(configuration)
    engine = reach(target)
    try:
        return check(configuration, engine)
    finally:
        engine.close()


def _print(found: Preflight, form: Literal["text", "markdown", "json"]) -> None:
    from contextproof.conformance.report.preflight import as_json, markdown, print_preflight

    match form:
        case "json":
            print(as_json(found))
        case "markdown":
            print("\n".join(markdown(found)))
        case "text":
            print_preflight(found, Console())
