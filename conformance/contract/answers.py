"""Every answer a port can give. A refusal is an answer, never an exception."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.contract.events import Event
from contextproof.conformance.contract.items import ToolResult
from contextproof.conformance.contract.plan import Calibration, Checkpoint, Plan
from contextproof.conformance.contract.request import ClassTokens, Estimate, Request, Yielded
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.contract.working_state import Fact, WorkingState


class _Answer(Frozen):
    events: tuple[Event, ...] = ()
    """The events that this answer caused, in order."""


class Planned(_Answer):
    """The plan in force: a new session's, the same as before, or the next epoch's."""

    answer: Literal["planned"] = "planned"
    """Which answer it is."""
    plan: Plan
    """The plan in force from now on."""


class Refused(_Answer):
    """The session does not open, or the rotation does not happen.

    ``measured`` and ``cap`` are tokens; for 31 tools and 41 memory items, numbers of items
    (``unit``). Refusing the output reserve, ``measured`` is what it leaves of the window.
    """

    answer: Literal["refused"] = "refused"
    """Which answer it is."""
    token_class: TokenClass
    """The class that is over its cap."""
    measured: int
    """What it measures."""
    cap: Count
    """What it may."""
    unit: Literal["tokens", "items"] = "tokens"
    """What both are counted in."""


class Built(_Answer):
    """A request, and what newly gave way for it."""

    answer: Literal["built"] = "built"
    """Which answer it is."""
    request: Request
    """What is to be sent."""
    yielded: tuple[Yielded, ...] = ()
    """What newly gave way for it, in order; not what had given way before."""


class CompactionNeeded(_Answer):
    """All milder steps are taken and it still does not fit. ``yielded`` is what had at most given way."""

    answer: Literal["compaction_needed"] = "compaction_needed"
    """Which answer it is."""
    yielded: tuple[Yielded, ...] = ()
    """What had at most newly given way."""
    estimate: Estimate
    """What the request would then have cost."""


class BudgetExhausted(_Answer):
    """What may never yield does not fit: nothing is sent. Figures in tokens."""

    answer: Literal["budget_exhausted"] = "budget_exhausted"
    """Which answer it is."""
    token_class: TokenClass
    """The class that does not fit."""
    needed: Count
    """What it needs."""
    available: int
    """What is left for it; negative where others already take too much."""


class InvalidKind(StrEnum):
    """What is wrong with the inputs of a build, or with a request."""

    UNDECLARED_TYPE = "undeclared_type"
    UNANSWERED_CALL = "unanswered_call"
    ORPHANED_RESULT = "orphaned_result"
    ORPHANED_CALL = "orphaned_call"
    DUPLICATE_RESULT = "duplicate_result"
    LATE_RESULT = "late_result"
    MISORDERED = "misordered"
    MALFORMED = "malformed"


class InvalidInput(_Answer):
    """The inputs cannot be a request. ``subject`` is the item's id, or the undeclared type's name."""

    answer: Literal["invalid_input"] = "invalid_input"
    """Which answer it is."""
    kind: InvalidKind
    """What is wrong."""
    subject: str
    """The id of the item, or the name of the undeclared type."""
    detail: str = ""
    """For people."""


class Violation(Frozen):
    """One thing wrong with a request. ``subject`` is an item id."""

    kind: InvalidKind
    """What is wrong."""
    subject: str
    """The id of the item."""
    detail: str = ""
    """For people."""


class Validated(_Answer):
    """What a validator found; nothing, where the request is well formed."""

    answer: Literal["validated"] = "validated"
    """Which answer it is."""
    violations: tuple[Violation, ...] = ()
    """All that is wrong; empty where the request is well formed."""


class Compacted(_Answer):
    """A new checkpoint."""

    answer: Literal["compacted"] = "compacted"
    """Which answer it is."""
    checkpoint: Checkpoint
    """The new checkpoint, which replaces the one before."""


class NothingToGain(_Answer):
    """Compaction would not lower the history's tokens; nothing is written."""

    answer: Literal["nothing_to_gain"] = "nothing_to_gain"
    """Which answer it is."""


class CompactionFailed(_Answer):
    """The summarizer did not deliver; nothing is written, and everything stands as before."""

    answer: Literal["compaction_failed"] = "compaction_failed"
    """Which answer it is."""
    reason: str
    """For people."""


class Escalated(_Answer):
    """A deeper summary is not allowed: the run goes on in a child run. Nothing is written."""

    answer: Literal["escalated"] = "escalated"
    """Which answer it is."""
    reason: str
    """For people."""


class Estimated(_Answer):
    """Tokens of the given blocks, by class."""

    answer: Literal["estimated"] = "estimated"
    """Which answer it is."""
    by_class: tuple[ClassTokens, ...]
    """Tokens by class, for just the blocks given."""


class Reconciled(_Answer):
    """The calibration after a response reported its usage."""

    answer: Literal["reconciled"] = "reconciled"
    """Which answer it is."""
    calibration: Calibration
    """What is handed to every later call."""


class Allowed(_Answer):
    """The call may be made."""

    answer: Literal["allowed"] = "allowed"
    """Which answer it is."""


class Denied(_Answer):
    """The call may not be made; ``result`` is the item that closes it."""

    answer: Literal["denied"] = "denied"
    """Which answer it is."""
    reason: Annotated[str, Field(min_length=1)]
    """For people."""
    result: ToolResult
    """Closes the call: its `call_id`, status `denied`, an id from `live.ids`."""


class Updated(_Answer):
    """Working state after an update, or as carried over a turn boundary."""

    answer: Literal["updated"] = "updated"
    """Which answer it is."""
    state: WorkingState
    """The state from now on."""


class Rejected(_Answer):
    """The update failed visibly and the state is as it was.

    ``field`` names the field of working state, or ``tokens`` for the whole; ``cap`` is the bound it
    would have passed, or None where the writer may not do what it tried.
    """

    answer: Literal["rejected"] = "rejected"
    """Which answer it is."""
    field: Literal["constraints", "tasks", "established_facts", "open_questions", "tokens"]
    """The field whose bound was met, or `tokens` for the whole."""
    cap: Count | None
    """That bound; null where the writer may not do what it tried."""
    reason: Annotated[str, Field(min_length=1)]
    """For people and for the model."""


class Candidate(Frozen):
    """A fact offered to memory formation. ``reason`` is given where it is not eligible."""

    fact: Fact
    """The fact."""
    provenance: tuple[Id, ...]
    """Ids of all that it rests on, the call that wrote it included."""
    eligible: bool
    """Whether memory may keep it: not, where its effective trust is external_untrusted."""
    reason: str | None = None
    """Why it is not eligible; null where it is."""


class Candidates(_Answer):
    """Facts offered; none, but at the session boundary."""

    answer: Literal["candidates"] = "candidates"
    """Which answer it is."""
    candidates: tuple[Candidate, ...] = ()
    """Every fact of the state, once the log ends with `session_closed`; before that none."""


PlanAnswer = Annotated[Planned | Refused, Field(discriminator="answer")]
BuildAnswer = Annotated[
    Built | CompactionNeeded | BudgetExhausted | InvalidInput, Field(discriminator="answer")
]
CompactAnswer = Annotated[
    Compacted | NothingToGain | CompactionFailed | Escalated, Field(discriminator="answer")
]
AuthorizeAnswer = Annotated[Allowed | Denied, Field(discriminator="answer")]
UpdateAnswer = Annotated[Updated | Rejected, Field(discriminator="answer")]
