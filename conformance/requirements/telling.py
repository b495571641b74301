"""How judgements name places and quote texts, so that they all read alike."""

from __future__ import annotations

from collections.abc import Iterable

from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.judgement import At

#: Characters of a quoted text that a judgement shows.
_QUOTED = 80
#: Names that a judgement lists before it says how many more there are.
_LISTED = 5


def at(record: int, context: CallContext, item_id: str | None = None) -> At:
    """The place of a record, of one item in it where one is meant."""
    return At(record=record, turn=context.turn, request=context.request, item_id=item_id or None)


def quoted(text: str | bytes) -> str:
    """A text as Python would write it, cut to a readable length; invisible characters are escaped."""
    plain = text.decode(errors="backslashreplace") if isinstance(text, bytes) else str(text)
    if len(plain) <= _QUOTED:
        return repr(plain)
    return f"{plain[:_QUOTED]!r}… ({len(plain)} characters)"


def listed(names: Iterable[str]) -> str:
    """Some names, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    return ", ".join(quoted(name) for name in every[:_LISTED]) + more or "none"
