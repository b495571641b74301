"""Decision 14: working state is bounded, and written by typed updates alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contextproof.conformance.contract import answers as a
from contextproof.conformance.contract.items import (
    WORKING_STATE_TOOL,
    AssistantMessage,
    LogItem,
    ToolCall,
    ToolResult,
)
from contextproof.conformance.contract.working_state import Entry, StateUpdate, WorkingState
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import CarryRecord, Trace, UpdateRecord
from contextproof.conformance.requirements.oracles_rendering import Lookup, entry_trust
from contextproof.conformance.requirements.oracles_working_state import (
    FIELDS,
    MOST,
    MOST_TOKENS,
    bars,
    crossed,
    due,
    evicted,
    first_unlike,
    folded,
    is_ambiguous,
    missing_entries,
    size,
    writes,
    written,
)
from contextproof.conformance.requirements.registry import MUST, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

IMITATED_BY_ASSISTANT = "an assistant's text that looks like an update"
IMITATED_BY_RESULT = "a tool's text that looks like an update"
REJECTED_CALL = "a call of the tool that was rejected"

FULL_FIELD = "a field at its cap"
TOKENS_AT_CAP = "a state near its token cap"

CONSTRAINT_TOO_MANY = "a constraint past the cap"

MODEL_REWORDS = "the model rewords a constraint"
MODEL_REMOVES = "the model removes a constraint"
OTHERS_MAY = "the user or the runtime rewords or removes a constraint"

FINISHED_TASK = "a task done or cancelled before the turn ended"
RESOLVED_QUESTION = "a question resolved before the turn ended"
SECOND_TURN = "a turn boundary over a written state"

KNOWN_ID = "an update of an entry that is there already"
REFUSED_IN_PART = "an update of which only a part may not be"

ENTRIES = "a request beside a written state"
SEVERAL_TRUSTS = "a state with entries of two trusts"

PLAIN_UPDATE = "an update that is within every cap"
EVICTION = "an update for which the oldest entry must go"

_TOOL = ("update", "carry")


def _carries(trace: Trace) -> Iterator[tuple[int, CarryRecord]]:
    for index, record in enumerate(trace.records):
        if isinstance(record, CarryRecord):
            yield index, record


def _updates(trace: Trace) -> Iterator[tuple[int, UpdateRecord]]:
    for index, record in enumerate(trace.records):
        if isinstance(record, UpdateRecord):
            yield index, record


@requirement(
    "CTX-14.1",
    MUST,
    scenarios="working_state",
    witnesses=(IMITATED_BY_ASSISTANT, IMITATED_BY_RESULT, REJECTED_CALL),
    ports=_TOOL,
    cost="A web page writes itself into the run's constraints.",
)
def prose_never_writes_state(trace: Trace) -> Iterator[Judgement]:
    """What is carried was written by an accepted call of the tool, by the user or by the runtime.

    No text of an assistant, a tool or a user becomes an entry, however much it looks like an update.
    """
    for index, record in _carries(trace):
        log = trace.log[: record.log_length]
        typed = {(e.id, e.text) for e in _ever_written(log)} | {
            (entry.id, entry.text) for entry in record.state.entries()
        }
        strange = [e for e in record.answer.state.entries() if (e.id, e.text) not in typed]
        yield judge(
            not strange,
            at=at(index, record.context),
            seen=f"the carried state has {listed(e.id for e in strange)}, "
            f"such as {quoted(strange[0].text if strange else '')}",
            required="entries that a typed update wrote",
            witnesses=_imitations(log),
        )


def _ever_written(log: Sequence[LogItem]) -> Iterator[Entry]:
    for what, _ in writes(log):
        if isinstance(what, StateUpdate):
            for name in FIELDS:
                yield from getattr(what, name)


#: What an update looks like: the tool's name, or a field's name and a bracket.
_LOOKS_LIKE = re.compile(re.escape(WORKING_STATE_TOOL) + r"|(?:" + "|".join(FIELDS) + r")\W{1,6}[\[{]")


def _imitations(log: Sequence[LogItem]) -> Iterator[str]:
    rejected = {item.call_id for item in log if isinstance(item, ToolResult) and item.status == "error"}
    for item in log:
        if isinstance(item, AssistantMessage) and _LOOKS_LIKE.search(item.text):
            yield IMITATED_BY_ASSISTANT
        if isinstance(item, ToolResult) and _LOOKS_LIKE.search(item.text):
            yield IMITATED_BY_RESULT
        if isinstance(item, ToolCall) and item.name == WORKING_STATE_TOOL and item.call_id in rejected:
            yield REJECTED_CALL


@requirement(
    "CTX-14.2",
    MUST,
    scenarios="working_state",
    witnesses=(FULL_FIELD, TOKENS_AT_CAP),
    ports=_TOOL,
    cost="Working state becomes a second history, and eats the budget of the first.",
)
def state_is_bounded(trace: Trace) -> Iterator[Judgement]:
    """No update leaves more than 20 constraints, 30 tasks, 40 facts, 20 questions or 1,000 tokens."""
    for index, record in _updates(trace):
        if isinstance(record.answer, a.Updated):
            state = record.answer.state
            over = [
                f"{len(getattr(state, name))} {name}"
                for name in FIELDS
                if len(getattr(state, name)) > MOST[name]
            ]
            tokens = size(state, record.context.model.tokenizer)
            if tokens > MOST_TOKENS:
                over.append(f"{tokens} tokens")
            yield judge(
                not over,
                at=at(index, record.context),
                seen=f"a state of {' and '.join(over)}",
                required="a rejected update, or the oldest entries gone that may go",
                witnesses=_fullness(state, tokens),
            )


def _fullness(state: WorkingState, tokens: int) -> Iterator[str]:
    if any(len(getattr(state, name)) == MOST[name] for name in FIELDS):
        yield FULL_FIELD
    if 10 * tokens >= 9 * MOST_TOKENS:
        yield TOKENS_AT_CAP


@requirement(
    "CTX-14.3",
    MUST,
    scenarios="working_state",
    witnesses=(CONSTRAINT_TOO_MANY,),
    ports=_TOOL,
    cost="What the user demanded is dropped in silence, and looks as if the agent ignored it.",
)
def constraint_past_the_cap_fails_visibly(trace: Trace) -> Iterator[Judgement]:
    """An update that would leave more than 20 constraints is rejected, naming constraints and the cap."""
    for index, record in _updates(trace):
        wanted = due(record.state, record.update, record.origin, record.context.model.tokenizer)
        if wanted.unclear or bars(record.state, record.update, record.origin):
            continue
        left = len(written(record.state, record.update, record.origin).constraints)
        if left <= MOST["constraints"]:
            continue
        yield judge(
            isinstance(record.answer, a.Rejected) and _names_the_cap(record.answer, wanted.refused),
            at=at(index, record.context),
            seen=f"{left} constraints would be left, and {_outcome(record)}",
            required=f"rejected, naming constraints and the cap of {MOST['constraints']}",
            witnesses=(CONSTRAINT_TOO_MANY,),
        )


def _names_the_cap(answer: a.Rejected, refused: frozenset[str]) -> bool:
    """Another field that is over too may be named instead."""
    if answer.field == "constraints":
        return answer.cap == MOST["constraints"]
    return answer.field in refused


def _outcome(record: UpdateRecord) -> str:
    answer = record.answer
    if isinstance(answer, a.Rejected):
        return f"it was rejected for {answer.field} (cap {answer.cap})"
    return f"it was accepted, with {len(answer.state.constraints)} constraints left"


@requirement(
    "CTX-14.4",
    MUST,
    scenarios="working_state",
    witnesses=(MODEL_REWORDS, MODEL_REMOVES, OTHERS_MAY),
    ports=_TOOL,
    cost="The model talks itself out of what the user demanded.",
)
def model_cannot_touch_constraints(trace: Trace) -> Iterator[Judgement]:
    """A constraint leaves or is reworded only by the user or the runtime; the model's try is rejected."""
    for index, record in _updates(trace):
        standing = {entry.id: entry.text for entry in record.state.constraints}
        removes = any(name in standing for name in record.update.remove_constraints)
        rewords = any(standing.get(c.id, c.text) != c.text for c in record.update.constraints)
        if not removes and not rewords:
            continue
        if record.origin.by == "model":
            held = isinstance(record.answer, a.Rejected)
            situations = [MODEL_REWORDS] * rewords + [MODEL_REMOVES] * removes
        else:
            wanted = due(record.state, record.update, record.origin, record.context.model.tokenizer)
            held = wanted.state is None or isinstance(record.answer, a.Updated)
            situations = [OTHERS_MAY]
        yield judge(
            held,
            at=at(index, record.context),
            seen=f"the {record.origin.by} changes a constraint that stands, and {_outcome(record)}",
            required="rejected" if record.origin.by == "model" else "accepted",
            witnesses=situations,
        )


@requirement(
    "CTX-14.5",
    MUST,
    scenarios="working_state",
    witnesses=(SECOND_TURN, FINISHED_TASK, RESOLVED_QUESTION),
    ports=_TOOL,
    cost="The plan or the user's demands are gone when the next turn starts.",
)
def state_crosses_turns_by_rule(trace: Trace) -> Iterator[Judgement]:
    """Constraints and facts cross a turn boundary, and tasks and questions that are still open.

    What is carried is the state as it was, by that rule, and the fold of the session's log.
    """
    for index, record in _carries(trace):
        log = trace.log[: record.log_length]
        if is_ambiguous(log):
            continue
        expected = crossed(record.state)
        problem = first_unlike(record.answer.state, expected)
        if not problem and not _has_unclear_update(trace, index):
            problem = first_unlike(record.answer.state, folded(log))
        yield judge(
            not problem,
            at=at(index, record.context),
            seen=problem,
            required="all constraints and facts, open tasks and questions, as the log has them",
            witnesses=_what_crosses(record.state, expected),
        )


def _has_unclear_update(trace: Trace, before: int) -> bool:
    """Whether an update until then has more than one right outcome, so that no fold is the only one."""
    return any(
        due(r.state, r.update, r.origin, r.context.model.tokenizer).unclear
        for index, r in _updates(trace)
        if index < before
    )


def _what_crosses(before: WorkingState, after: WorkingState) -> Iterator[str]:
    if any(before.entries()):
        yield SECOND_TURN
    if before.tasks != after.tasks:
        yield FINISHED_TASK
    if before.open_questions != after.open_questions:
        yield RESOLVED_QUESTION


@requirement(
    "CTX-14.6",
    MUST,
    scenarios="working_state",
    witnesses=(KNOWN_ID, REFUSED_IN_PART),
    ports=_TOOL,
    cost="Half an update is in force, and nobody knows which half.",
)
def updates_are_all_or_nothing(trace: Trace) -> Iterator[Judgement]:
    """An update is applied whole or not at all, and an entry with a known id replaces that entry."""
    for index, record in _updates(trace):
        wanted = due(record.state, record.update, record.origin, record.context.model.tokenizer)
        if wanted.unclear:
            continue
        answer = record.answer
        problem = ""
        if isinstance(answer, a.Updated):
            whole = evicted(written(record.state, record.update, record.origin))
            problem = first_unlike(answer.state, wanted.state or whole)
        yield judge(
            not problem,
            at=at(index, record.context),
            seen=problem,
            required="the whole update in place, and nothing else changed",
            witnesses=_wholeness(record, wanted.refused),
        )


def _wholeness(record: UpdateRecord, refused: frozenset[str]) -> Iterator[str]:
    known = {entry.id for entry in record.state.entries()}
    touched = [name for name in FIELDS if getattr(record.update, name)]
    if any(entry.id in known for name in touched for entry in getattr(record.update, name)):
        yield KNOWN_ID
    if refused and len(touched) + bool(record.update.remove_constraints) > 1:
        yield REFUSED_IN_PART


@requirement(
    "CTX-14.7",
    MUST,
    scenarios="working_state",
    witnesses=(ENTRIES, SEVERAL_TRUSTS),
    cost="The run cannot see its own plan, and works on without it.",
)
def state_is_in_every_request(trace: Trace) -> Iterator[Judgement]:
    """Every entry's text is in every request, verbatim and in order."""
    lookup = Lookup(trace)
    for index, build in trace.builds("main", "retry", "roomy"):
        state = build.inputs.working_state
        if not isinstance(build.answer, a.Built) or not any(state.entries()):
            continue
        trust = lookup.trust(build)
        missing = missing_entries(state, build.answer.request.blocks, trace.manifest, trust)
        trusts = {entry_trust(entry, trust) for entry in state.entries()}
        yield judge(
            not missing,
            at=at(index, build.context),
            seen=f"not in the request, or out of order: {listed(missing)}",
            required=f"all {len(list(state.entries()))} entries of working state",
            witnesses=(ENTRIES, SEVERAL_TRUSTS) if len(trusts) > 1 else (ENTRIES,),
        )


@requirement(
    "CTX-14.8",
    MUST,
    scenarios="working_state",
    witnesses=(PLAIN_UPDATE, EVICTION),
    ports=_TOOL,
    cost="The run cannot write down what it must remember.",
)
def lawful_updates_are_accepted(trace: Trace) -> Iterator[Judgement]:
    """An update within every cap, and not barred from changing constraints, is accepted.

    At its count, facts lose their oldest, questions their oldest resolved, tasks their oldest that is
    over.
    """
    for index, record in _updates(trace):
        wanted = due(record.state, record.update, record.origin, record.context.model.tokenizer)
        if wanted.state is None:
            continue
        grown = written(record.state, record.update, record.origin)
        yield judge(
            isinstance(record.answer, a.Updated),
            at=at(index, record.context),
            seen=_outcome(record),
            required="accepted",
            witnesses=(PLAIN_UPDATE if wanted.state == grown else EVICTION,),
        )
