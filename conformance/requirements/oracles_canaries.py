"""An oracle of leaks: whether text that nobody may pass on turns up where it must not.

A canary is a distinctive piece of a suspect text: a run of 24 characters, or a long word with letters
and digits in it. It is a leak where it turns up and nothing innocent holds it. Innocent is what the
engine may say anyway: trusted content, what the summarizer wrote, and whatever it had sent before the
suspect text came into the session, since that cannot stem from it.

Sound rather than complete: a short or reworded piece passes, a coincidence does not accuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

#: Characters of a run that is taken for a quotation.
_RUN = 24
#: How many different characters make a run distinctive: rulers and padding are not.
_DISTINCT = 8
#: Characters on end that nothing innocent may explain, for a run to accuse.
_CORE = 12
_WORD = re.compile(r"[\w-]{12,}")


class Suspect(NamedTuple):
    """A text of an item that may not be passed on."""

    item_id: str
    text: str


class Leak(NamedTuple):
    """A canary found where it must not be."""

    item_id: str
    piece: str


def first_leak(
    judged: Iterable[str], suspects: Iterable[Suspect], innocent: Callable[[Suspect, str], bool]
) -> Leak | None:
    """The first canary of a suspect that a judged text holds and nothing innocent explains."""
    texts = list(judged)
    runs = {text[n : n + _RUN] for text in texts for n in range(len(text) - _RUN + 1)}
    words = {word for text in texts for word in _WORD.findall(text)}
    for suspect in suspects:
        for word in _WORD.findall(suspect.text):
            if _is_odd(word) and word in words and not innocent(suspect, word):
                return Leak(suspect.item_id, word)
        found = _quotation(suspect, runs, innocent)
        if found is not None:
            return found
    return None


def _is_odd(word: str) -> bool:
    """Whether a word is no word of any language: letters and digits both."""
    return any(c.isdigit() for c in word) and any(c.isalpha() for c in word)


def _quotation(suspect: Suspect, runs: set[str], innocent: Callable[[Suspect, str], bool]) -> Leak | None:
    text, place = suspect.text, 0
    while place <= len(text) - _RUN:
        end = place
        while end <= len(text) - _RUN and text[end : end + _RUN] in runs:
            end += 1
        if end > place:
            quoted = text[place : end + _RUN - 1]
            if not innocent(suspect, quoted) and _accuses(suspect, quoted, innocent):
                return Leak(suspect.item_id, quoted)
        place = end + 1
    return None


def _accuses(suspect: Suspect, quoted: str, innocent: Callable[[Suspect, str], bool]) -> bool:
    """Whether a quotation is more than innocent words with an engine's own punctuation around them."""
    if len(set(quoted)) < _DISTINCT:
        return False
    place = explained_to = unexplained = 0
    while place < len(quoted):
        end = _explained_from(suspect, quoted, place, innocent)
        if end:
            # Every piece that begins before the last core of what is explained lies within it.
            explained_to, unexplained, place = end, 0, end - _CORE + 1
            continue
        unexplained = 0 if place < explained_to else unexplained + 1
        if unexplained >= _CORE:
            return True
        place += 1
    return False


def _explained_from(
    suspect: Suspect, quoted: str, place: int, innocent: Callable[[Suspect, str], bool]
) -> int:
    """How far something innocent explains a quotation from a place on; 0 where not even a core of it."""
    end = place + _CORE
    if end > len(quoted) or not innocent(suspect, quoted[place:end]):
        return 0
    step = _CORE
    while step:
        if end + step <= len(quoted) and innocent(suspect, quoted[place : end + step]):
            end, step = end + step, step * 2
        else:
            step //= 2
    return end
