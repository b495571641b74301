"""A certificate stands where it is tried again against the same builder and nothing falls."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextproof.conformance.certificate.making import certificate
from contextproof.conformance.certificate.model import Certificate
from contextproof.conformance.certificate.verifying import (
    BadCertificate,
    Verified,
    compare,
    read_certificate,
)
from contextproof.conformance.certification.outcome import Level, outcome_of
from contextproof.conformance.report.forms import as_json
from contextproof.conformance.report.verification import verification_lines
from report.runs import REFERENCE, STAMPED, run_of


def certified(**changes: object) -> Certificate:
    """A certificate of the reference, as if the run had been a whole one."""
    return certificate(run_of(REFERENCE)).model_copy(update={"level": Level.FULL, **changes})


def tried(document: Certificate, spec: str) -> Verified:
    run = run_of(spec)
    return compare(document, outcome_of(run), run.header.manifest, "a nonce")


def test_it_stands_where_all_that_is_certified_holds_again() -> None:
    found = tried(certified(), REFERENCE)
    assert found.stands
    assert list(verification_lines(certified(), found))[-1].startswith("the certificate stands")


def test_it_falls_where_a_certified_requirement_fails() -> None:
    found = tried(certified(), STAMPED)
    assert not found.stands
    assert "CTX-03.2" in [result.requirement for result in found.fallen]
    told = list(verification_lines(certified(), found))
    assert any(line.startswith("FAILED CTX-03.2") for line in told)
    assert "does not stand" in told[-1]


def test_it_is_of_no_use_to_another_builder_or_version() -> None:
    builder = certified().builder.model_copy(update={"version": "0.9"})
    document = certified(builder=builder)
    found = tried(document, REFERENCE)
    assert not found.stands
    assert "contextproof-reference 0.9" in found.identity
    assert "another builder" in list(verification_lines(document, found))[-1]


def test_another_version_of_the_suite_is_told_and_does_not_decide() -> None:
    found = tried(certified(suite="0.0.9"), REFERENCE)
    assert found.stands
    assert any("0.0.9" in remark for remark in found.remarks)


def test_what_certifies_nothing_does_not_stand() -> None:
    assert not tried(certificate(run_of(REFERENCE)), REFERENCE).stands


def test_a_file_that_is_no_certificate_is_told(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    with pytest.raises(BadCertificate, match="cannot be read"):
        read_certificate(path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(BadCertificate, match="not a certificate"):
        read_certificate(path)
    path.write_text(as_json(certified()), encoding="utf-8")
    assert read_certificate(path) == certified()
