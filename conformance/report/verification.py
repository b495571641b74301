"""What became of a certificate that was tried again, as lines."""

from __future__ import annotations

from collections.abc import Iterator

from contextproof.conformance.certificate.model import Certificate
from contextproof.conformance.certificate.verifying import Verified
from contextproof.conformance.report.escape import visible
from contextproof.conformance.report.gate import failure_lines
from contextproof.conformance.report.words import holding

#: Failures told in full.
_TOLD = 6


def verification_lines(document: Certificate, found: Verified) -> Iterator[str]:
    """What was played, what fell, and the answer last."""
    level = document.level.value if document.level is not None else "none certified"
    named = f"{visible(document.builder.name)} {visible(document.builder.version)}"
    yield f"certificate of {named}, level {level}"
    yield f"played {found.sessions:,} other sessions under nonce {visible(found.nonce)}"
    yield from map(visible, found.remarks)
    if found.identity:
        yield visible(found.identity)
    for result in found.fallen[:_TOLD]:
        yield from failure_lines(result)
    if len(found.fallen) > _TOLD:
        more = ", ".join(result.requirement for result in found.fallen[_TOLD:])
        yield f"and {len(found.fallen) - _TOLD} more: {more}"
    for trouble in found.outcome.trouble[:1]:
        yield f"builder error in {len(found.outcome.trouble):,} sessions, first: {visible(trouble.error)}"
    if found.unseen:
        yield f"not put to the test by this sample: {', '.join(found.unseen)}"
    yield _answer(document, found)


def _answer(document: Certificate, found: Verified) -> str:
    if found.stands:
        held = holding(document)[0] - len(found.unseen)
        return f"the certificate stands: {held} requirements held again"
    if found.identity:
        return "the certificate does not stand: it was given to another builder"
    if found.fallen:
        ids = ", ".join(result.requirement for result in found.fallen)
        return f"the certificate does not stand: {ids} failed"
    if found.outcome.trouble:
        return "the certificate does not stand: the builder broke down"
    return "there is nothing to stand: the document certifies nothing"
