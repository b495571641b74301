"""What follows from a change of rendering: tokens, caches, yields, and requirements it comes close to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Literal

from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.snapshot.facts import Facts, SessionFacts
from contextproof.conformance.snapshot.margins import Margin
from contextproof.conformance.snapshot.sessions import FIFTY_TURNS

#: What a token costs that is written to a provider's cache, and one that is read from it, as multiples
#: of one that is neither: common price lists say 1.25 and 0.1.
CACHE_WRITE, CACHE_READ = Fraction(5, 4), Fraction(1, 10)


class TokensChanged(Frozen):
    """Tokens of one class over all requests of a session."""

    token_class: str
    before: Count
    after: Count


class CacheLost(Frozen):
    """What every live session's provider has to write anew, once.

    Attributes:
        where: ``prefix`` where the prefix's bytes change, and with it all that follows; ``body``
            where only later bytes do.
        changed, compared: in how many sessions, of how many.
        session: the session that the tokens are measured in.
        tokens: what one of its requests reads from the cache on average, and now writes.
        sessions: how many live sessions were asked about.
    """

    where: Literal["prefix", "body"]
    changed: Count
    compared: Count
    session: str
    tokens: Count
    sessions: Count

    @property
    def all_tokens(self) -> int:
        """Tokens written anew in all those sessions."""
        return self.tokens * self.sessions

    @property
    def times(self) -> Fraction:
        """How many times as much writing costs as reading."""
        return CACHE_WRITE / CACHE_READ


class Moved(Frozen):
    """What gives way, or is compacted, otherwise than before in one session."""

    session: str
    what: Literal["yields", "compactions"]
    gone: tuple[str, ...]
    new: tuple[str, ...]


class MarginMoved(Frozen):
    """A measure that is nearer to its bound, or farther from it, than before."""

    before: Margin | None
    after: Margin

    @property
    def close(self) -> bool:
        """Whether little of the bound is left, and less than before."""
        nearer = self.before is None or self.after.share > self.before.share
        return self.after.close and nearer


class Consequences(Frozen):
    """All that follows.

    Attributes:
        session: the session that tokens and repeated tokens are of.
        requests: its requests, before and after.
        repeated: its tokens that repeat the request before, before and after.
        margins: those that changed, the nearest to its bound first.
        sessions_apart: sessions that only one of both sets sent requests in.
    """

    session: str
    requests: tuple[Count, Count]
    tokens: tuple[TokensChanged, ...]
    repeated: tuple[Count, Count]
    cache: CacheLost | None
    moved: tuple[Moved, ...]
    margins: tuple[MarginMoved, ...]
    sessions_apart: tuple[str, ...]

    @property
    def totals(self) -> tuple[int, int]:
        """All tokens of the session, before and after."""
        return sum(t.before for t in self.tokens), sum(t.after for t in self.tokens)


def follows(old: Facts, new: Facts, *, sessions: int) -> Consequences:
    """What follows for ``sessions`` live sessions from going from one set of facts to another."""
    both = [name for name in new.sessions if name in old.sessions]
    name = FIFTY_TURNS if FIFTY_TURNS in both else next(iter(both), "")
    nothing = SessionFacts(
        requests=0, tokens={}, repeated=0, prefixes=(), body_sha256="", yields=(), compactions=()
    )
    before, after = old.sessions.get(name, nothing), new.sessions.get(name, nothing)
    return Consequences(
        session=name,
        requests=(before.requests, after.requests),
        tokens=tuple(_tokens(before, after)),
        repeated=(before.repeated, after.repeated),
        cache=_cache(old.sessions, new.sessions, name, sessions) if name else None,
        moved=tuple(_moved(old.sessions, new.sessions, both)),
        margins=tuple(_margins(old, new)),
        sessions_apart=tuple(sorted(old.sessions.keys() ^ new.sessions.keys())),
    )


def _tokens(before: SessionFacts, after: SessionFacts) -> Iterator[TokensChanged]:
    for name in dict.fromkeys((*before.tokens, *after.tokens)):
        yield TokensChanged(
            token_class=name, before=before.tokens.get(name, 0), after=after.tokens.get(name, 0)
        )


def _cache(
    old: Mapping[str, SessionFacts], new: Mapping[str, SessionFacts], name: str, sessions: int
) -> CacheLost | None:
    both = [session for session in new if session in old]
    prefixes = [s for s in both if _prefixes(old[s]) != _prefixes(new[s])]
    bodies = [s for s in both if old[s].body_sha256 != new[s].body_sha256]
    if not prefixes and not bodies:
        return None
    read = old[name].repeated // max(1, old[name].requests)
    return CacheLost(
        where="prefix" if prefixes else "body",
        changed=len(prefixes or bodies),
        compared=len(both),
        session=name,
        tokens=read if prefixes else max(0, read - old[name].prefix_tokens),
        sessions=sessions,
    )


def _prefixes(session: SessionFacts) -> list[str]:
    return [prefix.sha256 for prefix in session.prefixes]


def _moved(
    old: Mapping[str, SessionFacts], new: Mapping[str, SessionFacts], names: list[str]
) -> Iterator[Moved]:
    for name in names:
        for what, before, after in (
            ("yields", old[name].yields, new[name].yields),
            ("compactions", old[name].compactions, new[name].compactions),
        ):
            if before != after:
                yield Moved.model_validate(
                    {
                        "session": name,
                        "what": what,
                        "gone": tuple(one for one in before if one not in after),
                        "new": tuple(one for one in after if one not in before),
                    }
                )


def _margins(old: Facts, new: Facts) -> list[MarginMoved]:
    known = {(margin.requirement, margin.what): margin for margin in old.margins}
    moved = []
    for after in new.margins:
        before = known.get((after.requirement, after.what))
        if before is None or (before.measured, before.bound) != (after.measured, after.bound):
            moved.append(MarginMoved(before=before, after=after))
    return sorted(moved, key=lambda one: -one.after.share)
