"""A preflight for a terminal, for a log, as Markdown and as JSON. All four say the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from rich.bar import Bar
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from contextproof.conformance.contract.caps import MIN_BODY
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.preflight.checking import Preflight
from contextproof.conformance.preflight.measuring import Answer, Measured, Reason, Weight
from contextproof.conformance.report.escape import visible

#: Characters of a bar, and items named of a class.
_WIDTH, _HEAVIEST = 30, 5
#: The narrowest bar on a terminal, and what stands beside it there.
_NARROWEST, _BESIDE = 8, 62
#: Characters of a name that are shown.
_NAME = 60
_PREFIX = "whole prefix"


class Row(NamedTuple):
    """One bar: what is measured against what, and the state of it in words."""

    label: str
    measured: int
    cap: int
    unit: str
    state: str

    @property
    def figures(self) -> str:
        """Both figures, aligned."""
        return f"{self.measured:>7,} of {self.cap:>9,} {self.unit}"


def print_preflight(found: Preflight, console: Console) -> None:
    """Bars on a terminal; plain lines anywhere else."""
    if not console.is_terminal:
        for line in lines(found):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return
    for line in _heading(found):
        console.print(escape(line), highlight=False)
    console.print(_table(found.measured, max(_NARROWEST, min(_WIDTH, console.width - _BESIDE))))
    for line in _findings(found):
        console.print(escape(line), highlight=False)
    is_open_question = found.asked is None and found.measured.answer is Answer.DEPENDS
    colour = "green" if found.opens else "yellow" if is_open_question else "red"
    console.print(f"[bold {colour}]{escape(_answer(found))}[/]", highlight=False)


def _table(measured: Measured, width: int) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("class", "", "measured", "cap", "", "state"):
        table.add_column(heading, justify="right" if heading in ("measured", "cap") else "left", no_wrap=True)
    for row in rows(measured):
        colour, cap = _colour(row), max(1, row.cap)
        bar = Bar(cap, 0, min(max(0, row.measured), cap), width=width, color=colour)
        state = f"[{colour}]{row.state}[/{colour}]" if row.state else ""
        table.add_row(row.label, bar, f"{row.measured:,}", f"{row.cap:,}", row.unit, state)
    return table


def lines(found: Preflight) -> Iterator[str]:
    """The whole result as plain lines, the answer last."""
    yield from _heading(found)
    for row in rows(found.measured):
        state = f"  {row.state}" if row.state else ""
        yield f"{row.label:<20} {_bar(row)} {row.figures}{state}"
    yield from _findings(found)
    yield _answer(found)


def rows(measured: Measured) -> Iterator[Row]:
    """What is drawn: each class against its cap, then the whole against the ceiling."""
    order = {name: number for number, name in enumerate(TokenClass)}
    for m in sorted(measured.measures, key=lambda m: order[m.token_class]):
        state = f"over by {m.measured - m.cap:,}" if m.is_over else ""
        yield Row(m.token_class.value, m.measured, m.cap, m.unit, state or _near(m.measured, m.cap))
    prefix = measured.prefix
    if measured.model.limit < MIN_BODY:
        left = measured.model.limit
        yield Row("left by the reserve", left, MIN_BODY, "tokens", f"short by {MIN_BODY - left:,}")
    elif prefix.sent is not None:
        over = prefix.sent - prefix.ceiling
        state = f"over by {over:,}" if over > 0 else _near(prefix.sent, prefix.ceiling)
        yield Row(_PREFIX, prefix.sent, prefix.ceiling, "tokens", state)
    elif prefix.least > prefix.ceiling:
        over = prefix.least - prefix.ceiling
        yield Row(_PREFIX, prefix.least, prefix.ceiling, "tokens", f"over by {over:,} at the least")
    else:
        may_be_over = f"may be over: {prefix.least:,} to {prefix.most:,}"
        state = may_be_over if prefix.most > prefix.ceiling else "at the most"
        yield Row(_PREFIX, prefix.most, prefix.ceiling, "tokens", state)


def _near(measured: int, cap: int) -> str:
    return "exactly at it" if measured == cap else ""


def _colour(row: Row) -> str:
    if row.state.startswith(("over", "short")):
        return "red"
    return "yellow" if row.state.startswith(("may", "exactly")) else "green"


def _bar(row: Row) -> str:
    """A bar of plain characters. What is over goes beyond its end."""
    is_over = row.measured > row.cap
    share = _WIDTH * max(0, row.measured) / row.cap if row.cap > 0 else _WIDTH
    filled = _WIDTH if is_over else min(_WIDTH, int(share) + (share % 1 > 0))
    return f"[{'#' * filled:.<{_WIDTH}}{'>' if is_over else ']'}"


# --- What is said beside the bars ------------------------------------------------------------------------


def _heading(found: Preflight) -> Iterator[str]:
    model, measured = found.measured.model, found.measured
    yield (
        f"model {_name(model.name)}: counted by {model.tokenizer}, window {model.window:,}, "
        f"output reserve {model.output_reserve:,}, overhead of a block {model.overhead_per_block:,}"
    )
    for line in found.configuration.tools_read:
        yield visible(line)
    if measured.registered_tools:
        permitted, registered = measured.permitted_tools, measured.registered_tools
        yield f"{permitted:,} of {registered:,} tools are permitted, and only these count"


def _findings(found: Preflight) -> Iterator[str]:
    for name in TokenClass:
        told = _heaviest(found.measured, name)
        if told:
            yield f"heaviest of {name}: {told}"
    for note in found.configuration.notes:
        yield f"note: {visible(note)}"
    yield _ceiling(found.measured)
    yield from _as_sent(found)
    for reason in found.measured.reasons:
        yield _reason(found.measured, reason)


def _heaviest(measured: Measured, name: TokenClass) -> str:
    """The heaviest items of a class; of texts only where there are several and they are too long."""
    some = [weight for weight in measured.weights if weight.token_class is name]
    is_list = name in (TokenClass.TOOL_DEFINITIONS, TokenClass.MEMORY_SNAPSHOT)
    is_over = any(reason.token_class is name for reason in measured.reasons)
    if not some or not (is_list or (is_over and len(some) > 1)):
        return ""
    more = f", and {len(some) - _HEAVIEST:,} more" if len(some) > _HEAVIEST else ""
    return ", ".join(map(_weight, some[:_HEAVIEST])) + more


def _weight(weight: Weight) -> str:
    parts = ""
    if weight.description_tokens is not None:
        parts = f" (description {weight.description_tokens:,}, schema {weight.schema_tokens:,})"
    return f"{_name(weight.name)} {weight.tokens:,}{parts}"


def _ceiling(measured: Measured) -> str:
    model, prefix = measured.model, measured.prefix
    return (
        f"ceiling of the whole prefix: {model.window:,} - {model.output_reserve:,} - {MIN_BODY:,} = "
        f"{prefix.ceiling:,}; content {prefix.content:,}, with the model's own overhead {prefix.least:,}"
    )


def _as_sent(found: Preflight) -> Iterator[str]:
    """What envelopes and framing add: by a builder's own plan, or between two bounds."""
    prefix, asked = found.measured.prefix, found.asked
    if asked is None:
        yield (
            f"not measured is what a builder adds: up to {prefix.most - prefix.least:,} tokens for framing "
            "and envelopes, and what escaping takes; --builder or --command asks yours"
        )
        return
    yield f"builder {_name(asked.name)}: {visible(asked.answered)}"
    if prefix.sent is not None:
        by_class = ", ".join(f"{name} {tokens:,}" for name, tokens in asked.by_class.items())
        added = prefix.sent - prefix.least
        yield f"as it sends it: {prefix.sent:,} ({by_class}), {added:,} of it framing, envelopes and escaping"
        if not found.configuration.has_secret:
            yield "note: without platform_secret its nonces differ from yours, by a few tokens"
    for difference in asked.differences:
        yield f"the builder disagrees: {difference}"


def _reason(measured: Measured, reason: Reason) -> str:
    figures = f"{reason.measured:,} of {reason.cap:,} {reason.unit}"
    if reason.rule == "output_reserve":
        return f"OVER output_reserve: it leaves {figures} that are the least"
    if reason.rule == "ceiling":
        told = f"{reason.token_class} is the largest class"
        if measured.answer is Answer.DEPENDS:
            return f"NEAR the ceiling: the prefix may take {figures}; {told}"
        return f"OVER the ceiling: the prefix takes {figures}, {reason.by:,} too many; {told}"
    return f"OVER {reason.token_class}: {figures}, {reason.by:,} too many{_cure(measured, reason)}"


def _cure(measured: Measured, reason: Reason) -> str:
    """The fewest items without which the class is within its cap, where that leaves any."""
    some = [weight for weight in measured.weights if weight.token_class is reason.token_class]
    if reason.unit == "items":
        return ""
    saved, dropped = 0, 0
    while saved < reason.by and dropped < len(some):
        saved += some[dropped].tokens
        dropped += 1
    if saved < reason.by or dropped == len(some):
        return ""
    shown = ", ".join(_name(weight.name) for weight in some[: min(dropped, _HEAVIEST)])
    more = f" and {dropped - _HEAVIEST:,} more" if dropped > _HEAVIEST else ""
    return f"; without {shown}{more} it is within"


def _answer(found: Preflight) -> str:
    if found.opens:
        return "opens: a session opens with this configuration"
    if found.measured.answer is Answer.DEPENDS and found.asked is None:
        return "depends on the builder: ask yours with --builder or --command"
    return "refused: no session opens with this configuration"


def _name(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= _NAME else f"{shown[:_NAME]}…"


# --- Markdown and JSON -----------------------------------------------------------------------------------


def markdown(found: Preflight) -> Iterator[str]:
    """The result as Markdown, for a job's summary or a comment. Whatever came from outside is code."""
    yield f"### Preflight: {_answer(found)}"
    yield ""
    yield "| class | | measured | cap | unit | state |"
    yield "| --- | --- | ---: | ---: | --- | --- |"
    for row in rows(found.measured):
        yield (f"| {row.label} | `{_bar(row)}` | {row.measured:,} | {row.cap:,} | {row.unit} | {row.state} |")
    yield ""
    for line in (*_heading(found), *_findings(found)):
        yield f"- {_code(line)}"


def _code(line: str) -> str:
    """A code span that nothing within can close."""
    longest = max(map(len, re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def as_json(found: Preflight) -> str:
    """The result as one JSON document, in ASCII."""
    measured = found.measured
    document = {
        "opens": found.opens,
        "answer": measured.answer.value,
        "reasons": [reason.model_dump(mode="json") | {"by": reason.by} for reason in measured.reasons],
        "model": measured.model.model_dump(mode="json"),
        "classes": [m._asdict() for m in measured.measures],
        "prefix": measured.prefix.model_dump(mode="json"),
        "weights": [weight.model_dump(mode="json") for weight in measured.weights],
        "tools": {"registered": measured.registered_tools, "permitted": measured.permitted_tools},
        "tools_read": list(found.configuration.tools_read),
        "notes": list(found.configuration.notes),
        "builder": None if found.asked is None else found.asked.model_dump(mode="json"),
    }
    return json.dumps(document, indent=1, ensure_ascii=True)
