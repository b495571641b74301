"""Telling how far a long run is: a bar on a terminal, a line a session anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

Tell = Callable[[str, int, int], None]


@contextmanager
def progress(console: Console, *, quiet: bool = False) -> Iterator[Tell]:
    """Yields a function to be told what is being played, how many steps are done, and of how many."""
    if quiet:
        yield lambda _session, _done, _of: None
    elif console.is_terminal:
        with _bar(console) as tell:
            yield tell
    else:
        yield _lines(console)


@contextmanager
def _bar(console: Console) -> Iterator[Tell]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda session, done, of: bar.update(task, description=session, completed=done, total=of)


def _lines(console: Console) -> Tell:
    def tell(session: str, done: int, of: int) -> None:
        if done == of:
            console.print(f"played {session}: {of} steps", markup=False, highlight=False)

    return tell
