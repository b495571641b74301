"""The plan of an epoch, the checkpoint, and everything a build is handed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.contract.caps import MAX_SUMMARY_DEPTH, ContextBudget
from contextproof.conformance.contract.items import EnvironmentItem, LogItem, MemoryCorrection, RecallItem
from contextproof.conformance.contract.request import Block, ClassTokens, ElidedSpan, Yielded
from contextproof.conformance.contract.session import Live, Opening
from contextproof.conformance.contract.tokenizers import TokenizerName
from contextproof.conformance.contract.working_state import WorkingState


class Plan(Frozen):
    """What one epoch is built from: the prefix as rendered, and its exact measure.

    ``opening`` is the session's opening as pinned for this epoch: the model in force, and only the
    tools that stand in the prefix. It is handed back with every later call. ``earlier_tokenizers``
    are those of earlier epochs that differ from this one's: what was written under one of them may be
    over a cap by this one's measure, and stands until it is next written.
    """

    session: Id
    """The session it is for, as the context named it."""
    epoch: Annotated[int, Field(ge=1)]
    """1 for a new session, one more with each rotation."""
    opening: Opening
    """The opening as pinned: the model in force, and of the tools only those that stand in the prefix."""
    blocks: tuple[Block, ...]
    """The prefix as rendered: every block of region A, in order. Each request of the epoch begins with just
    these.
    """
    tokens: tuple[ClassTokens, ...]
    """The exact tokens of the prefix by class, as sent, with the model's overhead for each block."""
    prefix_tokens: Count
    """Their sum."""
    prefix_sha256: str
    """Lower-case hexadecimal SHA-256 of the texts of `blocks`, joined with nothing between, as UTF-8."""
    budget: ContextBudget
    """What each class may have, fixed for the epoch."""
    earlier_tokenizers: tuple[TokenizerName, ...] = ()
    """Tokenizers of earlier epochs that differ from this one's; what was written under one of them may be
    over a cap now.
    """


class Checkpoint(Frozen):
    """What a compaction writes."""

    id: Id
    """The checkpoint's own id, taken from `live.ids`."""
    summary: str
    """Narration of what was summarized; may be empty."""
    depth: Annotated[int, Field(ge=0, le=MAX_SUMMARY_DEPTH)]
    """0 where nothing was summarized, else how many summaries lie on one another."""
    covers: Count
    """How many leading entries of the log it covers, less those passed over. Never fewer than the one before.
    """
    passed_over: tuple[Id, ...] = ()
    """Ids within that leading part that it does not cover: the message then current, and active pairs where
    the part goes beyond them.
    """
    summarized: tuple[Id, ...] = ()
    """Ids of the items that the summary derives from."""
    pointers: tuple[ElidedSpan, ...] = ()
    """One for each elided span, or for several that were merged. It carries those of the checkpoint before
    on.
    """


class ModelCalibration(Frozen):
    """What an estimator learned about one model; the numbers are the engine's own affair."""

    model: Id
    """The model's name."""
    values: tuple[int, ...]
    """The engine's own numbers."""


class Calibration(Frozen):
    """What an estimator learned, a model at a time. Empty at first."""

    models: tuple[ModelCalibration, ...] = ()
    """One entry a model that something was learned of."""


class BuildInputs(Frozen):
    """Everything a build depends on beside its plan and context."""

    log: tuple[LogItem, ...]
    """Everything that was said and done, oldest first. It only grows. The last user message in it is the
    current one.
    """
    checkpoint: Checkpoint | None = None
    """The latest checkpoint; null before the first."""
    working_state: WorkingState = WorkingState()
    """The working state as it stands."""
    corrections: tuple[MemoryCorrection, ...] = ()
    """Corrections of memory written since the session opened, oldest first."""
    recall: tuple[RecallItem, ...] = ()
    """What was retrieved for this turn, best first; empty in the next."""
    environment: tuple[EnvironmentItem, ...] = ()
    """What the runtime tells; stands until it is told anew."""
    calibration: Calibration = Calibration()
    """What `reconcile` answered last; empty at first."""
    yielded: tuple[Yielded, ...] = ()
    """Everything that requests already sent gave up (`Built.yielded`), oldest first. It only grows."""
    live: Live
    """What is so right now and must not matter to the prefix."""
