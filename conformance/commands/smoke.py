"""`contextproof smoke`: whether the adapter is right, in seconds."""

from __future__ import annotations

from typing import Annotated

import typer

from contextproof.conformance.builder import Builder
from contextproof.conformance.commands.common import takes_builder
from contextproof.conformance.smoke import Check
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import ExitCode


@takes_builder
def smoke(
    builder: Target,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say in seconds whether the adapter is right: the way an engine is reached, not the engine.

    Each check is a line; where something is wrong, it says what to do. Exit status 0 only if all is
    right. Nothing is said about conformance.
    """
    import json
    from dataclasses import asdict

    from contextproof.conformance.adapters.reach import reach
    from contextproof.conformance.smoke import checks

    engine = reach(builder)
    found: list[Check] = []
    try:
        for check in checks(engine):
            found.append(check)
            if not as_json:
                _say(check)
    finally:
        engine.close()
    if builder.is_over_pipe:
        found.append(_its_end(engine))
        if not as_json:
            _say(found[-1])
    if as_json:
        print(json.dumps([asdict(check) for check in found], indent=1))
    right = all(check.is_right for check in found)
    raise typer.Exit(ExitCode.CONFORMING if right else ExitCode.NOT_CONFORMING)


def _its_end(engine: Builder) -> Check:
    if getattr(engine, "left_behind", False):
        cure = "end what it started when it is asked to shut down"
        return Check("its end", cure, "processes that it started ran on")
    return Check("its end", seen="it left no process behind")


def _say(check: Check) -> None:
    from contextproof.conformance.report.escape import visible

    seen = f"  {visible(check.seen)}" if check.seen else ""
    print(f"{'right' if check.is_right else 'WRONG':<6} {visible(check.name)}{seen}")
    if check.cure:
        print(f"       {check.cure}")
