"""The engine as a whole: what it declares, that it has every port, and that it imports no more."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from contextproof import reference_impl
from contextproof.conformance.contract.calls import METHODS
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.vocabulary import Decision, Place, Region, declared_types
from contextproof.reference_impl.engine import factory
from contextproof.reference_impl.regions import region_of

FOLDER = Path(reference_impl.__file__).parent
CONTRACT = "contextproof.conformance.contract"
OWN = "contextproof.reference_impl"


def test_it_claims_every_decision_in_the_records_own_order() -> None:
    manifest = factory().manifest
    assert set(manifest.claims) == set(Decision)
    assert manifest.order == tuple(Place)
    assert Manifest.from_json(manifest.canonical()) == manifest


def test_it_answers_every_call_of_the_contract() -> None:
    engine = factory()
    assert [name for name in METHODS if not callable(getattr(engine, name, None))] == []


def test_every_rendered_type_has_a_codec_but_the_platforms_own() -> None:
    manifest = factory().manifest
    rendered = {*declared_types(Region.A), *declared_types(Region.B)}
    assert {entry.type for entry in manifest.codecs} == rendered - {"platform_policy", "framing"}


@pytest.mark.parametrize("item_type", ["sticker", "usage"])
def test_a_type_without_a_region_to_be_rendered_in_cannot_be_placed(item_type: str) -> None:
    with pytest.raises(LookupError, match=item_type):
        region_of(item_type)


def imports(path: Path) -> set[str]:
    """The modules that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_it_knows_the_contract_and_no_clock_chance_or_environment(path: Path) -> None:
    barred = {"datetime", "io", "os", "pathlib", "random", "secrets", "socket", "time", "uuid"}
    for name in imports(path):
        is_ours = name == OWN or name.startswith((f"{OWN}.", f"{CONTRACT}."))
        top = name.split(".")[0]
        assert is_ours or top in sys.stdlib_module_names, name
        assert top not in barred, name
