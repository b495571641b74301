"""The units of a certification as tests, so that pytest and xdist share them out.

A unit fails here for a fault of ours alone; what it finds about the builder stands in its sessions.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextproof.conformance.adapters.reach import reach
from contextproof.conformance.adapters.twin import twin
from contextproof.conformance.builder import Builder
from contextproof.conformance.certification.budget import Unit
from contextproof.conformance.certification.folder import Box
from contextproof.conformance.certification.run import do_unit
from contextproof.conformance.memory import collect_rarely


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each unit handed out."""
    metafunc.parametrize("unit", _box(metafunc.config).handout.units, ids=lambda unit: unit.name)


def _box(config: pytest.Config) -> Box:
    path = config.getoption("--contextproof-run")
    if not path:
        raise pytest.UsageError("units are played by `contextproof certify`")
    return Box(Path(path))


@pytest.fixture(scope="session")
def builders(request: pytest.FixtureRequest) -> Iterator[tuple[Builder, Builder]]:
    """The builder and its twin, for as long as the worker lives."""
    collect_rarely()
    target = _box(request.config).handout.builder
    builder = reach(target)
    with twin(target) as other:
        yield builder, other
    builder.close()


def test_unit(unit: Unit, builders: tuple[Builder, Builder], request: pytest.FixtureRequest) -> None:
    """The unit is played and its sessions kept."""
    box = _box(request.config)
    try:
        do_unit(box, box.handout.budget, unit, *builders)
    except Exception as error:
        told = f"{unit.name}: {type(error).__name__}: {error}\n{traceback.format_exc()}"
        (box.folder / "harness-error.txt").write_text(told, encoding="utf-8")
        raise
