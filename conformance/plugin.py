"""The pytest plugin. It is installed in other people's environments: without ``--builder`` it does nothing.

It imports nothing of ours until it is asked to measure, and loads no Hypothesis profile.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from contextproof.conformance.certification.outcome import Outcome
    from contextproof.conformance.gate import GateRun
    from contextproof.conformance.target import Target

#: Those of ``--builder`` and ``--command`` that are ours here, and not the project's own.
_ours: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options; ``--builder`` and ``--command`` only where the project has none of that name."""
    group = parser.getgroup("contextproof", "context engine conformance")
    for option, metavar, what in (
        ("--builder", "MODULE:FACTORY", "the context engine to measure; see `contextproof gate --help`"),
        ("--command", "COMMAND", "instead of --builder: the command that starts the engine"),
    ):
        with contextlib.suppress(ValueError):
            group.addoption(option, metavar=metavar, default=None, help=what)
            _ours.add(option)
    group.addoption(
        "--contextproof-timeout",
        type=float,
        default=None,
        metavar="SECONDS",
        help="with --command: seconds that the engine may take over one call",
    )
    group.addoption(
        "--contextproof-pass-env",
        action="append",
        default=None,
        metavar="NAME",
        help="with --command: an environment variable that the engine is given; may be repeated",
    )
    group.addoption(
        "--contextproof-profile",
        default="scripted",
        choices=("scripted", "smoke", "gate", "certify"),
        help="what is played: the scripted sessions, or generated ones (see `contextproof certify`)",
    )
    group.addoption("--contextproof-seed", type=int, default=None, help="seed of generated sessions")
    group.addoption("--contextproof-run", default=None, help="the folder of a certification's run")


@pytest.fixture(scope="session")
def contextproof_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> GateRun | Outcome:
    """Sessions played against ``--builder`` and judged, once a test run."""
    option = request.config.getoption
    target, profile = _target(request.config), option("--contextproof-profile")
    from contextproof.conformance.builder import BuilderError
    from contextproof.conformance.certification.command import certify_quietly
    from contextproof.conformance.gate import run_scripted

    try:
        if profile == "scripted":
            return run_scripted(target)
        folder = tmp_path_factory.mktemp("contextproof") / "run"
        return certify_quietly(target, profile, option("--contextproof-seed"), folder)
    except BuilderError as error:
        pytest.exit(f"builder error: {error}", returncode=2)


@pytest.fixture
def contextproof_snapshots(request: pytest.FixtureRequest) -> Callable[..., None]:
    """A function that compares what a builder renders with the snapshots in a folder, by syrupy.

    ``contextproof_snapshots("package.module:factory", "snapshots")``; ``--snapshot-update`` accepts.
    Without a builder it is the one that ``--builder`` or ``--command`` names.
    """
    from contextproof.conformance.snapshot.in_pytest import checker

    return checker(request, lambda: _target(request.config))


def _target(config: pytest.Config) -> Target:
    """The builder that the options name. Raises pytest.UsageError."""
    import shlex

    from contextproof.conformance.target import TIMEOUT, Limits, Target

    factory, command = (
        config.getoption(option) if option in _ours else None for option in ("--builder", "--command")
    )
    if not factory and not command:
        raise pytest.UsageError("say which engine to measure: --builder package.module:factory, or --command")
    if factory and command:
        raise pytest.UsageError("give --builder or --command, not both")
    limits = Limits(
        timeout=config.getoption("--contextproof-timeout") or TIMEOUT,
        pass_env=tuple(config.getoption("--contextproof-pass-env") or ()),
    )
    return Target(factory=factory, command=tuple(shlex.split(command or "")), limits=limits)
