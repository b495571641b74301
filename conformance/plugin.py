"""The pytest plugin. It is installed in other people's environments: without ``--builder`` it does nothing.

It imports nothing of ours until it is asked to measure, and loads no Hypothesis profile.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from contextproof.conformance.gate import GateRun


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--builder``, unless the project at hand has an option of that name."""
    group = parser.getgroup("contextproof", "context engine conformance")
    with contextlib.suppress(ValueError):
        group.addoption(
            "--builder",
            metavar="MODULE:FACTORY",
            default=None,
            help="the context engine to measure; see `contextproof gate --help`",
        )
    group.addoption("--contextproof-run", default=None, help="the folder of a certification's run")


@pytest.fixture(scope="session")
def contextproof_gate(request: pytest.FixtureRequest) -> GateRun:
    """The scripted sessions played against ``--builder`` and judged, once a test run."""
    spec = request.config.getoption("--builder", default=None)
    if not spec:
        raise pytest.UsageError("say which engine to measure: --builder package.module:factory")
    from contextproof.conformance.builder import BuilderError
    from contextproof.conformance.gate import run_scripted

    try:
        return run_scripted(spec)
    except BuilderError as error:
        pytest.exit(f"builder error: {error}", returncode=2)
