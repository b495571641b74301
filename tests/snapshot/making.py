"""Sets of snapshots and blocks made by hand, small enough to be read in a test."""

from __future__ import annotations

from collections.abc import Mapping

from contextproof.conformance.contract.base import sha256
from contextproof.conformance.contract.request import Block, Envelope, Extent
from contextproof.conformance.contract.vocabulary import Region, Role, Trust
from contextproof.conformance.snapshot.capture import Captured
from contextproof.conformance.snapshot.facts import Facts, Prefix, SessionFacts
from contextproof.conformance.snapshot.files import Snapshot
from contextproof.conformance.snapshot.margins import Margin
from contextproof.conformance.snapshot.shown import MARK

NONCE, OTHER = "0123456789abcdef", "fedcba9876543210"


def block(content: str, nonce: str = NONCE, **changes: object) -> Block:
    """A block in an envelope of the form ``<nonce type trust source> content </nonce>``."""
    opening, closing = f"<{nonce} recall internal web>\n", f"\n</{nonce}>"
    inside = len((opening + content).encode())
    places = {"nonce": (1, 17), "type": (18, 24), "trust": (25, 33), "source": (34, 37)}
    extents = {name: Extent(start=start, end=end) for name, (start, end) in places.items()}
    envelope = Envelope(
        opening=Extent(start=0, end=len(opening)),
        closing=Extent(start=inside, end=inside + len(closing)),
        closing_nonce=Extent(start=inside + 3, end=inside + 19),
        **extents,
    )
    made = Block(
        item_id="r1",
        type="recall",
        region=Region.B,
        role=Role.USER,
        label=Trust.INTERNAL,
        source="web",
        text=opening + content + closing,
        envelope=envelope,
    )
    return made.model_copy(update=changes)


def session(**changes: object) -> SessionFacts:
    made = SessionFacts(
        requests=10,
        tokens={"history": 900, "framing": 100},
        repeated=500,
        prefixes=(Prefix(epoch=1, sha256="one", tokens=10),),
        body_sha256="body",
        yields=(),
        compactions=(),
    )
    return made.model_copy(update=changes)


def margin(measured: int, bound: int = 80, **changes: object) -> Margin:
    made = Margin(requirement="CTX-13.9", what="empty envelope", measured=measured, bound=bound)
    return made.model_copy(update=changes)


def facts(*margins: Margin, **sessions: SessionFacts) -> Facts:
    played = sessions or {"fifty_turns": session()}
    return Facts(builder="mine", builder_version="1", sessions=played, margins=margins)


def captured(texts: Mapping[str, str], measured: Facts | None = None, *, pinned: str = "") -> Captured:
    """A set of these texts, by name without folder numbers; ``pinned`` is hashed with each."""
    files = {name: Snapshot(f"{MARK}{name}\n\n{text}", sha256(pinned + text)) for name, text in texts.items()}
    return Captured(files, measured or facts(), ())
