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
    epoch: Annotated[int, Field(ge=1)]
    opening: Opening
    blocks: tuple[Block, ...]
    tokens: tuple[ClassTokens, ...]
    prefix_tokens: Count
    prefix_sha256: str
    budget: ContextBudget
    earlier_tokenizers: tuple[TokenizerName, ...] = ()


class Checkpoint(Frozen):
    """What a compaction writes.

    Attributes:
        id: the checkpoint's own id, taken from ``live.ids``.
        summary: narration of what was summarized; may be empty.
        depth: 0 where nothing was summarized, else how many summaries lie on one another.
        covers: how many leading entries of the log it covers, less those passed over.
        passed_over: ids within that leading part that it does not cover: the message then current, and
            active pairs where the part goes beyond them.
        summarized: ids of the items the summary derives from.
        pointers: one for each elided span, or for several that were merged.
    """

    id: Id
    summary: str
    depth: Annotated[int, Field(ge=0, le=MAX_SUMMARY_DEPTH)]
    covers: Count
    passed_over: tuple[Id, ...] = ()
    summarized: tuple[Id, ...] = ()
    pointers: tuple[ElidedSpan, ...] = ()


class ModelCalibration(Frozen):
    """What an estimator learned about one model; the numbers are the engine's own affair."""

    model: Id
    values: tuple[int, ...]


class Calibration(Frozen):
    """What an estimator learned, a model at a time. Empty at first."""

    models: tuple[ModelCalibration, ...] = ()


class BuildInputs(Frozen):
    """Everything a build depends on beside its plan and context.

    ``yielded`` is what requests already sent gave up; ``live`` is there so that an engine can get
    it wrong.
    """

    log: tuple[LogItem, ...]
    checkpoint: Checkpoint | None = None
    working_state: WorkingState = WorkingState()
    corrections: tuple[MemoryCorrection, ...] = ()
    recall: tuple[RecallItem, ...] = ()
    environment: tuple[EnvironmentItem, ...] = ()
    calibration: Calibration = Calibration()
    yielded: tuple[Yielded, ...] = ()
    live: Live
