"""What several commands share: the options that name a builder, and how they complain."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console

from contextproof.conformance.target import MAX_MESSAGE, TIMEOUT, Limits, Target

REFERENCE = "contextproof.reference_impl.engine:factory"
_MEGABYTE = 2**20

_Builder = Annotated[
    str | None,
    typer.Option(
        help="The engine to measure, as package.module:factory. The working directory is importable. "
        f"By default the reference, {REFERENCE}."
    ),
]
_Command = Annotated[
    str | None,
    typer.Option(
        help="Instead of --builder: the command that starts the engine, which speaks the protocol of "
        "docs/protocol.md over its standard input and output. Split into words as a shell does, and "
        "started without one."
    ),
]
_Timeout = Annotated[
    float, typer.Option(min=0.001, help="With --command: seconds that the engine may take over one call.")
]
_PassEnv = Annotated[
    list[str] | None,
    typer.Option(help="With --command: an environment variable that the engine is given; may be repeated."),
]
_MaxMessage = Annotated[
    int, typer.Option(min=1, help="With --command: megabytes that one message of the engine may have.")
]


def takes_builder(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that name a builder; it gets them as one argument, ``builder``.

    The command is written as ``@takes_builder def name(builder: Target, …)``.
    """

    def run(**given: Any) -> None:
        named = [given.pop(name) for name in _OPTIONS]
        function(builder=chosen(*named), **given)

    own = inspect.signature(function, eval_str=True)
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _OPTIONS.items()
    ]
    others = [p.replace(kind=p.KEYWORD_ONLY) for p in own.parameters.values() if p.name != "builder"]
    signature = inspect.Signature([*options, *others], return_annotation=None)
    run.__name__, run.__doc__, run.__module__ = function.__name__, function.__doc__, function.__module__
    run.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


_OPTIONS: dict[str, tuple[Any, Any]] = {
    "builder": (_Builder, None),
    "command": (_Command, None),
    "timeout": (_Timeout, TIMEOUT),
    "pass_env": (_PassEnv, None),
    "max_message": (_MaxMessage, MAX_MESSAGE // _MEGABYTE),
}


def chosen(
    builder: str | None, command: str | None, timeout: float, pass_env: list[str] | None, max_message: int
) -> Target:
    """The target that the options name; the reference where they name none."""
    limits = Limits(timeout=timeout, pass_env=tuple(pass_env or ()), max_message=max_message * _MEGABYTE)
    if command is None:
        return Target(factory=builder or REFERENCE, limits=limits)
    if builder is not None:
        raise typer.BadParameter("give --builder or --command, not both")
    return Target(command=words(command), limits=limits)


def words(command: str) -> tuple[str, ...]:
    """A command line as words. It is never given to a shell."""
    try:
        found = tuple(shlex.split(command))
    except ValueError as error:
        raise typer.BadParameter(f"--command cannot be split into words: {error}") from None
    if not found:
        raise typer.BadParameter("--command is empty")
    return found


def complain(message: str) -> None:
    """Say on standard error what is wrong; whatever a builder wrote in it is shown escaped."""
    from contextproof.conformance.report.escape import visible

    Console(stderr=True).print(visible(message), markup=False, highlight=False, soft_wrap=True)
