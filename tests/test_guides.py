"""Every command of the guides is run, or at least understood; what they show is what comes out.

Where only figures of an output changed, it counts as the same. To put what comes out now into the
pages, run with CONTEXTPROOF_UPDATE_GUIDES=1 and read the difference.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from contextproof.conformance.cli import app
from contextproof.conformance.skeletons import skeleton
from guides import DOCS, PAGES, ROOT, Block, blocks, commands

AUTHOR = DOCS / "guides" / "builder-author.md"
PROGRAMS = Path(sys.executable).parent
UPDATE = bool(os.environ.get("CONTEXTPROOF_UPDATE_GUIDES"))


def names(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def sh(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "160"}
    return subprocess.run(
        ["sh", "-e", "-c", script.replace("dev/env ", "")],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def patch(folder: Path, difference: str) -> None:
    ran = subprocess.run(
        ["git", "apply", "-"], cwd=folder, input=difference, text=True, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def first_attempt(folder: Path) -> None:
    """The engine of the author's guide before it is mended."""
    (folder / "my_engine.py").write_text(skeleton("python")["my_engine.py"], encoding="utf-8")
    patch(folder, next(block.text for block in blocks(AUTHOR) if block.what == "patch"))


def place(block: Block, folder: Path) -> Path:
    return ROOT if block.place == "the checkout" else folder / block.place


def alike(text: str) -> str:
    """An output without its figures, and without what differs from one run to the next."""
    kept = [line.rstrip() for line in text.splitlines() if not line.startswith("slowest")]
    return re.sub(r" *\d[\d,.]*", " 0", "\n".join(kept))


def checked(page: Path, shown: Block, printed: str) -> None:
    if UPDATE:
        kept = "".join(line for line in printed.splitlines(True) if not line.startswith("slowest"))
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(f"```text\n{shown.text}```", f"```text\n{kept}```", 1), encoding="utf-8")
    else:
        assert alike(printed) == alike(shown.text)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page.parent != DOCS], ids=names)
def test_what_a_guide_says_to_run_does_what_it_says(page: Path, tmp_path: Path) -> None:
    if page != AUTHOR:
        first_attempt(tmp_path)
    printed = ""
    for block in blocks(page):
        match block.what:
            case "run":
                ran = sh(block.text, place(block, tmp_path))
                assert ran.returncode == block.status, block.text + ran.stdout + ran.stderr
                printed = ran.stdout
            case "output":
                checked(page, block, printed)
            case "patch":
                patch(place(block, tmp_path), block.text)
            case "file":
                (tmp_path / block.name).write_text(block.text, encoding="utf-8")
            case _:
                assert block.reason, f"a block of {page.name} is neither run, nor says why not: {block.text}"


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=names)
def test_every_command_of_the_documentation_is_understood(page: Path) -> None:
    for block in blocks(page):
        if block.language in {"sh", "yaml"}:
            for command in commands(block.text):
                _understood(shlex.split(command)[1:])


@pytest.mark.parametrize("words", [["certify", "--unheard-of"], ["unheard-of"], ["snapshot", "diff", "--x"]])
def test_a_command_that_is_not_understood_is_noticed(words: list[str]) -> None:
    with pytest.raises(Exception, match="No such"):
        _understood(words)


def _understood(words: list[str]) -> None:
    """Let the command line read its options. Raises a usage error where it cannot."""
    command: Any = get_command(app)
    context: Any = None
    while True:
        context = command.make_context(command.name, list(words), parent=context)
        rest = [*getattr(context, "_protected_args", ()), *context.args]
        if not hasattr(command, "resolve_command") or not rest:
            return
        _, command, words = command.resolve_command(context, rest)
