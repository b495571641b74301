"""The author: writes a scenario down step by step, so that whatever is written is valid.

Strategies draw *moves*: functions of an author, drawn before any of them is applied. A move says what
happens in terms of what there is ("the second tool", "derives from the latest entry"), and the author
finds out what that means where the session stands: it keeps ids unique, knows what exists and which
calls are open, and starts a turn where a move needs one. So a list of moves stays a session when any
of them is taken away, which is how Hypothesis shrinks it, and nothing is ever filtered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from contextproof.conformance.contract.items import WORKING_STATE_TOOL, LogItem
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.play.scenario import (
    Call,
    CloseSession,
    ModelReplies,
    Outcome,
    ProbeBuild,
    Scenario,
    ScenarioModel,
    ScenarioOpening,
    ScenarioTool,
    SendRequest,
    StateChange,
    StateEntry,
    Step,
    Text,
    UserSays,
)

Links = tuple[int, ...]
"""What something derives from: 0 is the latest entry of the log, 1 the one before, and so on."""

ANOTHERS, CONTROL = -1, -2
"""Stand for a tool that nobody registered, and for the working-state tool, where a call's is chosen."""

Field = Literal["constraints", "tasks", "established_facts", "open_questions"]

#: Letters whose ids take the author's mark: those that builders print in sources and references.
_MARKED = frozenset("mrq")
#: How many tokens a prefix may take that is not measured yet, where a window is given as such.
_PREFIX_ALLOWANCE = 1_500


class Answer(NamedTuple):
    """How a tool answers a call."""

    text: Wording = "found"
    status: Literal["ok", "error"] = "ok"
    trust: Trust | None = None
    source: Text = "tool"
    links: Links = ()


class Asked(NamedTuple):
    """A call of a reply. Without ``call_id`` it has one of its own; without ``answer`` it stays open."""

    tool: int = 0
    call_id: str | None = None
    arguments: Wording = "{}"
    answer: Answer | None = Answer()
    links: Links = ()
    update: Callable[[Author], StateChange] | None = None


class Sent(NamedTuple):
    """How a request fares: how often it fails first, and what the response reports beyond the count."""

    failures: int = 0
    extra_tokens: int = 0
    extra_ppm: int = 0


class Author:
    """Writes one scenario. Not for use by two strategies at once."""

    def __init__(self, opening: ScenarioOpening, mark: str = "") -> None:
        """Begin after an opening. ``mark`` goes into ids that builders print: hostile, or nothing."""
        self.opening = opening
        self.steps: list[Step] = []
        self.tools: tuple[ScenarioTool, ...] = opening.tools
        self.permitted: tuple[Text, ...] = opening.permissions
        self.memories: list[str] = [item.id for item in opening.memory]
        self.entries: dict[Field, list[str]] = {
            "constraints": [],
            "tasks": [],
            "established_facts": [],
            "open_questions": [],
        }
        self.model: ScenarioModel = opening.model
        self.awaited = False
        self.in_turn = False
        self.open_calls = False
        self._mark = mark
        self._used = {"m": len(opening.memory), "t": len(opening.tools)}
        # Not tools: the record leaves open what becomes of what rests on one that is withdrawn.
        self._known = [
            *(item.id for item in (*opening.policy, *opening.instructions)),
            *(item.id for item in opening.memory),
        ]

    @property
    def body(self) -> int:
        """Tokens that the body has: exact where the scenario says so, else about."""
        model = self.model
        if model.body_tokens is not None:
            return model.body_tokens
        return max(1_000, (model.window or 0) - model.output_reserve - _PREFIX_ALLOWANCE)

    def new_id(self, letter: str) -> str:
        """An id that nothing has yet."""
        number = self._used[letter] = self._used.get(letter, 0) + 1
        return f"{letter}{number}{self._mark if letter in _MARKED else ''}"

    def word(self, wording: Wording) -> Text:
        """A text, in the terms of this session."""
        return wording(self) if callable(wording) else wording

    def derived(self, links: Links) -> tuple[str, ...]:
        """The ids that links lead to, each once."""
        known = self._known
        return tuple(dict.fromkeys(known[-1 - link % len(known)] for link in links))

    def add(self, step: Step) -> None:
        """Write a step that changes nothing an author keeps in mind."""
        self.steps.append(step)

    # --- Turns -----------------------------------------------------------------------------------

    def user(self, text: Wording = "x", links: Links = ()) -> None:
        """The user writes; open calls are thereby interrupted."""
        identifier = self.new_id("u")
        self.add(UserSays(id=identifier, text=self.word(text), derived_from=self.derived(links)))
        self._known.append(identifier)
        self.in_turn, self.awaited, self.open_calls = True, False, False

    def request(self, sent: Sent | None = None) -> None:
        """A request is sent; in a new turn, where there is none or a call is open."""
        if not self.in_turn or self.open_calls:
            self.user()
        self.add(SendRequest(**(sent or Sent())._asdict()))
        self.awaited = True

    def reply(
        self, text: Wording = "", asked: Sequence[Asked] = (), *, order: int = 0, links: Links = ()
    ) -> None:
        """The model answers a request, which is sent first where none waits for it.

        ``order`` numbers the permutations of the calls: 0 is the order in which they are made.
        """
        if not self.awaited:
            self.request()
        identifier = self.new_id("a")
        step_text, derived = self.word(text), self.derived(links)
        self._known.append(identifier)
        calls = tuple(self._call(call) for call in asked)
        names = [call.id for call in calls]
        self.add(
            ModelReplies(
                id=identifier,
                text=step_text,
                derived_from=derived,
                calls=calls,
                order=permuted(names, order) if order else (),
            )
        )
        self._known += [call.outcome.id for call in calls if call.outcome]
        self.awaited = False
        self.open_calls = any(call.outcome is None and call.name != WORKING_STATE_TOOL for call in calls)

    def _call(self, asked: Asked) -> Call:
        identifier = self.new_id("c")
        update = asked.update(self) if asked.update else None
        derived = self.derived(asked.links)
        self._known.append(identifier)
        name = WORKING_STATE_TOOL if asked.update else self.tool(asked.tool)
        return Call(
            id=identifier,
            call_id=identifier if asked.call_id is None else asked.call_id,
            name=name,
            arguments=self.word(asked.arguments),
            update=update,
            derived_from=derived,
            outcome=None if name == WORKING_STATE_TOOL else self._outcome(asked.answer),
        )

    def _outcome(self, answer: Answer | None) -> Outcome | None:
        if answer is None:
            return None
        return Outcome(
            id=self.new_id("r"),
            status=answer.status,
            text=self.word(answer.text),
            source=answer.source,
            trust=answer.trust,
            derived_from=self.derived(answer.links),
        )

    def tool(self, which: int) -> Text:
        """The name of a tool: one of those registered when the session opened, or as the constants say."""
        if which == CONTROL:
            return WORKING_STATE_TOOL
        tools = [tool.name for tool in self.opening.tools if tool.name != WORKING_STATE_TOOL]
        return tools[which % len(tools)] if tools and which != ANOTHERS else "somebody_elses_tool"

    # --- Working state ---------------------------------------------------------------------------

    def entry(self, field: Field, text: Wording = "x", links: Links = ()) -> StateEntry:
        """A new entry of working state, to be put into a change."""
        identifier = self.new_id({"constraints": "k", "tasks": "j", "established_facts": "f"}.get(field, "o"))
        entry = StateEntry(id=identifier, text=self.word(text), derived_from=self.derived(links))
        self.entries[field].append(identifier)
        return entry

    def latest(self, field: Field, back: int = 0) -> str | None:
        """The id of an entry written earlier, or None where there is none."""
        known = self.entries[field]
        return known[-1 - back % len(known)] if known else None

    # --- The rest --------------------------------------------------------------------------------

    def probe(self, *items: LogItem) -> None:
        """One build with these entries added to the log, in a turn without open calls."""
        if not self.in_turn or (self.open_calls and items):
            self.user()
        self.add(ProbeBuild(items=items))

    def close(self) -> None:
        """The session ends."""
        self.add(CloseSession())

    def scenario(self, name: str, title: str = "") -> Scenario:
        """What was written."""
        return Scenario(name=name, title=title, opening=self.opening, steps=tuple(self.steps))


Move = Callable[[Author], None]
"""Something that happens, said before it is known where the session then stands."""

Wording = Text | Callable[[Author], Text]
"""A text, or one that depends on the session: a share of its body, for example."""


def permuted(names: Sequence[str], number: int) -> tuple[str, ...]:
    """One of the orders of some names; the number wraps around, and 0 changes nothing."""
    left, order = list(names), []
    while left:
        number, place = divmod(number, len(left))
        order.append(left.pop(place))
    return tuple(order)
