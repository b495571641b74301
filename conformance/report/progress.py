"""Telling how far a long run is: a bar on a terminal, a line a session anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from contextproof.conformance.progress import Progress, unheard

#: From so many steps on, a line is printed on the way too.
_LONG = 100


@contextmanager
def progress(console: Console, *, quiet: bool = False) -> Iterator[Progress]:
    """Yields a function to be told what is being played, how many steps are done, and of how many."""
    if quiet:
        yield unheard
    elif console.is_terminal:
        with _bar(console) as tell:
            yield tell
    else:
        yield _lines(console)


@contextmanager
def _bar(console: Console) -> Iterator[Progress]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda session, done, of: bar.update(task, description=session, completed=done, total=of)


def _lines(console: Console) -> Progress:
    """A line when something is done, and one every tenth of the way through what is long."""
    said: set[tuple[str, int]] = set()

    def tell(session: str, done: int, of: int) -> None:
        what = session.partition(";")[0]  # what is being done this very moment is for a terminal
        tenth = 10 * done // max(1, of)
        worth_saying = done == of or (of >= _LONG and tenth > 0)
        if worth_saying and (what, tenth) not in said:
            said.add((what, tenth))
            console.print(f"{what}: {done} of {of}", markup=False, highlight=False)

    return tell
