"""Words that several forms of a report share."""

from __future__ import annotations

from collections import Counter

from contextproof.conformance.certificate.model import Certificate
from contextproof.conformance.certification.outcome import Level
from contextproof.conformance.report.escape import visible
from contextproof.conformance.verdicts import HOLDING, Verdict

#: Characters of a name, and of a sentence, that are shown.
NAME, SENTENCE = 60, 600


def shortened(text: str, most: int) -> str:
    """Text from elsewhere, made visible, and cut where it would crowd out all else."""
    shown = visible(text)
    return shown if len(shown) <= most else f"{shown[:most]}… ({len(shown):,} characters)"


def named(document: Certificate) -> str:
    """The builder's name and version, each no longer than a name."""
    builder = document.builder
    return f"{shortened(builder.name, NAME)} {shortened(builder.version, NAME)}"


def level_words(document: Certificate) -> str:
    """The level in a few words."""
    if document.level is None:
        return "fails" if has_failed(document) else "not certified"
    words = {
        Level.FULL: "conforms in full",
        Level.PARTIAL: "conforms in part",
        Level.NONE: "does not conform",
    }
    return words[document.level]


def has_failed(document: Certificate) -> bool:
    """Whether something failed, or the builder broke down."""
    bad = {Verdict.FAILED, Verdict.BUILDER_ERROR, Verdict.HARNESS_ERROR}
    return document.trouble is not None or any(line.verdict in bad for line in document.requirements)


def score(document: Certificate) -> str:
    """How many requirements have which verdict, worst first."""
    counts = Counter(line.verdict for line in document.requirements)
    return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])


def holding(document: Certificate) -> tuple[int, int]:
    """Requirements that hold, and those that were to be judged."""
    return sum(line.verdict in HOLDING for line in document.requirements), len(document.requirements)
