"""Cases written down: what chance could miss, and what has gone wrong in real software."""

from __future__ import annotations

from contextproof.conformance.play.scenario import FromCorpus, Repeat, Text
from contextproof.conformance.trimming.dialogue import Conversation, Step, ToolUse, Turn
from contextproof.conformance.trimming.generating import StrategyName
from contextproof.conformance.trimming.session import Case, Limit

_PROSE: Text = (FromCorpus(name="postmortem", characters=300),)
_OTHER: Text = (FromCorpus(name="postmortem", start=500, characters=300),)
_CHINESE: Text = (FromCorpus(name="handbook_zh", characters=200),)
_SYSTEM = "You are a careful assistant. Answer from the files alone."


def _step(*results: Text, argument: Text = "x", is_reversed: bool = False) -> Step:
    made = tuple(ToolUse(argument=argument, result=result) for result in results)
    return Step(uses=made, is_reversed=is_reversed)


def _talk(*turns: Turn, system: tuple[Text, ...] = (_SYSTEM,)) -> Conversation:
    return Conversation(system=system, turns=turns)


_TWO_CALLS = Turn(user="Compare both.", steps=(_step(_PROSE, _OTHER, is_reversed=True),), answer=("Done.",))
_TASK = Turn(user="Go through all files.", steps=tuple(_step(_PROSE) for _ in range(4)))
_STOPPED = (
    Turn(user="Look it up.", steps=(_step(_PROSE),)),
    Turn(user="No, wait."),
    Turn(user="Look there instead."),
)
_SHORT = tuple(Turn(user=f"Question {n}?", answer=(f"Answer {n}.",)) for n in range(12))


def _pressure() -> list[Case]:
    last = Turn(user="What now?")
    talk = _talk(_TWO_CALLS, _TWO_CALLS, last)
    return [
        *(_case(talk, Limit(of="newest", n=n)) for n in range(1, 9)),
        *(_case(_talk(_TASK), Limit(of="between", n=n)) for n in (0, 400, 800)),
        _case(_talk(_TASK, last), Limit(of="least", plus=5)),
        _case(_talk(_TWO_CALLS, _TWO_CALLS, Turn(user="")), Limit(of="between", n=500)),
        *(_case(_talk(*_STOPPED), Limit(of=of, n=500)) for of in ("least", "between", "room")),
    ]


def _edges() -> list[Case]:
    talk = _talk(_TWO_CALLS, Turn(user="And now?"))
    alone = _talk(Turn(user=_PROSE), system=())
    limits = [Limit(of=of, plus=plus) for of in ("least", "whole") for plus in (-1, 0, 1)]
    return [_case(one, limit) for one in (talk, alone) for limit in limits]


def _refusals() -> list[Case]:
    ends = (_talk(Turn(user=_PROSE)), _talk(_TWO_CALLS, Turn(user="And now?")), _talk(_TASK))
    return [_case(talk, Limit(of="bare", plus=plus)) for talk in ends for plus in (-1, 0)]


def _growing() -> list[Case]:
    worked = tuple(Turn(user=f"Step {n}.", steps=(_step(_PROSE),), answer=("Done.",)) for n in range(10))
    again = Conversation(system=(_SYSTEM,), turns=worked, traits=("recurring ids",))
    talked = tuple(Turn(user=f"Question {n}?", answer=(_PROSE,)) for n in range(30))
    return [
        Case(name="growing", conversation=talk, limit=Limit(of="between", n=share), is_growing=True)
        for talk, share in ((again, 300), (again, 600), (_talk(*talked), 600), (_talk(_TASK, *worked), 600))
    ]


def _texts() -> list[Case]:
    hostile: tuple[Text, ...] = (
        "<|endoftext|> and <|im_start|>system",
        "",
        "\x00\x1b[31m\u202e",
        _CHINESE,
        (Repeat(text="的", times=400),),
    )
    long: tuple[Text, ...] = ((Repeat(text="a", times=60_000),), (Repeat(text=" \n", times=30_000),))
    found = [
        _case(_talk(Turn(user=text, steps=(_step(text),), answer=(text,)), Turn(user="And?")), limit)
        for text in hostile
        for limit in (Limit(of="between", n=300), Limit(of="room"))
    ]
    found += [
        _case(_talk(Turn(user=text, answer=("x",)), Turn(user="And?")), limit)
        for text in long
        for limit in (Limit(of="between", n=300), Limit(of="room"))
    ]
    return [*found, _case(_talk(system=()), Limit(of="room")), _case(_talk(), Limit(of="room"))]


def _room() -> list[Case]:
    long, parallel = _talk(*_SHORT, Turn(user="And?")), _talk(_TWO_CALLS, Turn(user="And?"))
    return [_case(talk, Limit(of="room", plus=plus)) for talk in (long, parallel) for plus in (0, 100_000)]


def _case(talk: Conversation, limit: Limit) -> Case:
    return Case(name="written down", conversation=talk, limit=limit)


def written_down(name: StrategyName) -> list[Case]:
    """The cases written down beside a strategy."""
    match name:
        case "pressure":
            return _pressure()
        case "edges":
            return _edges()
        case "refusals":
            return _refusals()
        case "growing":
            return _growing()
        case "texts":
            return _texts()
        case "room":
            return _room()
