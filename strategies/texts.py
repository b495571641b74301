"""Strategies of text: plain, multilingual, hostile, blank and long, from the tables of `tables`."""

from __future__ import annotations

from functools import cache
from typing import Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contextproof.conformance.play.scenario import FromCorpus, Literally, Piece, Repeat, Text
from contextproof.strategies import tables

Flavour = Literal["plain", "scripts", "hostile", "any"]
"""What the texts of a session are like: one kind alone, or all of them."""


def repeated(head: str, text: str, characters: int = 4_000) -> Text:
    """A text over and over, behind some other, of about so many characters."""
    return (*pieces_of(head), Repeat(text=text, times=characters // len(text)))


def runs(*times: int) -> SearchStrategy[Text]:
    """So many of the same, without a break; at the most a few thousand."""
    return st.builds(_run, st.sampled_from(tables.RUNS), st.sampled_from(times or (3, 40, 300, 3_000)))


def _run(text: str, times: int) -> Text:
    return (Repeat(text=text, times=times),)


def families(*times: int) -> SearchStrategy[Text]:
    """Emoji families, shifted so that a cut at any fixed place meets every byte of one."""
    return st.builds(_families, st.integers(0, 24), st.sampled_from(times or (1, 6, 30, 150)))


def _families(shift: int, times: int) -> Text:
    family = Repeat(text=tables.FAMILY, times=times)
    return (Repeat(text="x", times=shift), family) if shift else (family,)


def from_corpus(names: tuple[str, ...] = tables.CORPUS, most: int = 1_200) -> SearchStrategy[Text]:
    """A slice of a corpus text, up to so many characters."""
    lengths = tuple(length for length in (60, 400, 1_200, 4_000, 12_000) if length <= most)
    return st.builds(_slice, st.sampled_from(names), st.integers(0, 40), st.sampled_from(lengths))


def about(name: str, tokens: int, start: int = 0) -> Text:
    """A slice of a corpus text with about so many tokens."""
    return (FromCorpus(name=name, start=start, characters=tokens * tables.TENTHS_A_TOKEN[name] // 10),)


def _slice(name: str, place: int, characters: int) -> Text:
    return (FromCorpus(name=name, start=place * 131, characters=characters),)


def joined() -> SearchStrategy[Text]:
    """Two or three texts of different kinds in one."""
    return st.lists(st.sampled_from(tables.JOINED), min_size=2, max_size=3).map(_join)


def _join(texts: list[Text]) -> Text:
    return tuple(piece for text in texts for piece in pieces_of(text))


def pieces_of(text: Text) -> tuple[Piece, ...]:
    """A text as pieces."""
    if not isinstance(text, str):
        return text
    return (Literally(text=text),) if text else ()


@cache
def of(flavour: Flavour) -> SearchStrategy[Text]:
    """Texts of a session that is of this flavour; they shrink to ``x``, and need not be hostile."""
    if flavour == "plain":
        return brief("plain") | from_corpus((*tables.PROSE, *tables.CODE))
    if flavour == "scripts":
        return brief("scripts") | families() | from_corpus(tables.TRANSLATED)
    return brief(flavour) | runs() | families() | (from_corpus() if flavour == "any" else joined())


@cache
def brief(flavour: Flavour) -> SearchStrategy[Text]:
    """The same, of at most some hundred tokens, unless it repeats what was sent."""
    plain = st.sampled_from(tables.PLAIN)
    if flavour == "plain":
        return plain
    if flavour == "scripts":
        return plain | st.sampled_from(tables.SCRIPTS)
    return plain | st.sampled_from(tables.SCRIPTS) | hostile()


@cache
def hostile() -> SearchStrategy[Text]:
    """Short text that attacks envelopes, tokenizers or readers; every kind is equally likely."""
    return st.one_of(*(st.sampled_from(kind) for kind in tables.ATTACKS), runs(3, 40, 200), families(1, 6))


@cache
def names(flavour: Flavour) -> SearchStrategy[Text]:
    """Sources; hostile ones where the session is."""
    plain = st.sampled_from(("tool", "web", "files", ""))
    return plain | st.sampled_from(tables.FORGERIES) if flavour in ("hostile", "any") else plain
