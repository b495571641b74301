"""The guides' fenced blocks: which are run and where, and what each is to print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (*sorted((DOCS / "guides").glob("*.md")), DOCS / "ci.md")

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>.*?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
_MARK = re.compile(
    r"(?P<what>run|not run|output|patch|file)"
    r"(?:: (?P<reason>.+)| (?!in )(?P<name>\S+?))?(?: in (?P<place>[\w /-]+))?(?:, exit (?P<status>\d))?"
)

#: What may stand behind a command: a remark, another command, a file for its output.
_BEHIND = re.compile(r' +(?:#|\|\|?|&&|>>?|"\$@")(?: |$)')


@dataclass(frozen=True)
class Block:
    """A fenced block and what the comment before it says to do with it."""

    language: str
    text: str
    what: str = ""
    reason: str = ""
    name: str = ""
    place: str = ""
    status: int = 0


def blocks(page: Path) -> Iterator[Block]:
    """The page's blocks in order."""
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        mark = _MARK.fullmatch(found["mark"] or "")
        said = {key: value or "" for key, value in mark.groupdict().items()} if mark else {}
        status = int(said.pop("status", "") or 0)
        yield Block(found["language"], found["text"], status=status, **said)


def commands(text: str) -> Iterator[str]:
    """The command lines of ours in a script, continued lines joined, 1 for each variable."""
    for line in text.replace("\\\n", " ").splitlines():
        command = re.sub(r"\$\w+|\$\{.*?\}", "1", _BEHIND.split(line)[0]).strip().removeprefix("- ")
        if re.match(r"(dev/env )?contextproof ", command):
            yield command.removeprefix("dev/env ")
