"""The page: what its template is given, from the run and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby

from markupsafe import Markup

from contextproof.conformance.certificate.making import failing
from contextproof.conformance.certificate.model import Certificate, RequirementLine
from contextproof.conformance.certification.outcome import Level
from contextproof.conformance.certification.reading import Run
from contextproof.conformance.certification.record import CounterexampleLine
from contextproof.conformance.contract.vocabulary import Decision
from contextproof.conformance.report.gate import metric_rows
from contextproof.conformance.report.html import charts
from contextproof.conformance.report.html.distributions import Histogram, histograms
from contextproof.conformance.report.html.rendering import BlockView, StepView, block_views, step_views
from contextproof.conformance.report.html.templates import render
from contextproof.conformance.report.html.turns import pictured, rows
from contextproof.conformance.report.page import TITLES
from contextproof.conformance.report.words import has_failed, level_words, named, score
from contextproof.conformance.verdicts import HOLDING, Verdict

_SIGNS = {
    Verdict.HARNESS_ERROR: "‼",
    Verdict.FAILED: "✗",
    Verdict.BUILDER_ERROR: "✗",
    Verdict.UNEXERCISED: "○",
    Verdict.WARNED: "!",
    Verdict.PASSED: "✓",
    Verdict.HELD_BY_TRANSPORT: "✓",
    Verdict.NOT_REACHABLE: "✓",
    Verdict.NOT_CLAIMED: "–",
}


@dataclass(frozen=True)
class DecisionView:
    """A decision, with its requirements and what they come to."""

    title: str
    lines: tuple[RequirementLine, ...]

    @property
    def bad(self) -> int:
        """Requirements that bar it."""
        return sum(line.verdict not in HOLDING | {Verdict.NOT_CLAIMED} for line in self.lines)


@dataclass(frozen=True)
class CounterexampleView:
    """A counterexample, and how it is drawn."""

    line: CounterexampleLine
    steps: list[StepView]
    blocks: list[BlockView]
    command: str


@dataclass(frozen=True)
class HistogramView:
    """A distribution, and its drawing, if there are drawings."""

    histogram: Histogram
    svg: Markup | None


def page(run: Run, document: Certificate) -> str:
    """The whole page."""
    drawn = pictured(run)
    turns = rows(drawn) if drawn is not None else []
    with_charts = charts.are_there()
    return render(
        "page.html",
        css=Markup(_text("page.css")),  # noqa: S704 -- our own file
        document=document,
        name=named(document),
        state=run.state,
        tone=_tone(document),
        level=level_words(document),
        score=score(document),
        failures=failing(document),
        decisions=_decisions(document),
        metrics=metric_rows(document.metrics),
        signs=_SIGNS,
        holding=HOLDING,
        session=drawn.session if drawn is not None else "",
        turns=turns,
        turns_svg=_safe(charts.session_chart(turns)) if turns and with_charts else None,
        histograms=[
            HistogramView(one, _safe(charts.histogram_chart(one, f"h{number}")) if with_charts else None)
            for number, one in enumerate(histograms(run))
        ],
        with_charts=with_charts,
        counterexamples=[_counterexample(line, document) for line in run.counterexamples],
        titles=TITLES,
    )


def _tone(document: Certificate) -> str:
    if has_failed(document) or document.level is Level.NONE:
        return "bad"
    return "good" if document.level is Level.FULL else "open"


def _decisions(document: Certificate) -> list[DecisionView]:
    grouped = groupby(document.requirements, key=lambda line: line.decision)
    return [DecisionView(decision_title(decision), tuple(lines)) for decision, lines in grouped]


def decision_title(decision: Decision) -> str:
    """Number and title."""
    return f"{int(decision.value[1:])} {TITLES[decision.value]}"


def _counterexample(line: CounterexampleLine, document: Certificate) -> CounterexampleView:
    command = f"contextproof replay {line.file} {document.builder.reached.option}"
    return CounterexampleView(line, step_views(line), block_views(line), command)


def _safe(svg: str) -> Markup:
    """A drawing of ours: numbers and names of the contract alone, escaped by the library."""
    return Markup(svg)  # noqa: S704


def _text(name: str) -> str:
    return files("contextproof.conformance.report.html").joinpath(name).read_text(encoding="utf-8")
