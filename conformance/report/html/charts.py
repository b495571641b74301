"""Charts by Vega-Altair, as SVG that stands in the page: no script, and ink that follows the page's theme.

The library is an extra of the distribution. Without it there are no charts, and the page has tables alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from contextproof.conformance.contract.vocabulary import CLASS_OF_PLACE
from contextproof.conformance.report.html.distributions import Histogram
from contextproof.conformance.report.html.turns import OTHER, Row

if TYPE_CHECKING:
    import altair as alt

#: Stands for the page's own ink, and is exchanged for it in the drawing.
_INK, _GRID = "#010203", "#040506"
#: Prefix in blues, then the body; all readable on white and on near-black.
_COLOURS = (
    *("#1d4e89", "#2a6fb5", "#4a90d9", "#6fb1f0", "#9acbf5"),
    *("#b5651d", "#8d8d8d", "#c9a227", "#a3559e", "#5e8c31", "#d1495b", "#3aa6a0", "#e07b39", "#d62bd6"),
)
_CLASSES = (*(name.value for name in CLASS_OF_PLACE.values()), OTHER)
_WIDTH = 960
_CHANGED = "prefix changed"
#: Changes of the prefix up to which each is written beside its mark.
_HASHES = 12
_MARKS = ("compaction", "results made pointers", "recall left out", _CHANGED, "epoch")


def are_there() -> bool:
    """Whether charts can be drawn here."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def session_chart(rows: Sequence[Row]) -> str:
    """A session: what each request is made of, what happened to it, and what of it was cached."""
    import altair as alt

    x, last = _x(rows, None), _x(rows, "request")
    parts = (_marks(rows, x), _stack(rows, x), _share(rows, x), _ratio(rows, last))
    return _svg(alt.vconcat(*parts, spacing=14), "turns")


def _x(rows: Sequence[Row], title: str | None) -> alt.X:
    import altair as alt

    return alt.X(
        "request:Q",
        scale=alt.Scale(domain=[0.4, len(rows) + 0.6], nice=False, zero=False, padding=0),
        axis=alt.Axis(title=title, grid=False, tickMinStep=1, format="d"),
    )


def _stack(rows: Sequence[Row], x: alt.X) -> alt.LayerChart:
    """Tokens by class, with the prefix's upper edge, the limit and the window."""
    import altair as alt

    bars = [
        {
            "request": row.number,
            "class": name.replace("_", " "),
            "place": _CLASSES.index(name),
            "tokens": tokens,
        }
        for row in rows
        for name, tokens in row.by_class.items()
    ]
    names = [name.replace("_", " ") for name in _CLASSES if any(name in row.by_class for row in rows)]
    colours = [_COLOURS[_CLASSES.index(name.replace(" ", "_")) if name != OTHER else -1] for name in names]
    y = alt.Y("tokens:Q", axis=alt.Axis(title="tokens", format="~s"), stack="zero")
    stacked = (
        alt.Chart(_data(bars))
        .mark_bar(size=max(2, round(0.8 * _WIDTH / (len(rows) + 1))), clip=False)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "class:N",
                scale=alt.Scale(domain=names, range=colours),
                legend=alt.Legend(title="class", symbolLimit=0),
            ),
            order=alt.Order("place:Q"),
        )
    )
    lines = [
        {"request": row.number, "what": what, "tokens": tokens}
        for row in rows
        for what, tokens in (
            ("window", row.point.window),
            ("limit: window less reserve", row.point.limit),
            ("end of the prefix", row.prefix),
        )
    ]
    dashes = alt.Scale(
        domain=["window", "limit: window less reserve", "end of the prefix"], range=[[1, 0], [6, 3], [2, 2]]
    )
    drawn = (
        alt.Chart(_data(lines))
        .mark_line(interpolate="step", color=_INK, strokeWidth=1.3)
        .encode(
            x=x,
            y=alt.Y("tokens:Q"),
            strokeDash=alt.StrokeDash("what:N", scale=dashes, legend=alt.Legend(title="line")),
        )
    )
    return alt.layer(stacked, drawn).properties(width=_WIDTH, height=300)


def _marks(rows: Sequence[Row], x: alt.X) -> alt.LayerChart:
    """What happened at which request: a row for each kind, a number where there were several."""
    import altair as alt

    found = [
        {"request": row.number, "what": what, "told": told} for row in rows for what, told in _happened(row)
    ]
    if sum(row.is_new_hash for row in rows) > _HASHES:  # they would be written over one another
        found = [one | {"told": ""} if one["what"] == _CHANGED else one for one in found]
    kinds = alt.Y(
        "what:N",
        scale=alt.Scale(domain=list(_MARKS)),
        axis=alt.Axis(title=None, grid=True, labelLimit=200, domain=False, ticks=False),
    )
    base = alt.Chart(_data(found)).encode(x=x, y=kinds)
    points = base.mark_point(shape="diamond", filled=True, size=55, color=_INK)
    words = base.mark_text(dy=-9, fontSize=9, color=_INK).encode(text="told:N")
    return alt.layer(points, words).properties(width=_WIDTH, height=140)


def _happened(row: Row) -> Iterable[tuple[str, str]]:
    point = row.point
    if row.is_new_epoch or row.number == 1:
        yield "epoch", str(point.epoch)
    if row.is_new_hash or row.number == 1:
        yield _CHANGED, row.hash[:6]
    for what, times in (
        ("recall left out", point.recall),
        ("results made pointers", point.results),
        ("compaction", point.compactions),
    ):
        if times:
            yield what, str(times) if times > 1 else ""


def _share(rows: Sequence[Row], x: alt.X) -> alt.Chart:
    import altair as alt

    values = [{"request": row.number, "share": row.cached} for row in rows]
    return (
        alt.Chart(_data(values))
        .mark_line(color="#2a8f5b", interpolate="step", strokeWidth=1.6)
        .encode(
            x=x,
            y=alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(title="cached", tickCount=3)),
        )
        .properties(width=_WIDTH, height=80)
    )


def _ratio(rows: Sequence[Row], x: alt.X) -> alt.LayerChart:
    import altair as alt

    values = [{"request": row.number, "ratio": row.ratio} for row in rows if row.ratio is not None]
    low = min([1.0, *(value["ratio"] for value in values)])
    high = max([1.05, *(value["ratio"] for value in values)])
    y = alt.Y(
        "ratio:Q",
        scale=alt.Scale(domain=[low, high], nice=True),
        axis=alt.Axis(title="estimate / count", tickCount=3),
    )
    line = alt.Chart(_data(values)).mark_line(color="#c2571a", strokeWidth=1.6).encode(x=x, y=y)
    one = alt.Chart(_data([{"one": 1}])).mark_rule(color=_INK, strokeDash=[4, 3]).encode(y="one:Q")
    return alt.layer(line, one).properties(width=_WIDTH, height=80)


def histogram_chart(histogram: Histogram, name: str) -> str:
    """How many sessions have how much of something."""
    import altair as alt

    values = [{"from": low, "to": high, "sessions": times} for low, high, times in histogram.bins]
    chart = (
        alt.Chart(_data(values))
        .mark_bar(color="#2a6fb5")
        .encode(
            x=alt.X(
                "from:Q",
                bin="binned",
                axis=alt.Axis(title=histogram.title, grid=False),
                scale=alt.Scale(nice=False, zero=False),
            ),
            x2="to:Q",
            y=alt.Y("sessions:Q", axis=alt.Axis(title=histogram.of, tickMinStep=1, tickCount=4)),
        )
        .properties(width=250, height=130)
    )
    return _svg(chart, name)


def _data(values: Sequence[dict[str, Any]]) -> alt.Data:
    import altair as alt

    return alt.Data(values=list(values))


def _svg(chart: alt.VConcatChart | alt.Chart, name: str) -> str:
    """The drawing, to stand within a page: ids of its own, ink of the page's, no size but its shape."""
    import vl_convert

    themed = chart.configure(
        background="transparent",
        font="sans-serif",
        axis={
            "labelColor": _INK,
            "titleColor": _INK,
            "domainColor": _INK,
            "tickColor": _INK,
            "gridColor": _GRID,
            "titleFontWeight": "normal",
        },
        legend={"labelColor": _INK, "titleColor": _INK, "titleFontWeight": "normal"},
        view={"stroke": None},
    )
    drawn: str = vl_convert.vegalite_to_svg(json.dumps(themed.to_dict()))
    drawn = drawn.replace(_INK, "currentColor").replace(_GRID, "#80808050")
    drawn = re.sub(r'\b(id="|url\(#|href="#)', rf"\g<1>{name}-", drawn)
    return re.sub(r'<svg\b([^>]*?)\swidth="[^"]*"\sheight="[^"]*"', r"<svg\1", drawn, count=1)
