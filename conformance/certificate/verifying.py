"""Trying a certificate again: a sample of other sessions, under a nonce that nobody could know."""

from __future__ import annotations

import secrets
import tempfile
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from contextproof.conformance.certificate.model import Certificate
from contextproof.conformance.certification.budget import Budget
from contextproof.conformance.certification.command import Settings, certify
from contextproof.conformance.certification.outcome import Outcome
from contextproof.conformance.certification.reading import read
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.progress import Progress, unheard
from contextproof.conformance.shape import explain
from contextproof.conformance.target import Target
from contextproof.conformance.verdicts import HOLDING, Result, Verdict

#: Sessions of each strategy in a sample, unless more are asked for.
EXAMPLES = 12


class BadCertificate(ValueError):
    """A file is no certificate; the message says where and why."""


class Verified(Frozen):
    """What came of it.

    Attributes:
        stands: whether it is the same builder, and all that is certified held again.
        identity: how the builder differs from the certified one; empty where it is the same.
        fallen: requirements that are certified to hold and failed now.
        unseen: certified ones that the sample never put to the test, which says nothing.
        remarks: what a reader should know besides.
    """

    stands: bool
    identity: str
    fallen: tuple[Result, ...]
    unseen: tuple[str, ...]
    remarks: tuple[str, ...]
    nonce: str
    sessions: int
    outcome: Outcome


def read_certificate(path: Path) -> Certificate:
    """Read a certificate. Raises BadCertificate."""
    try:
        return Certificate.from_json(path.read_bytes())
    except OSError as error:
        raise BadCertificate(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        raise BadCertificate(f"{path}: not a certificate: {explain(error)}") from error


def verify(
    document: Certificate,
    target: Target,
    *,
    nonce: str | None = None,
    examples: int = EXAMPLES,
    workers: int = 2,
    progress: Progress = unheard,
) -> Verified:
    """Play a sample against a builder, and say whether its certificate stands.

    Raises:
        BuilderError: where the builder cannot be reached.
    """
    fresh = secrets.token_hex(8) if nonce is None else nonce
    budget = Budget(profile="gate", seed=document.budget.seed, nonce=fresh, sessions=examples)
    with tempfile.TemporaryDirectory(prefix="contextproof-verify-") as temporary:
        folder = Path(temporary) / "run"
        outcome, _ = certify(
            Settings(builder=target, budget=budget),
            folder,
            workers=workers,
            resume=False,
            known={},
            minutes=0,
            progress=progress,
            shrinks=False,
        )
        manifest = read(folder).header.manifest
    return compare(document, outcome, manifest, fresh)


def compare(document: Certificate, outcome: Outcome, manifest: Manifest, nonce: str) -> Verified:
    """What a sample says of a certificate."""
    certified = {line.id for line in document.requirements if line.verdict in HOLDING}
    mine = [result for result in outcome.results if result.requirement in certified]
    fallen = tuple(result for result in mine if result.verdict in _FALLEN)
    identity = _difference(document, manifest.name, manifest.version)
    return Verified(
        stands=not (fallen or identity or outcome.trouble) and document.level is not None,
        identity=identity,
        fallen=fallen,
        unseen=tuple(result.requirement for result in mine if result.verdict is Verdict.UNEXERCISED),
        remarks=tuple(_remarks(document)),
        nonce=nonce,
        sessions=outcome.sessions,
        outcome=outcome,
    )


#: What a requirement that is certified to hold may not come to.
_FALLEN = frozenset({Verdict.FAILED, Verdict.BUILDER_ERROR, Verdict.NOT_CLAIMED})


def _difference(document: Certificate, name: str, number: str) -> str:
    certified = (document.builder.name, document.builder.version)
    if certified == (name, number):
        return ""
    return f"the certificate is for {certified[0]} {certified[1]}, and this builder is {name} {number}"


def _remarks(document: Certificate) -> list[str]:
    told = []
    here = version("contextproof")
    if document.suite != here:
        told.append(f"certified by contextproof {document.suite}; this is {here}, which may judge otherwise")
    if document.level is None:
        told.append("the document certifies nothing: its run was narrowed, or played less than it takes")
    return told
