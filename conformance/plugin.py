"""The pytest plugin. It is installed in other people's environments: without ``--builder`` it does nothing.

It imports nothing of ours until it is asked to measure, and loads no Hypothesis profile.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from contextproof.conformance.certification.outcome import Outcome
    from contextproof.conformance.gate import GateRun


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options; ``--builder`` only where the project at hand has no option of that name."""
    group = parser.getgroup("contextproof", "context engine conformance")
    with contextlib.suppress(ValueError):
        group.addoption(
            "--builder",
            metavar="MODULE:FACTORY",
            default=None,
            help="the context engine to measure; see `contextproof gate --help`",
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
    spec, profile = option("--builder", default=None), option("--contextproof-profile")
    if not spec:
        raise pytest.UsageError("say which engine to measure: --builder package.module:factory")
    from contextproof.conformance.builder import BuilderError
    from contextproof.conformance.certification.command import certify_quietly
    from contextproof.conformance.gate import run_scripted

    try:
        if profile == "scripted":
            return run_scripted(spec)
        folder = tmp_path_factory.mktemp("contextproof") / "run"
        return certify_quietly(spec, profile, option("--contextproof-seed"), folder)
    except BuilderError as error:
        pytest.exit(f"builder error: {error}", returncode=2)
