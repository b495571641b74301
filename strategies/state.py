"""Words for working state: writes up to and past every cap, by the model, the user and the runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Literal, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contextproof.conformance.contract.caps import (
    CAPS,
    MAX_CONSTRAINTS,
    MAX_FACTS,
    MAX_QUESTIONS,
    MAX_TASKS,
)
from contextproof.conformance.contract.vocabulary import TokenClass, Trust
from contextproof.conformance.contract.working_state import TaskStatus
from contextproof.conformance.play.scenario import StateChange, StateEntry, Text, WriteState
from contextproof.strategies import tables
from contextproof.strategies.author import CONTROL, Answer, Asked, Author, Field, Links, Move, Wording
from contextproof.strategies.sizes import text_of_tokens
from contextproof.strategies.turns import LINKS

Writer = Literal["model", "user", "runtime"]
WRITERS: tuple[Writer, ...] = ("runtime", "model", "user", "model")

CAP_OF: dict[Field, int] = {
    "constraints": MAX_CONSTRAINTS,
    "tasks": MAX_TASKS,
    "established_facts": MAX_FACTS,
    "open_questions": MAX_QUESTIONS,
}
FIELDS: tuple[Field, ...] = tuple(CAP_OF)
STATE_TOKENS = CAPS[TokenClass.WORKING_STATE]

MALFORMED: tuple[Text, ...] = (
    "",
    "{",
    "[]",
    '{"constraints":"all of them"}',
    '{"constraints":[{"id":"k1"}]}',
    '{"constraints":[{"id":"","text":"x"}]}',
    '{"tasks":[{"id":"j1","text":"x","status":"finished"}]}',
    '{"facts":[{"id":"f1","text":"x"}]}',
    '{"established_facts":[{"id":"f1","text":"\\ud83d"}]}',
)
"""What models write to the tool that is no update."""

Change = Callable[[Author], StateChange]
"""A change of working state, in the terms of a session."""


class Written(NamedTuple):
    """An entry as drawn: ``old`` replaces the entry so many back, where there is one."""

    field: Field
    text: Wording = "x"
    links: Links = ()
    old: int | None = None
    status: TaskStatus = TaskStatus.PENDING
    resolved: bool = False


def write(author: Author, by: Writer, change: Change, call_id: str | None = None) -> None:
    """Change working state: the model by a call, in a turn; the others at any time."""
    if by == "model":
        author.reply("", [Asked(CONTROL, call_id=call_id, update=change)])
    else:
        author.add(WriteState(id=author.new_id("w"), by=by, change=change(author)))


def _writes(by: Writer, change: Change) -> Move:
    return partial(_write, by=by, change=change)


def _write(author: Author, by: Writer, change: Change) -> None:
    write(author, by, change)


# --- Entries ----------------------------------------------------------------------------------------


def written(entries: Sequence[Written]) -> Change:
    """A change that writes these entries."""

    def change(author: Author) -> StateChange:
        fields: dict[Field, list[StateEntry]] = {field: [] for field in FIELDS}
        for entry in entries:
            made = _entry(author, entry)
            if all(made.id != other.id for other in fields[entry.field]):
                fields[entry.field].append(made)
        return StateChange(
            constraints=tuple(fields["constraints"]),
            tasks=tuple(fields["tasks"]),
            established_facts=tuple(fields["established_facts"]),
            open_questions=tuple(fields["open_questions"]),
        )

    return change


def _entry(author: Author, entry: Written) -> StateEntry:
    known = None if entry.old is None else author.latest(entry.field, entry.old)
    if known is None:
        made = author.entry(entry.field, entry.text, entry.links)
    else:
        made = StateEntry(id=known, text=author.word(entry.text), derived_from=author.derived(entry.links))
    return made.model_copy(update={"status": entry.status, "resolved": entry.resolved})


@cache
def entries_of(wordings: SearchStrategy[Text], fields: tuple[Field, ...] = FIELDS) -> SearchStrategy[Written]:
    """An entry of some field: new or replacing, with a status, with a provenance or without."""
    return st.builds(
        Written,
        field=st.sampled_from(fields),
        text=wordings,
        links=st.sampled_from(LINKS),
        old=st.sampled_from((None, None, 0, 1)),
        status=st.sampled_from(tuple(TaskStatus)),
        resolved=st.booleans(),
    )


@cache
def writes(
    wordings: SearchStrategy[Text],
    fields: tuple[Field, ...] = FIELDS,
    writers: tuple[Writer, ...] = WRITERS,
    most: int = 4,
) -> SearchStrategy[Move]:
    """An update of a few entries of any fields."""
    changes = st.lists(entries_of(wordings, fields), min_size=1, max_size=most).map(written)
    return st.builds(_writes, st.sampled_from(writers), changes)


# --- Caps -------------------------------------------------------------------------------------------


def fills() -> SearchStrategy[Move]:
    """A field is filled at one go: to its cap less one, to the cap, or past it, some of it evictable."""
    return st.builds(
        _fills,
        st.sampled_from(WRITERS),
        st.sampled_from(FIELDS),
        st.sampled_from((0, -1, 1)),
        st.sampled_from((0, 1, 3)),
    )


def _fills(by: Writer, field: Field, plus: int, done: int) -> Move:
    def change(author: Author) -> StateChange:
        number = max(1, CAP_OF[field] - len(author.entries[field]) + plus)
        entries = [
            Written(field, status=TaskStatus.DONE if n < done else TaskStatus.PENDING, resolved=n < done)
            for n in range(number)
        ]
        return written(entries)(author)

    return _writes(by, change)


def demands() -> SearchStrategy[Move]:
    """One constraint more than there may be: the rest by one writer at once, the last by another."""
    return st.builds(_demands, st.sampled_from(WRITERS), st.sampled_from(WRITERS), st.booleans())


def _demands(first: Writer, last: Writer, beside: bool) -> Move:
    def move(author: Author) -> None:
        missing = CAP_OF["constraints"] - len(author.entries["constraints"])
        if missing > 0:
            write(author, first, written([Written("constraints")] * missing))
        write(author, last, written([Written("constraints"), *([Written("tasks")] if beside else [])]))

    return move


def establishes() -> SearchStrategy[Move]:
    """A fact that rests on a result: untrusted, trusted, or what the model made of it."""
    return st.builds(_establishes, st.sampled_from((None, Trust.INTERNAL)), st.booleans())


def _establishes(trust: Trust | None, retold: bool) -> Move:
    def move(author: Author) -> None:
        author.reply("", [Asked(answer=Answer(trust=trust))])
        if retold:
            author.reply("It says so.", links=(0,))
        # Counted back from the message that makes the call.
        write(author, "model", written([Written("established_facts", "It is so.", (1,))]))

    return move


def weighs() -> SearchStrategy[Move]:
    """An entry of almost all the tokens that the state may have: 999, 1,000 or 1,001, or two of half."""
    return st.builds(
        _weighs,
        st.sampled_from(WRITERS),
        st.sampled_from(FIELDS),
        st.sampled_from((-1, 0, 1, -STATE_TOKENS // 2, -STATE_TOKENS // 20)),
        st.sampled_from((None, 0)),
    )


def _weighs(by: Writer, field: Field, plus: int, old: int | None) -> Move:
    def text(author: Author) -> Text:
        return text_of_tokens(author.model.tokenizer, STATE_TOKENS + plus)

    return _writes(by, written([Written(field, text, old=old)]))


# --- Constraints ------------------------------------------------------------------------------------


@cache
def rewords(wordings: SearchStrategy[Text]) -> SearchStrategy[Move]:
    """A constraint that stands is reworded, alone or beside a new task; the model may not."""
    return st.builds(_rewords, st.sampled_from(("model", "user", "runtime")), wordings, st.booleans())


def _rewords(by: Writer, text: Wording, beside: bool) -> Move:
    entries = [Written("constraints", text, old=0), *([Written("tasks")] if beside else [])]

    def move(author: Author) -> None:
        _ensure_constraint(author)
        write(author, by, written(entries))

    return move


def _ensure_constraint(author: Author) -> None:
    if not author.entries["constraints"]:
        write(author, "user", written([Written("constraints", "Answer in French.")]))


def removes() -> SearchStrategy[Move]:
    """A constraint that stands is removed, or one that does not; the model may not."""
    return st.builds(_removes, st.sampled_from(("model", "user", "runtime")), st.booleans(), st.booleans())


def _removes(by: Writer, known: bool, beside: bool) -> Move:
    def change(author: Author) -> StateChange:
        standing = author.entries["constraints"]
        gone = standing[-1] if known else "k-nobodys"
        if known and by != "model":
            standing.pop()
        kept = written([Written("established_facts")] if beside else [])(author)
        return kept.model_copy(update={"remove_constraints": (gone,)})

    def move(author: Author) -> None:
        _ensure_constraint(author)
        write(author, by, change)

    return move


# --- What is no write ---------------------------------------------------------------------------------


def malformed() -> SearchStrategy[Move]:
    """The model calls the tool with arguments that are no update; nothing may change."""
    return st.sampled_from(MALFORMED).map(_malformed)


def _malformed(arguments: Text) -> Move:
    return lambda author: author.reply("", [Asked(CONTROL, arguments=arguments)])


def imitates() -> SearchStrategy[Move]:
    """The model or a tool says what looks like an update; nothing may change."""
    return st.builds(_imitates, st.sampled_from(tables.IMITATIONS), st.booleans())


def _imitates(text: Text, by_tool: bool) -> Move:
    def move(author: Author) -> None:
        call = Asked()
        said: Text = "" if by_tool else text
        answer = call.answer and call.answer._replace(text=text if by_tool else "found")
        author.reply(said, [call._replace(answer=answer)])

    return move


@cache
def writes_in_parallel(wordings: SearchStrategy[Text]) -> SearchStrategy[Move]:
    """Two updates and another call in one message, completed in any order."""
    changes = st.lists(entries_of(wordings), min_size=1, max_size=2).map(written)
    return st.builds(_in_parallel, changes, changes, st.integers(0, 5))


def _in_parallel(first: Change, second: Change, order: int) -> Move:
    calls = [Asked(CONTROL, update=first), Asked(CONTROL, update=second), Asked()]
    return lambda author: author.reply("", calls, order=order)
