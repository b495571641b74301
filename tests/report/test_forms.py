"""Markdown, JUnit, badge, certificate and annotations: true to the record, and closed to hostile text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from contextproof.conformance.certificate.making import certificate, reproduce
from contextproof.conformance.certificate.model import Certificate
from contextproof.conformance.certification.outcome import outcome_of
from contextproof.conformance.contract.vocabulary import Decision
from contextproof.conformance.report.annotations import add_job_summary, annotation_lines, in_github
from contextproof.conformance.report.badge import badge
from contextproof.conformance.report.forms import FORMS, as_json, write_forms
from contextproof.conformance.report.junit import junit
from contextproof.conformance.report.markdown import escaped, summary
from contextproof.conformance.requirements import all_requirements
from contextproof.conformance.verdicts import Verdict
from report.hostile import ATTACKS, TEXT
from report.runs import HOSTILE, REFERENCE, STAMPED, run_of


def document(spec: str) -> Certificate:
    return certificate(run_of(spec))


@pytest.fixture(params=[REFERENCE, STAMPED, HOSTILE])
def made(request: pytest.FixtureRequest) -> Certificate:
    return document(request.param)


def test_a_certificate_is_read_back_as_it_was_written(made: Certificate) -> None:
    assert Certificate.from_json(as_json(made)) == made


def test_a_certificate_lists_every_requirement_with_its_evidence(made: Certificate) -> None:
    assert [line.id for line in made.requirements] == [r.id for r in all_requirements()]
    assert all(line.witnesses for line in made.requirements)
    assert len(made.gates) == 5


def test_a_certificate_says_what_it_does_not_claim_and_that_nothing_was_calibrated() -> None:
    run = run_of(REFERENCE)
    manifest = run.header.manifest.model_copy(
        update={"claims": (Decision.ORDER,), "structural": ("tool_call",)}
    )
    header = run.header.model_copy(update={"manifest": manifest})
    found = certificate(replace(run, header=header, footer=None))
    assert len(found.not_claimed) == len(Decision) - 1
    assert [one.subject for one in found.deviations] == ["structural types"]
    assert {line.verdict for line in found.requirements} >= {Verdict.NOT_CLAIMED}


def test_a_small_run_certifies_nothing_and_says_why() -> None:
    found = document(REFERENCE)
    assert found.level is None
    assert "it played less than a certification does" in found.verdict


def test_the_command_to_reproduce_has_seed_nonce_and_builder() -> None:
    header = run_of(STAMPED).header
    budget = header.budget.model_copy(update={"nonce": "it's mine", "only": ("CTX-03",)})
    command = reproduce(header.model_copy(update={"budget": budget}))
    assert "--seed 5 --nonce 'it'\"'\"'s mine' --only CTX-03" in command
    assert command.endswith(f"--builder {STAMPED}")


def test_markdown_tells_the_first_cause_first_and_how_to_replay_it() -> None:
    text = summary(document(STAMPED))
    assert text.startswith("## contextproof&#45;reference 1&#46;0: fails")
    assert text.index("### Failed: CTX-03.2") < text.index("Follows from CTX-03.2")
    assert "contextproof replay counterexamples/CTX&#45;03&#46;2&#46;json" in text


def test_hostile_text_stays_text_in_markdown() -> None:
    text = summary(document(HOSTILE))
    ours = re.sub(r"</?(details|summary|br|code)>", "", text)
    assert not set("<>`@!{}~$") & set(re.sub(r"&#\d+;", "", ours))
    assert "](" not in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(line.strip("|").split("|")) in (3, 5), line
    assert "\n" not in escaped(TEXT)


def test_junit_has_a_case_for_each_requirement_and_counts_right(made: Certificate) -> None:
    root = ET.fromstring(junit(made))
    cases = [case for suite in root for case in suite if suite.get("name") != "builder"]
    assert len(cases) == len(made.requirements)
    for suite in root:
        assert suite.get("tests") == str(len(suite))
        assert suite.get("failures") == str(len(suite.findall("testcase/failure")))
    failed = [
        case.get("name") for case in root.iter("testcase") if case.find("failure[@type='failed']") is not None
    ]
    assert len(failed) == sum(line.verdict is Verdict.FAILED for line in made.requirements)


def test_a_badge_says_it_in_words(made: Certificate) -> None:
    root = ET.fromstring(badge(made))
    assert root.get("aria-label", "").startswith("contextproof: ")
    assert f"/{len(made.requirements)}" in root.get("aria-label", "")


def test_annotations_are_one_line_each_and_cannot_be_forged() -> None:
    outcome = outcome_of(run_of(HOSTILE))
    found = list(annotation_lines(outcome.results, [trouble.error for trouble in outcome.trouble]))
    assert found
    for line in found:
        assert re.match(r"::(error|warning) title=[^:,\r\n]*::", line), line
        assert "\n" not in line
        assert "\r" not in line
        assert "%0A" not in line.replace("%250A", "")
    assert not any(attack in line.partition("::")[0] for line in found for attack in ATTACKS)


def test_the_job_summary_is_added_to_where_github_wants_it(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n", encoding="utf-8")
    add_job_summary("after\n", {"GITHUB_STEP_SUMMARY": str(path)})
    add_job_summary("nowhere\n", {})
    assert path.read_text(encoding="utf-8") == "before\nafter\n"
    assert in_github({"GITHUB_ACTIONS": "true"})
    assert not in_github({"GITHUB_ACTIONS": "false"})


def test_several_forms_are_written_at_once(tmp_path: Path) -> None:
    wanted = {form: tmp_path / "deep" / form for form in FORMS}
    write_forms(run_of(STAMPED), wanted)
    assert all(path.read_text(encoding="utf-8") for path in wanted.values())
