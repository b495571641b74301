"""The units of a certification as tests, so that pytest and xdist share them out.

A unit fails here for a fault of ours alone; what it finds about the builder stands in its record.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import pytest

from contextproof.conformance.adapters.in_process import load
from contextproof.conformance.adapters.twin import twin
from contextproof.conformance.builder import Builder
from contextproof.conformance.certification.budget import Unit
from contextproof.conformance.certification.run import Folder, do_unit


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each unit handed out."""
    folder = _folder(metafunc.config)
    metafunc.parametrize("unit", folder.todo(), ids=lambda unit: unit.name)


def _folder(config: pytest.Config) -> Folder:
    from pathlib import Path

    path = config.getoption("--contextproof-run")
    if not path:
        raise pytest.UsageError("units are played by `contextproof certify`")
    return Folder(Path(path))


@pytest.fixture(scope="session")
def builders(request: pytest.FixtureRequest) -> Iterator[tuple[Builder, Builder]]:
    """The builder and its twin, for as long as the worker lives."""
    spec = _folder(request.config).settings.builder
    builder = load(spec)
    with twin(spec) as other:
        yield builder, other
    builder.close()


def test_unit(unit: Unit, builders: tuple[Builder, Builder], request: pytest.FixtureRequest) -> None:
    """The unit is played and its record kept."""
    folder = _folder(request.config)
    try:
        do_unit(folder, unit, *builders)
    except Exception as error:
        told = f"{unit.name}: {type(error).__name__}: {error}\n{traceback.format_exc()}"
        (folder.path / "harness-error.txt").write_text(told, encoding="utf-8")
        raise
