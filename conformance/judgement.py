"""A judgement: whether one requirement held at one place of a trace, and if not, why."""

from __future__ import annotations

from collections.abc import Iterable

from contextproof.conformance.contract.base import Count, Frozen, Id


class At(Frozen):
    """A place in a trace: the record's index, with the turn, request and item where they apply."""

    record: int
    turn: Count | None = None
    request: Count | None = None
    item_id: Id | None = None

    def __str__(self) -> str:
        parts = []
        if self.turn is not None:
            parts.append(f"turn {self.turn}")
        if self.request is not None:
            parts.append(f"request {self.request}")
        if self.item_id is not None:
            parts.append(f"item {self.item_id}")
        return ", ".join(parts) or f"record {self.record}"


class Judgement(Frozen):
    """Held or violated, where, and with what witnesses.

    ``seen`` and ``required`` are each one short sentence for people, filled where it is violated.
    ``witnesses`` name the situations of the requirement that this judgement was made in. ``follows``
    names requirements that, where they are violated too, are the cause of this violation.
    """

    held: bool
    at: At
    seen: str = ""
    required: str = ""
    witnesses: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()


def judge(
    held: bool,
    *,
    at: At,
    seen: object = "",
    required: object = "",
    witnesses: Iterable[str] = (),
    follows: Iterable[str] = (),
) -> Judgement:
    """A judgement; what was seen and required is kept only where it is violated."""
    if held:
        return Judgement(held=True, at=at, witnesses=tuple(witnesses))
    return Judgement(
        held=False,
        at=at,
        seen=str(seen),
        required=str(required),
        witnesses=tuple(witnesses),
        follows=tuple(follows),
    )
