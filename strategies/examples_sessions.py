"""Explicit sessions of ordinary text: changes outside, torn and recurring calls."""

from __future__ import annotations

from itertools import permutations

from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.play.scenario import (
    ChangeRouting,
    CorrectMemory,
    ForceCompaction,
    LabelledItem,
    Recall,
    RegisterTools,
    Resume,
    RevokeByForce,
    SetClock,
    SetEnvironment,
    SetPermissions,
    TextItem,
    WriteMemory,
)
from contextproof.strategies import pairs, tables
from contextproof.strategies.author import ANOTHERS, Answer, Asked, Author, Sent
from contextproof.strategies.changes import CLOCKS, reversed_keys, routed
from contextproof.strategies.examples_writing import TOOLS, example, tool
from contextproof.strategies.sizes import share_of_body
from contextproof.strategies.state import Written, write, written

INTERNAL = Answer(trust=Trust.INTERNAL)


# --- What must leave the prefix alone -----------------------------------------------------------------


@example("sessions", memory=("The user's name is Ada.",))
def all_that_is_volatile_changes_between_requests(author: Author) -> None:
    """Clock, notices, memory and recall differ with every request of one turn."""
    author.user("Begin.")
    for number, clock in enumerate(CLOCKS):
        author.add(SetClock(clock=clock))
        author.add(SetEnvironment(items=(TextItem(id=author.new_id("e"), text=f"It is {clock}."),)))
        author.add(WriteMemory(id=author.new_id("m"), text=f"Memory {number}."))
        author.add(CorrectMemory(id=author.new_id("x"), memory_id="m1", text=f"Her name is Ada {number}."))
        author.add(Recall(items=(LabelledItem(id=author.new_id("q"), text=f"Found {number}."),)))
        author.reply("", [Asked(number % 2)])
    author.request()


@example("sessions", memory=("The user's name is Ada.",))
def everything_beside_history(author: Author) -> None:
    """Recall, working state, a correction and environment, with history before and calls in the turn."""
    author.user("Begin.")
    author.reply("Done.")
    author.user("And?")
    author.add(SetEnvironment(items=(TextItem(id="e1", text="Today is Friday."),)))
    author.add(CorrectMemory(id="x1", memory_id="m1", text="Her name is Eve."))
    author.add(Recall(items=(LabelledItem(id="q1", text="Eve likes tea."),)))
    write(author, "user", written([Written("constraints", "Answer in French.")]))
    author.reply("", [Asked(), Asked(1)], order=1)
    author.add(ForceCompaction())
    author.reply("Done.")
    author.close()


@example("sessions")
def a_session_resumed_again_and_again(author: Author) -> None:
    """Resumed before a request, within a turn, with a call open, and right after a compaction."""
    author.user("Begin.")
    author.add(Resume())
    author.reply("", [Asked(), Asked(1)], order=1)
    author.add(Resume())
    author.reply("", [Asked(answer=None), Asked(1)])
    author.add(Resume())
    author.open_calls = False
    author.reply("Done.")
    author.add(ForceCompaction())
    author.add(Resume())
    author.user("And?")
    author.request()


@example("sessions", body=2_000)
def resumed_once_something_gave_way(author: Author) -> None:
    """Older results became pointers; the process that goes on knows that only from what it is handed."""
    author.user("Begin.")
    for _ in range(4):
        author.reply("", [Asked(answer=Answer(text=share_of_body(1, 5, tables.PROSE[0])))])
    author.reply("Done.")
    author.user("And?")
    author.reply("", [Asked(answer=Answer(text=share_of_body(1, 4, tables.PROSE[0])))])
    author.add(Resume())
    author.request()
    author.reply("Done.")
    author.user("And now?")
    author.request()


@example("sessions")
def turns_after_a_compaction_in_the_middle_of_one(author: Author) -> None:
    """What a compaction passed over, since its turn was under way, stands before all that came later."""
    author.user("Begin.")
    for _ in range(3):
        author.reply("", [Asked(answer=INTERNAL)])
        author.add(ForceCompaction())
    author.reply("Done.")
    for question in ("And?", "And now?"):
        author.user(question)
        author.reply("", [Asked()])
        author.reply("Done.")
    author.user("Last.")
    author.request()


@example("sessions", memory=("Ada likes tea.", "The bridge opens at nine.", "The cat is called Ferry."))
def messages_about_memories_by_turns(author: Author) -> None:
    """Each message asks about another memory; the snapshot is the same for all of them."""
    for question in ("When does the bridge open?", "What is the cat called?", "What does Ada like?"):
        author.user(question)
        author.reply("I know.")
    author.request()


@example("sessions")
def every_send_fails_first(author: Author) -> None:
    """Requests fail up to three times, and the same request is built again each time."""
    for failures in (1, 3, 2):
        author.user("Try.")
        author.request(Sent(failures=failures))
        author.reply("", [Asked()])
    author.request(Sent(failures=1))


@example("sessions", tools=(tool(1, "read", parameters_json='{"b":1,"a":{"z":0,"y":[2,1]}}'),))
def arguments_keep_their_bytes(author: Author) -> None:
    """Arguments whose keys, numbers and spaces no JSON library would write the same way."""
    author.user("Begin.")
    for arguments in ('{"b":1,"a":{"z":0,"y":[2,1]}}', '{"a": 1.50, "a": 2}', " {}\n", "{'x'}", "1e999", ""):
        author.reply("", [Asked(arguments=arguments)])
    author.request()


# --- Tools and permissions ----------------------------------------------------------------------------


@example("revocations")
def sources_reconnect_in_every_order(author: Author) -> None:
    """Two sources with three tools register them in all six orders, keys turned round, once some missing."""
    author.user("Begin.")
    for order in permutations(TOOLS):
        turned = [
            each.model_copy(update={"parameters_json": reversed_keys(each.parameters_json)}) for each in order
        ]
        author.add(RegisterTools(tools=tuple(turned)))
        author.reply("", [Asked()])
    author.add(RegisterTools(tools=TOOLS[:1]))
    author.reply("", [Asked(1)])
    author.request()


@example("revocations", tools=(tool(1, "read"), tool(2, "Read"), tool(3, "read_all")))
def names_that_are_nearly_alike(author: Author) -> None:
    """Of tools whose names differ in case alone one is revoked, then the other, and each is called."""
    author.user("Begin.")
    for names in (("read", "read_all"), ("Read", "read_all"), ("READ",)):
        author.add(SetPermissions(permissions=names))
        author.reply("", [Asked(), Asked(1), Asked(2)])
    author.request()


@example("revocations")
def denied_among_parallel_calls(author: Author) -> None:
    """Of four parallel calls one is revoked, one is nobody's, one fails and one is never answered."""
    author.user("Begin.")
    author.add(SetPermissions(permissions=("read",)))
    answers = [Asked(), Asked(1), Asked(ANOTHERS), Asked(answer=Answer(status="error", text="rejected"))]
    author.reply("", answers, order=13)
    author.reply("", [Asked(1), Asked(answer=None)])
    author.user("And?")
    author.request()


@example("revocations")
def permissions_change_within_a_turn(author: Author) -> None:
    """All is revoked and granted again while the model keeps calling the same tool."""
    author.user("Begin.")
    for names in ((), ("write",), ("read", "write"), ()):
        author.add(SetPermissions(permissions=names))
        author.reply("", [Asked(1)])
    author.request()


@example("revocations", permitted=2)
def forced_revocations_of_every_kind(author: Author) -> None:
    """Pinned, the same again, never pinned, nobody's, and what only came later; the rest stays."""
    author.user("Begin.")
    author.add(RegisterTools(tools=(*TOOLS, tool(9, "late"))))
    author.add(SetPermissions(permissions=("read", "write", "late")))
    for name in ("read", "read", "context.update_working_state", "nobodys", "late", "write"):
        author.add(RevokeByForce(tool=name))
        author.reply("", [Asked(), Asked(1)])
    author.request()


@example("routing")
def overhead_differs_between_providers(author: Author) -> None:
    """One provider reports a fifth more than was counted; the other nothing; then back to the first."""
    author.user("Begin.")
    author.request(Sent(extra_ppm=200_000))
    author.reply("Done.")
    first = author.model
    for aspect in ("provider", "name", "back"):
        author.model = routed(author.model, first, aspect, len(author.steps))
        author.add(ChangeRouting(model=author.model))
        author.user("Again.")
        author.request(Sent(extra_tokens=1 if aspect == "back" else 0))
        author.reply("Done.")
    author.request()


@example("routing", body=8_000, memory=("的確如此。" * 40,))
def full_state_meets_another_tokenizer(author: Author) -> None:
    """Working state and a correction near their caps by one tokenizer are over them by the other."""
    chinese = "請把會議記錄整理成三點，並於週五前寄出。"
    write(author, "user", written([Written("constraints", chinese * 3) for _ in range(12)]))
    author.add(CorrectMemory(id="x1", memory_id="m1", text=chinese * 40))
    author.user("Begin.")
    author.request()
    author.add(ChangeRouting(model=routed(author.model, author.model, "tokenizer", 0)))
    author.user("And?")
    author.request()
    write(author, "user", written([Written("tasks", chinese)]))
    author.request()


# --- Calls and results --------------------------------------------------------------------------------


@example("pairs")
def call_ids_recur(author: Author) -> None:
    """The same id twice in a message, empty, in the next message, and in the next turn."""
    for question in ("Begin.", "Again."):
        author.user(question)
        author.reply("", [Asked(call_id="0"), Asked(1, call_id="0")], order=1)
        author.reply("", [Asked(call_id="0")])
        author.reply("", [Asked(call_id=""), Asked(1, call_id="")])
        author.reply("Done.")
    author.request()


@example("pairs")
def results_in_all_orders(author: Author) -> None:
    """Three parallel calls, and their results in all six orders."""
    author.user("Begin.")
    for order in range(6):
        author.reply("", [Asked(), Asked(1), Asked(answer=INTERNAL)], order=order)
    author.request()


@example("pairs")
def every_torn_log(author: Author) -> None:
    """Each malformed log is probed, then those that only look so; the session goes on as if nothing was."""
    author.user("Begin.")
    author.reply("", [Asked(call_id="1")])
    for shape in (*pairs.MALFORMED.values(), *pairs.WELL_FORMED.values()):
        author.probe(*pairs.entries(author, shape))
    author.reply("", [Asked(call_id="1", answer=None), Asked(1, call_id="2")])
    author.probe()
    author.user("And?")
    author.request()


@example("pairs")
def every_way_a_call_ends(author: Author) -> None:
    """Answered, failed, denied, interrupted, all in one message; then it is compacted."""
    author.add(SetPermissions(permissions=("read",)))
    author.user("Begin.")
    calls = [Asked(), Asked(answer=Answer(status="error")), Asked(1), Asked(answer=None)]
    author.reply("", calls, order=9)
    author.user("And?")
    author.reply("Done.")
    author.add(ForceCompaction())
    author.user("And now?")
    author.request()
