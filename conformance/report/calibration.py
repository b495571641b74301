"""A calibration's matrix for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.table import Table

from contextproof.calibration.inseparable import INSEPARABLE
from contextproof.calibration.null import EXCUSED
from contextproof.conformance.calibrating.matrix import (
    FaultyRow,
    Matrix,
    NullRow,
    OddRow,
    Share,
    complaints,
    independent,
)
from contextproof.conformance.report.escape import visible

_ODD = ("engine", "sessions", "false alarms")
_FAULTY = (
    "engine",
    "breaks",
    "first told",
    "seeds",
    "hits",
    "in a certification",
    "sessions",
    "steps",
    "others",
)


#: Columns that the tables need, and faulty engines that are all shown on a terminal.
_WIDTH, _SCREEN = 150, 24


def print_matrix(found: Matrix, console: Console) -> None:
    """Print the tables, what falls short, and the figures last."""
    wide = Console(file=console.file, width=max(console.width, _WIDTH))
    for part in _tables(found):
        wide.print(part)
    for line in (*complaints(found), *figures(found)):
        console.print(visible(line), markup=False, highlight=False, soft_wrap=True)


def figures(found: Matrix) -> tuple[str, ...]:
    """The figures that the whole comes to, a line each."""
    right = sum(row.is_right for row in found.faulty)
    alarms = sum(len(row.alarms) for row in found.odd)
    return (
        f"faulty engines detected whatever the seed, by what they break: {right} of {len(found.faulty)}",
        f"false alarms on {len(found.odd)} odd engines: {alarms}",
        f"sessions to detection, median: {found.median_sessions}",
        f"steps of a counterexample, median: {found.median_steps}",
    )


def _tables(found: Matrix) -> Iterator[RenderableType]:
    """What fits a screen: of many faulty engines only those that something is wrong with."""
    faulty = [row for row in found.faulty if len(found.faulty) <= _SCREEN or not row.is_right]
    if faulty:
        title = f"faulty engines, {len(faulty)} of {len(found.faulty)}"
        yield _table(title, _FAULTY, (_faulty_cells(row) for row in faulty))
    if found.odd:
        yield _table("engines that conform", _ODD, (_odd_cells(row) for row in found.odd))
    if found.null:
        passed = ((row.name, f"{row.sessions:,}", _of_all(found, row)) for row in found.null)
        yield _table("null engines", ("engine", "sessions", "requirements passed"), passed)


def _odd_cells(row: OddRow) -> tuple[str, ...]:
    return row.name, f"{row.sessions:,}", ", ".join(row.alarms) or "none"


def _of_all(found: Matrix, row: NullRow) -> str:
    return f"{len(row.passes)} of {found.requirements}"


def _table(title: str, columns: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(*map(visible, row))
    return table


def _faulty_cells(row: FaultyRow) -> tuple[str, ...]:
    return (
        row.name,
        row.breaks,
        "as named" if row.told == row.breaks else row.told or "nothing",
        f"{row.detected}/{row.seeds}",
        f"{row.hits}/{row.generated}",
        "written down" if row.by_hand else _percent(row.in_certification),
        str(row.sessions or "-"),
        str(row.steps or "-"),
        str(len(row.others)) if row.others else "alone",
    )


def _percent(share: Share) -> str:
    return f"{share.estimate / 10:.1f} % ({share.low / 10:.1f} to {share.high / 10:.1f})"


def markdown(found: Matrix) -> Iterator[str]:
    """The page that is published with a suite version, line by line."""
    yield "# Calibration"
    yield ""
    yield (
        f"How well this suite detects what is wrong, and how well it leaves alone what is right. Suite "
        f"{found.suite}, depth `{found.depth}`, first seed {found.seed}. This page is generated: "
        f"`contextproof calibrate --{found.depth} --seed {found.seed} --markdown`."
    )
    yield ""
    yield from (f"- {line}" for line in figures(found))
    short = complaints(found)
    yield ""
    yield "## What falls short"
    yield ""
    yield from ((f"- {line}" for line in short) if short else ("Nothing.",))
    yield ""
    yield from _faulty_page(found)
    yield from _odd_page(found)
    yield from _null_page(found)
    yield from _independence_page(found)


def _faulty_page(found: Matrix) -> Iterator[str]:
    yield "## Faulty engines"
    yield ""
    yield (
        "Each is the reference engine with one fault. *Hits*: generated sessions, of the strategy that "
        "stresses the requirement, in which it was violated. *In a certification*: how likely one of default "
        "size shows the fault by generated sessions alone, with its interval at 95 %; one that a session "
        "written down shows is found whatever the seed. *Sessions*: to the first violation, the written ones "
        "first. *Steps*: of the shrunk counterexample. *Others*: what else its sessions violated."
    )
    yield ""
    yield from _markdown_table(
        _FAULTY,
        (
            (*_faulty_cells(row)[:-1], ", ".join(one.removeprefix("CTX-") for one in row.others))
            for row in found.faulty
        ),
    )
    yield ""


def _odd_page(found: Matrix) -> Iterator[str]:
    yield "## Engines that conform and look unlike the reference"
    yield ""
    yield from _markdown_table(_ODD, (_odd_cells(row) for row in found.odd))
    yield ""


def _null_page(found: Matrix) -> Iterator[str]:
    yield "## Null engines"
    yield ""
    yield "What an engine passes that does next to nothing: the floor that a score is read against."
    yield ""
    rows = ((row.name, f"{row.sessions:,}", _of_all(found, row), ", ".join(row.passes)) for row in found.null)
    yield from _markdown_table(("engine", "sessions", "passed", "which"), rows)
    yield ""
    yield from _markdown_table(("requirement", "why doing next to nothing is enough"), iter(EXCUSED.items()))
    yield ""


def _independence_page(found: Matrix) -> Iterator[str]:
    yield "## Independence"
    yield ""
    yield "An engine that breaks a requirement and no other shows that it cannot be left out."
    yield ""
    yield from _markdown_table(("requirement", "broken alone by"), iter(sorted(independent(found).items())))
    yield ""
    yield from _markdown_table(("requirement", "why none breaks it alone"), iter(INSEPARABLE.items()))


def _markdown_table(columns: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(visible(cell) for cell in row)} |"
