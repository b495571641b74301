"""A badge: level and score in a small picture, for a README."""

from __future__ import annotations

from contextproof.conformance.certificate.model import Certificate
from contextproof.conformance.certification.outcome import Level
from contextproof.conformance.report.html.templates import render
from contextproof.conformance.report.words import has_failed, holding, level_words

_GREEN, _AMBER, _RED, _GREY = "#1a7f37", "#9a6700", "#cf222e", "#57606a"
#: Pixels that a character takes at this size, with room to spare.
_CHARACTER, _MARGIN = 6.6, 12


def badge(document: Certificate) -> str:
    """The badge as SVG, its words readable without colour."""
    good, of = holding(document)
    right = f"{level_words(document)}, {good}/{of}"
    left = "contextproof"
    widths = [round(len(text) * _CHARACTER + _MARGIN) for text in (left, right)]
    return render(
        "badge.svg",
        left=left,
        right=right,
        left_width=widths[0],
        right_width=widths[1],
        colour=_colour(document),
    )


def _colour(document: Certificate) -> str:
    if has_failed(document) or document.level is Level.NONE:
        return _RED
    return {Level.FULL: _GREEN, Level.PARTIAL: _AMBER}.get(document.level, _GREY) if document.level else _GREY
