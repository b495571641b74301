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


class Planned(_Answer):
    """The plan in force: a new session's, the same as before, or the next epoch's."""

    answer: Literal["planned"] = "planned"
    plan: Plan


class Refused(_Answer):
    """The session does not open, or the rotation does not happen.

    ``measured`` and ``cap`` are tokens; for 31 tools and 41 memory items, numbers of items
    (``unit``). Refusing the output reserve, ``measured`` is what it leaves of the window.
    """

    answer: Literal["refused"] = "refused"
    token_class: TokenClass
    measured: int
    cap: Count
    unit: Literal["tokens", "items"] = "tokens"


class Built(_Answer):
    """A request, and what newly gave way for it."""

    answer: Literal["built"] = "built"
    request: Request
    yielded: tuple[Yielded, ...] = ()


class CompactionNeeded(_Answer):
    """All milder steps are taken and it still does not fit. ``yielded`` is what had at most given way."""

    answer: Literal["compaction_needed"] = "compaction_needed"
    yielded: tuple[Yielded, ...] = ()
    estimate: Estimate


class BudgetExhausted(_Answer):
    """What may never yield does not fit: nothing is sent. Figures in tokens."""

    answer: Literal["budget_exhausted"] = "budget_exhausted"
    token_class: TokenClass
    needed: Count
    available: int


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
    kind: InvalidKind
    subject: str
    detail: str = ""


class Violation(Frozen):
    """One thing wrong with a request. ``subject`` is an item id."""

    kind: InvalidKind
    subject: str
    detail: str = ""


class Validated(_Answer):
    """What a validator found; nothing, where the request is well formed."""

    answer: Literal["validated"] = "validated"
    violations: tuple[Violation, ...] = ()


class Compacted(_Answer):
    """A new checkpoint."""

    answer: Literal["compacted"] = "compacted"
    checkpoint: Checkpoint


class NothingToGain(_Answer):
    """Compaction would not lower the history's tokens; nothing is written."""

    answer: Literal["nothing_to_gain"] = "nothing_to_gain"


class CompactionFailed(_Answer):
    """The summarizer did not deliver; nothing is written, and everything stands as before."""

    answer: Literal["compaction_failed"] = "compaction_failed"
    reason: str


class Escalated(_Answer):
    """A deeper summary is not allowed: the run goes on in a child run. Nothing is written."""

    answer: Literal["escalated"] = "escalated"
    reason: str


class Estimated(_Answer):
    """Tokens of the given blocks, by class."""

    answer: Literal["estimated"] = "estimated"
    by_class: tuple[ClassTokens, ...]


class Reconciled(_Answer):
    """The calibration after a response reported its usage."""

    answer: Literal["reconciled"] = "reconciled"
    calibration: Calibration


class Allowed(_Answer):
    """The call may be made."""

    answer: Literal["allowed"] = "allowed"


class Denied(_Answer):
    """The call may not be made; ``result`` is the item that closes it."""

    answer: Literal["denied"] = "denied"
    reason: Annotated[str, Field(min_length=1)]
    result: ToolResult


class Updated(_Answer):
    """Working state after an update, or as carried over a turn boundary."""

    answer: Literal["updated"] = "updated"
    state: WorkingState


class Rejected(_Answer):
    """The update failed visibly and the state is as it was.

    ``field`` names the field of working state, or ``tokens`` for the whole; ``cap`` is the bound it
    would have passed, or None where the writer may not do what it tried.
    """

    answer: Literal["rejected"] = "rejected"
    field: Literal["constraints", "tasks", "established_facts", "open_questions", "tokens"]
    cap: Count | None
    reason: Annotated[str, Field(min_length=1)]


class Candidate(Frozen):
    """A fact offered to memory formation. ``reason`` is given where it is not eligible."""

    fact: Fact
    provenance: tuple[Id, ...]
    eligible: bool
    reason: str | None = None


class Candidates(_Answer):
    """Facts offered; none, but at the session boundary."""

    answer: Literal["candidates"] = "candidates"
    candidates: tuple[Candidate, ...] = ()


PlanAnswer = Annotated[Planned | Refused, Field(discriminator="answer")]
BuildAnswer = Annotated[
    Built | CompactionNeeded | BudgetExhausted | InvalidInput, Field(discriminator="answer")
]
CompactAnswer = Annotated[
    Compacted | NothingToGain | CompactionFailed | Escalated, Field(discriminator="answer")
]
AuthorizeAnswer = Annotated[Allowed | Denied, Field(discriminator="answer")]
UpdateAnswer = Annotated[Updated | Rejected, Field(discriminator="answer")]
