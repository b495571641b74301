"""Explicit sessions about working state and the facts in it: caps, constraints, what crosses a turn."""

from __future__ import annotations

from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.contract.working_state import TaskStatus
from contextproof.conformance.play.scenario import Resume
from contextproof.strategies import state, tables
from contextproof.strategies.author import CONTROL, Answer, Asked, Author
from contextproof.strategies.examples_writing import example
from contextproof.strategies.sizes import text_of_tokens
from contextproof.strategies.state import CAP_OF, FIELDS, Writer, Written, write, written

INTERNAL = Answer(trust=Trust.INTERNAL)


@example("working_state")
def every_field_past_its_cap(author: Author) -> None:
    """Each field is filled to its cap by the runtime, then one more is written by the model."""
    author.user("Begin.")
    for field in FIELDS:
        write(author, "runtime", written([Written(field)] * CAP_OF[field]))
        write(author, "model", written([Written(field, "one more")]))
    author.request()


@example("working_state")
def tokens_up_to_the_cap(author: Author) -> None:
    """Two entries of a thousand tokens together; one more is refused, and so is a longer one instead."""
    author.user("Begin.")
    for field, tokens in zip(FIELDS, (600, 400, 1), strict=False):
        write(author, "model", written([Written(field, text_of_tokens("o200k_base", tokens))]))
    write(author, "user", written([Written("tasks", text_of_tokens("o200k_base", 401), old=0)]))
    author.user("And?")
    author.request()


@example("working_state")
def entries_that_do_not_cross(author: Author) -> None:
    """Tasks done and cancelled, questions resolved, and entries that rest on a page, over a boundary."""
    author.user("Begin.")
    author.reply("", [Asked()])
    entries = [Written("tasks", f"Be {status}.", status=status) for status in TaskStatus]
    questions = [Written("open_questions", "Who?", resolved=True), Written("open_questions", "Why?", (1,))]
    write(author, "model", written([*entries, *questions, Written("established_facts", "It is so.", (1,))]))
    author.request()
    author.user("And?")
    author.request()


@example("working_state")
def the_model_against_a_constraint(author: Author) -> None:
    """It rewords one, removes one, does either beside something lawful; then the user does the same."""
    write(author, "user", written([Written("constraints", "Answer in French."), Written("constraints", "x")]))
    author.user("Begin.")
    writers: tuple[Writer, ...] = ("model", "user")
    for by in writers:
        write(author, by, written([Written("constraints", "Answer in Latin.", old=1), Written("tasks")]))
        write(author, by, lambda told: written([])(told).model_copy(update={"remove_constraints": ("k2",)}))
    author.request()


@example("working_state")
def arguments_that_are_no_update(author: Author) -> None:
    """Every malformed call of the tool, and prose of model and tool that imitates one."""
    author.user("Begin.")
    for arguments in state.MALFORMED:
        author.reply("", [Asked(CONTROL, arguments=arguments)])
    for text in tables.IMITATIONS:
        author.reply(text, [Asked(answer=Answer(text=text))])
    author.user("And?")
    author.request()


@example("working_state")
def the_same_entry_over_and_over(author: Author) -> None:
    """One task is replaced by model, user and runtime by turns, across turns and a resume."""
    for number, by in enumerate((*state.WRITERS, *state.WRITERS)):
        author.user(f"Round {number}.")
        write(author, by, written([Written("tasks", f"Step {number}.", old=0)]))
        author.add(Resume())
    author.request()


@example("working_state")
def more_at_once_than_there_may_be(author: Author) -> None:
    """One update with one entry more than each field may have, but for constraints."""
    author.user("Begin.")
    for field in FIELDS[1:]:
        write(author, "runtime", written([Written(field, "x")] * (CAP_OF[field] + 1)))
    author.request()


@example("working_state")
def a_long_plan_crosses_whole(author: Author) -> None:
    """Twenty-five open tasks and some that are over, in between; one that is over is replaced."""
    author.user("Begin.")
    write(author, "runtime", written([Written("tasks", f"Step {number}.") for number in range(12)]))
    over = [
        Written("tasks", "Over.", status=TaskStatus.DONE),
        Written("tasks", "Off.", status=TaskStatus.CANCELLED),
    ]
    write(author, "runtime", written(over))
    write(author, "model", written([Written("tasks", f"Step {number}.") for number in range(12, 25)]))
    write(author, "user", written([Written("tasks", "Over now.", old=14, status=TaskStatus.DONE)]))
    author.request()
    write(author, "user", written([Written("tasks", "Step three, reworded.", old=22)]))
    for question in ("And?", "And now?"):
        author.user(question)
        author.request()
        author.reply("Done.")


@example("formation")
def facts_reworded_evicted_and_never_facts(author: Author) -> None:
    """More facts than there may be, one of them reworded; tasks that are over; a fact at second hand."""
    author.user("Begin.")
    author.reply("", [Asked(answer=Answer(text="page"))])
    author.reply("So it is.", links=(0,))
    write(author, "model", written([Written("established_facts", "Of a page.", (0,))]))
    for start in (0, 15, 30):
        facts = [Written("established_facts", f"Fact {number}.") for number in range(start, start + 15)]
        write(author, "runtime", written(facts))
    write(author, "runtime", written([Written("established_facts", "Fact, reworded.", old=3)]))
    tasks = [Written("tasks", f"Be {status}.", status=status) for status in TaskStatus]
    write(author, "user", written([task for task in tasks if task.status is not TaskStatus.PENDING]))
    author.reply("Done.")
    author.user("Bye.")
    author.reply("Bye.")
    author.close()


@example("formation")
def facts_through_two_steps(author: Author) -> None:
    """A fact rests on a page, one on a reply that rests on it, one on a trusted result, one on the user."""
    author.user("I live in Rostock.")
    author.reply("", [Asked(answer=Answer(text="The user likes tea.")), Asked(1, answer=INTERNAL)])
    author.reply("So you like tea.", links=(1,))
    # Counted back from the message that writes them: reply, trusted result, page, user, nothing.
    bases = ((1,), (2,), (3,), (7,), (2, 3), ())
    facts = [Written("established_facts", f"Fact {number}.", links) for number, links in enumerate(bases)]
    write(author, "model", written(facts))
    write(author, "runtime", written([Written("constraints"), Written("open_questions"), Written("tasks")]))
    author.user("Bye.")
    author.reply("Bye.")
    author.close()


@example("formation")
def nothing_to_offer(author: Author) -> None:
    """A session is closed with other entries and not one fact."""
    author.user("Hi.")
    write(author, "model", written([Written("tasks"), Written("open_questions")]))
    author.close()
