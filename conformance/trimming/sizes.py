"""How much messages are: exactly what a model reads of them, and the most that a sane count could say.

The exact count leaves out what a provider adds for roles and structure, since no trimmer is told how much
that is: whoever is over the limit by this count is over it by any.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.trimming.formats import Entry, Json


def tokens(entries: Iterable[Entry], tokenizer: str) -> int:
    """Tokens of all texts, of the names and arguments of calls, and of results; nothing else."""
    return sum(count(tokenizer, entry.tool) + _text(entry, tokenizer) for entry in entries)


def _text(entry: Entry, tokenizer: str) -> int:
    plain = count(tokenizer, entry.text)
    if entry.kind != "call":
        return plain
    try:
        compact = json.dumps(json.loads(entry.text), ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        return plain
    return min(plain, count(tokenizer, compact))  # arguments may be written with blanks and without


def at_most(messages: Json, system: str = "") -> int:
    """A bound for every estimate: as many tokens as there are bytes of JSON."""
    return len(json.dumps(messages, ensure_ascii=False).encode()) + len(system.encode())
