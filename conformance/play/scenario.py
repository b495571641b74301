"""A scenario: an opening and a list of steps, as data that replays against any builder.

Texts are literal or recipes, resolved against the builder at hand when played (`recipes`). Every
item the scenario brings into the log has an id of the author's choosing, so that later steps can
refer to it. What a builder's legitimate choices make impossible is skipped when played, and said so:
a reply to a request that was never sent, for example.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from contextproof.conformance.contract.base import Count, Frozen, Id
from contextproof.conformance.contract.items import LogItem
from contextproof.conformance.contract.tokenizers import TokenizerName
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.contract.working_state import TaskStatus
from contextproof.conformance.play.clock import Clock

SCENARIO_VERSION: Final = 1


class Literally(Frozen):
    """The text itself."""

    kind: Literal["literal"] = "literal"
    text: str


class Repeat(Frozen):
    """A text, so many times over."""

    kind: Literal["repeat"] = "repeat"
    text: str
    times: Count


class FromCorpus(Frozen):
    """``characters`` characters of a named corpus text from ``start`` on, wrapping around at its end."""

    kind: Literal["corpus"] = "corpus"
    name: str
    start: Count = 0
    characters: Count


class OwnDelimiter(Frozen):
    """One of the delimiters this very builder declares (the index wraps around)."""

    kind: Literal["delimiter"] = "delimiter"
    index: Count = 0


class SentPart(Frozen):
    """Part of a block as this very builder last sent it: its nonce, opening, closing, or all of it.

    ``item`` is the item's id; ``framing`` stands for the framing and ``checkpoint`` for the latest
    checkpoint's summary. Empty where nothing of the kind was sent.
    """

    kind: Literal["sent"] = "sent"
    item: Id
    part: Literal["nonce", "opening", "closing", "whole"] = "whole"


Piece = Annotated[Literally | Repeat | FromCorpus | OwnDelimiter | SentPart, Field(discriminator="kind")]
Text = str | tuple[Piece, ...]
"""A literal text, or pieces to be joined."""


class ScenarioModel(Frozen):
    """A model. Its window is given in tokens, or as what the body is to have (``body_tokens``).

    With ``body_tokens`` the window becomes reserve + this builder's own prefix + body tokens, so that
    pressure does not depend on how long a builder's framing is.
    """

    name: Id
    provider: str = "example"
    endpoint: str = "default"
    reasoning_mode: str = "off"
    tokenizer: TokenizerName = "o200k_base"
    window: Count | None = None
    body_tokens: Count | None = None
    output_reserve: Count = 4_000
    overhead_per_block: Count = 4

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.window is None) == (self.body_tokens is None):
            raise ValueError("give either window or body_tokens")
        return self


class TextItem(Frozen):
    """An item that is only a text."""

    id: Id
    text: Text


class LabelledItem(TextItem):
    """A text with a trust label, a source and a provenance; what does not apply stays as it is."""

    trust: Trust | None = None
    source: Text = "memory"
    derived_from: tuple[Id, ...] = ()


class ScenarioTool(Frozen):
    """A tool as its source registers it; ``parameters_json`` keeps the source's key order."""

    id: Id
    name: Text
    description: Text
    parameters_json: str = "{}"
    source: Text = "builtin"


class ScenarioOpening(Frozen):
    """What the session opens with. ``permissions`` name the tools permitted."""

    platform_secret: Annotated[str, Field(min_length=16)] = "known to everyone, as scenarios are"  # noqa: S105
    clock: Clock = "2026-03-27T09:00:00+01:00"
    model: ScenarioModel
    policy: Annotated[tuple[TextItem, ...], Field(min_length=1)]
    instructions: tuple[TextItem, ...] = ()
    tools: tuple[ScenarioTool, ...] = ()
    permissions: tuple[Text, ...] = ()
    memory: tuple[LabelledItem, ...] = ()


class StateEntry(Frozen):
    """An entry of working state; ``status`` for tasks, ``resolved`` for questions."""

    id: Id
    text: Text
    derived_from: tuple[Id, ...] = ()
    status: TaskStatus = TaskStatus.PENDING
    resolved: bool = False


class StateChange(Frozen):
    """A change of working state, with texts still to be resolved."""

    constraints: tuple[StateEntry, ...] = ()
    tasks: tuple[StateEntry, ...] = ()
    established_facts: tuple[StateEntry, ...] = ()
    open_questions: tuple[StateEntry, ...] = ()
    remove_constraints: tuple[Id, ...] = ()


class Outcome(Frozen):
    """How a tool answers a call that is permitted."""

    id: Id
    status: Literal["ok", "error"] = "ok"
    text: Text = ""
    source: Text = "tool"
    trust: Trust | None = None
    derived_from: tuple[Id, ...] = ()


class Call(Frozen):
    """A call in a reply. With ``update`` its arguments are that change as JSON.

    ``outcome`` is what the tool answers, if the call is allowed; without one it is never answered,
    and the runtime closes it as interrupted in time. Calls of the working-state tool are answered by
    the engine and need none.
    """

    id: Id
    call_id: str
    name: Text
    arguments: Text = "{}"
    update: StateChange | None = None
    derived_from: tuple[Id, ...] = ()
    outcome: Outcome | None = None


class UserSays(Frozen):
    """The user writes: a new turn starts. What is still open is closed as interrupted first."""

    step: Literal["user"] = "user"
    id: Id
    text: Text
    derived_from: tuple[Id, ...] = ()


class SendRequest(Frozen):
    """A request is built and sent. The first ``failures`` sends fail and are retried.

    The response reports the count, plus ``extra_tokens``, plus ``extra_ppm`` millionths of it.
    """

    step: Literal["request"] = "request"
    failures: Annotated[int, Field(ge=0, le=3)] = 0
    extra_tokens: Count = 0
    extra_ppm: Count = 0


class ModelReplies(Frozen):
    """The model answers the request just sent. ``order`` names calls by id as their results come in."""

    step: Literal["reply"] = "reply"
    id: Id
    text: Text = ""
    derived_from: tuple[Id, ...] = ()
    calls: tuple[Call, ...] = ()
    order: tuple[Id, ...] = ()

    @model_validator(mode="after")
    def _order_names_calls(self) -> Self:
        ids = [call.id for call in self.calls]
        if self.order and sorted(self.order) != sorted(ids):
            raise ValueError("order must name each call of the reply once")
        return self


class SetPermissions(Frozen):
    """The permissions change, softly."""

    step: Literal["permissions"] = "permissions"
    permissions: tuple[Text, ...]


class RegisterTools(Frozen):
    """Tool sources (re)connect: these tools are registered now, in this order."""

    step: Literal["tools"] = "tools"
    tools: tuple[ScenarioTool, ...]


class WriteMemory(LabelledItem):
    """A memory is written."""

    step: Literal["remember"] = "remember"


class CorrectMemory(LabelledItem):
    """A memory item is corrected."""

    step: Literal["correct"] = "correct"
    memory_id: Id


class SetClock(Frozen):
    """The wall clock is set. With every request it is a second later."""

    step: Literal["clock"] = "clock"
    clock: Clock


class ChangeRouting(Frozen):
    """The session is routed to another model."""

    step: Literal["routing"] = "routing"
    model: ScenarioModel


class RevokeByForce(Frozen):
    """The operator withdraws a tool at once."""

    step: Literal["forced_revocation"] = "forced_revocation"
    tool: Text


class Recall(Frozen):
    """What is retrieved for this turn, ranked."""

    step: Literal["recall"] = "recall"
    items: tuple[LabelledItem, ...]


class SetEnvironment(Frozen):
    """What the runtime tells, from now on."""

    step: Literal["environment"] = "environment"
    items: tuple[TextItem, ...]


class WriteState(Frozen):
    """The user or the runtime changes working state."""

    step: Literal["write_state"] = "write_state"
    id: Id
    by: Literal["user", "runtime"]
    change: StateChange


SummarizerMode = Literal[
    "faithful",
    "fixed",
    "echo",
    "verbose",
    "empty",
    "blank",
    "cut_short",
    "raises",
    "times_out",
    "fails_later",
]
"""How a summarizer can behave; `SetSummarizer` says what each does."""


class SetSummarizer(Frozen):
    """How the summarizer behaves from now on.

    ``faithful`` tells each part's beginning; ``fixed`` returns ``text``; ``echo`` returns all it was
    given; ``verbose`` writes four times what was asked for; ``empty`` and ``blank`` write nothing;
    ``cut_short`` stops at its limit; ``raises`` and ``times_out`` fail, ``fails_later`` does from the
    second call of a compaction on.
    """

    step: Literal["summarizer"] = "summarizer"
    mode: SummarizerMode
    text: Text = ""


class ForceCompaction(Frozen):
    """A compaction is ordered, needed or not."""

    step: Literal["compact"] = "compact"


class Resume(Frozen):
    """The session goes on in a fresh process, everything handed over as JSON."""

    step: Literal["resume"] = "resume"


class ProbeBuild(Frozen):
    """One build over the log with these entries added; nothing of it is sent or kept."""

    step: Literal["probe"] = "probe"
    items: tuple[LogItem, ...]


class CloseSession(Frozen):
    """The session ends."""

    step: Literal["close"] = "close"


Step = Annotated[
    UserSays
    | SendRequest
    | ModelReplies
    | SetPermissions
    | RegisterTools
    | WriteMemory
    | CorrectMemory
    | SetClock
    | ChangeRouting
    | RevokeByForce
    | Recall
    | SetEnvironment
    | WriteState
    | SetSummarizer
    | ForceCompaction
    | Resume
    | ProbeBuild
    | CloseSession,
    Field(discriminator="step"),
]


class Scenario(Frozen):
    """A session to be played."""

    version: Literal[1] = SCENARIO_VERSION
    name: Id
    title: str = ""
    opening: ScenarioOpening
    steps: tuple[Step, ...]
