"""The page of requirements is what the registry says now."""

from __future__ import annotations

import json
from pathlib import Path

from contextproof.conformance.report.page import requirements_page
from contextproof.conformance.requirements import all_requirements

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_is_up_to_date() -> None:
    counts = json.loads((DOCS / "exercised.json").read_text(encoding="utf-8"))
    page = (DOCS / "requirements.md").read_text(encoding="utf-8")
    assert page == requirements_page(counts), "run: dev/env dev/requirements-page"


def test_every_requirement_of_the_specification_is_there() -> None:
    numbers = {1: 4, 2: 5, 3: 3, 4: 5, 5: 6, 6: 4, 7: 7, 8: 10, 9: 4, 10: 6}
    numbers |= {11: 8, 12: 10, 13: 9, 14: 8, 15: 4, 16: 4}
    expected = [f"CTX-{d:02d}.{n}" for d, last in numbers.items() for n in range(1, last + 1)]
    assert [requirement.id for requirement in all_requirements()] == expected


def test_a_default_certification_puts_every_requirement_to_the_test() -> None:
    counts = json.loads((DOCS / "exercised.json").read_text(encoding="utf-8"))
    assert [r.id for r in all_requirements() if not counts.get(r.id)] == []
