"""An oracle of working state: what an update must lead to, and what a session's log folds to.

Where the contract leaves more than one reading open, the oracle says so instead of choosing: an
update that names an id twice, evicts what it has just written, or passes a cap only for a moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from contextproof.conformance.contract.caps import (
    CAPS,
    MAX_CONSTRAINTS,
    MAX_FACTS,
    MAX_QUESTIONS,
    MAX_TASKS,
)
from contextproof.conformance.contract.items import (
    WORKING_STATE_TOOL,
    LogItem,
    ResultStatus,
    ToolCall,
    ToolResult,
    UserMessage,
    WorkingStateWritten,
)
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.contract.vocabulary import WORKING_STATE, TokenClass, Trust
from contextproof.conformance.contract.working_state import (
    Entry,
    Fact,
    OpenQuestion,
    StateUpdate,
    Task,
    WorkingState,
    WriteOrigin,
)
from contextproof.conformance.requirements.oracles_pairing import log_beats, pair
from contextproof.conformance.requirements.oracles_rendering import content_of, entry_trust

FIELDS = ("constraints", "tasks", "established_facts", "open_questions")
MOST = {
    "constraints": MAX_CONSTRAINTS,
    "tasks": MAX_TASKS,
    "established_facts": MAX_FACTS,
    "open_questions": MAX_QUESTIONS,
}
MOST_TOKENS = CAPS[TokenClass.WORKING_STATE]

_E = TypeVar("_E", bound=Entry)


@dataclass(frozen=True)
class Due:
    """What an update must lead to.

    Attributes:
        state: the state after it, or None where it must be rejected.
        refused: the fields (or ``tokens``) that it must be rejected for.
        unclear: why more than one outcome is right; nothing where only one is.
    """

    state: WorkingState | None = None
    refused: frozenset[str] = frozenset()
    unclear: str = ""


def size(state: WorkingState, tokenizer: TokenizerName) -> int:
    """Tokens of all entries' texts."""
    return sum(count(tokenizer, entry.text) for entry in state.entries())


def bars(state: WorkingState, update: StateUpdate, origin: WriteOrigin) -> bool:
    """Whether the model tries to reword or to remove a constraint that stands."""
    if origin.by != "model":
        return False
    standing = {entry.id: entry.text for entry in state.constraints}
    reworded = any(standing.get(c.id, c.text) != c.text for c in update.constraints)
    return reworded or any(name in standing for name in update.remove_constraints)


def due(state: WorkingState, update: StateUpdate, origin: WriteOrigin, tokenizer: TokenizerName) -> Due:
    """What an update must lead to, by the contract alone."""
    unclear = _unclear_update(state, update, origin)
    if unclear:
        return Due(unclear=unclear)
    if bars(state, update, origin):
        return Due(refused=frozenset({"constraints"}))
    grown = written(state, update, origin)
    kept = evicted(grown)
    over = {name for name in FIELDS if len(getattr(kept, name)) > MOST[name]}
    new = {entry.id for name in FIELDS for entry in getattr(update, name)}
    gone = {entry.id for entry in grown.entries()} - {entry.id for entry in kept.entries()}
    if not over and gone & new:
        return Due(unclear="it evicts what it has just written")
    if size(kept, tokenizer) > MOST_TOKENS:
        over.add("tokens")
    elif size(grown, tokenizer) > MOST_TOKENS:
        return Due(unclear="it passes the token cap only before eviction")
    return Due(refused=frozenset(over)) if over else Due(state=kept)


def _unclear_update(state: WorkingState, update: StateUpdate, origin: WriteOrigin) -> str:
    for name in FIELDS:
        ids = [entry.id for entry in getattr(update, name)]
        if len(set(ids)) < len(ids):
            return "it names an id twice"
    if {c.id for c in update.constraints} & set(update.remove_constraints):
        return "it both writes and removes a constraint"
    standing = {entry.id: entry for entry in state.constraints}
    if origin.by == "model" and any(c.id in standing and standing[c.id] != c for c in update.constraints):
        return "" if bars(state, update, origin) else "it rewrites a constraint's provenance"
    return ""


def written(state: WorkingState, update: StateUpdate, origin: WriteOrigin) -> WorkingState:
    """The state with all entries of an update in it, however many: known ids are replaced in place."""
    removed = set(update.remove_constraints)
    return WorkingState(
        constraints=_merged(tuple(c for c in state.constraints if c.id not in removed), update.constraints),
        tasks=_merged(state.tasks, update.tasks),
        established_facts=_merged(
            state.established_facts,
            tuple(_with_provenance(fact, origin) for fact in update.established_facts),
        ),
        open_questions=_merged(state.open_questions, update.open_questions),
    )


def _merged(old: Sequence[_E], new: Sequence[_E]) -> tuple[_E, ...]:
    replacing = {entry.id: entry for entry in new}
    known = {entry.id for entry in old}
    return (
        *(replacing.get(entry.id, entry) for entry in old),
        *(entry for entry in replacing.values() if entry.id not in known),
    )


def _with_provenance(fact: Fact, origin: WriteOrigin) -> Fact:
    if origin.by != "model" or origin.item_id is None or origin.item_id in fact.derived_from:
        return fact
    return fact.model_copy(update={"derived_from": (*fact.derived_from, origin.item_id)})


def evicted(state: WorkingState) -> WorkingState:
    """The state with the oldest entries gone that may go, where a field holds more than its cap."""
    return state.model_copy(
        update={
            "tasks": _without_oldest(state.tasks, MAX_TASKS, lambda task: task.is_over),
            "established_facts": state.established_facts[-MAX_FACTS:],
            "open_questions": _without_oldest(
                state.open_questions, MAX_QUESTIONS, lambda question: question.resolved
            ),
        }
    )


def _without_oldest(entries: tuple[_E, ...], most: int, may_go: Callable[[_E], bool]) -> tuple[_E, ...]:
    surplus = max(0, len(entries) - most)
    going = [entry.id for entry in entries if may_go(entry)][:surplus]
    return tuple(entry for entry in entries if entry.id not in going)


def crossed(state: WorkingState) -> WorkingState:
    """What of a state crosses a turn boundary: no task that is over, no question that is resolved."""
    return state.model_copy(
        update={
            "tasks": tuple(task for task in state.tasks if not task.is_over),
            "open_questions": tuple(q for q in state.open_questions if not q.resolved),
        }
    )


def writes(log: Sequence[LogItem]) -> Iterator[tuple[UserMessage | StateUpdate, WriteOrigin | None]]:
    """Turn boundaries and accepted updates of a log, in the order in which they took effect.

    A model's update took effect where its result says ok.
    """
    calls = {item.id: item for item in log if isinstance(item, ToolCall)}
    answered = {result: calls[call] for call, result in pair(log_beats(log)).pairs}
    for item in log:
        if isinstance(item, UserMessage):
            yield item, None
        elif isinstance(item, WorkingStateWritten):
            yield item.update, item.origin
        elif isinstance(item, ToolResult) and item.status is ResultStatus.OK:
            call = answered.get(item.id)
            if call is not None and call.name == WORKING_STATE_TOOL:
                try:
                    update = StateUpdate.from_json(call.arguments)
                except ValidationError:
                    continue
                yield update, WriteOrigin(by="model", item_id=call.id)


def is_ambiguous(log: Sequence[LogItem]) -> bool:
    """Whether a call of the tool shares its id with another call of its message.

    Then which result is whose depends on the order they came in, and that is the play's affair.
    """
    ids = Counter((item.message_id, item.call_id) for item in log if isinstance(item, ToolCall))
    return any(
        isinstance(item, ToolCall)
        and item.name == WORKING_STATE_TOOL
        and ids[item.message_id, item.call_id] > 1
        for item in log
    )


def folded(log: Sequence[LogItem]) -> WorkingState:
    """The state that a log leads to, as it stands after the log's last entry.

    Every update that the log says was accepted is taken to have been right to accept.
    """
    state = WorkingState()
    for what, origin in writes(log):
        if origin is None:
            state = crossed(state)
        elif isinstance(what, StateUpdate):
            state = evicted(written(state, what, origin))
    return state


def first_unlike(left: WorkingState, right: WorkingState) -> str:
    """Where two states differ; nothing where they are the same but for the order of provenances.

    A provenance may name more than it must: what an engine adds only lowers trust.
    """
    for name in FIELDS:
        one, other = getattr(left, name), getattr(right, name)
        if [entry.id for entry in one] != [entry.id for entry in other]:
            return f"{name} are {[e.id for e in one]} instead of {[e.id for e in other]}"
        for entry, expected in zip(one, other, strict=True):
            bare = entry.model_copy(update={"derived_from": expected.derived_from})
            if bare != expected or not set(entry.derived_from) >= set(expected.derived_from):
                return f"{name} entry {entry.id!r} is {_brief(entry)} instead of {_brief(expected)}"
    return ""


def _brief(entry: Entry) -> str:
    more = {Task: "status", OpenQuestion: "resolved"}.get(type(entry))
    extra = f", {more}={getattr(entry, more)}" if more else ""
    return f"{entry.text[:60]!r} from {list(entry.derived_from)}{extra}"


def missing_entries(
    state: WorkingState,
    blocks: Iterable[Block],
    manifest: Manifest,
    trust: Mapping[str, Trust],
) -> list[str]:
    """Ids of entries whose text does not stand in a request's working-state blocks, in order.

    Entries of one effective trust are looked for in the blocks of that label, or in all of them
    where there is none. ``trust`` is that of the items they may derive from.
    """
    texts = [
        (block.label, content_of(block, manifest) or "") for block in blocks if block.type == WORKING_STATE
    ]
    missing: list[str] = []
    for level in Trust:
        entries = [entry for entry in state.entries() if entry_trust(entry, trust) is level]
        labelled = [text for label, text in texts if label is level]
        missing += _not_in_order(entries, "\0".join(labelled or [text for _, text in texts]))
    return missing


def _not_in_order(entries: Iterable[Entry], text: str) -> Iterator[str]:
    place = 0
    for entry in entries:
        found = text.find(entry.text, place)
        if found < 0:
            yield entry.id
        else:
            place = found + len(entry.text)
