"""Trimmers with one fault in what they give back: torn pairs, lost or reworded messages, another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contextproof.calibration.trimmers import breaks
from contextproof.calibration.trimmers.units import (
    Message,
    Unit,
    anthropic_units,
    exact,
    joined,
    kept,
    needed,
    openai_units,
    sound,
)


@breaks("CTX-09.1")
def cuts_between_messages(messages: list[Message], limit: int) -> list[Message]:
    """Fills up with the newest messages one by one, wherever that cuts: a result stands without its call.

    Seen in langchain-ai/langchain#33245.
    """
    units = openai_units(messages)
    places = kept(units, limit)
    back = joined(units, places)
    lost = [place for place in range(len(units)) if place not in places]
    torn = units[lost[-1]].messages if lost else ()
    if len(torn) < 2 or sum(map(exact, (*back, torn[-1]))) > limit:  # noqa: PLR2004 -- a call and a result
        return back
    before = joined(units, [place for place in places if place < lost[-1]])
    return [*before, torn[-1], *back[len(before) :]]


@breaks("CTX-09.1")
def leaves_orphaned_results(messages: list[Message], limit: int) -> list[Message]:
    """Pops what is oldest until it fits, and mends the pair at the front alone: others stay torn.

    Seen in microsoft/autogen#7955.
    """
    units = openai_units(messages)
    places = kept(units, limit)
    back = joined(units, places)
    if len(places) == len(units):
        return back
    calls = [n for n, message in enumerate(back[:-1]) if message.get("tool_calls")]
    if calls and units[-1].kind != "calls":
        del back[calls[-1]]
    return back


@breaks("CTX-09.1")
def pairs_by_id_over_the_session(messages: list[Message], limit: int) -> list[Message]:
    """Keeps one result for each call id, the latest: where a provider counts ids anew, others are lost.

    Seen in QwenLM/qwen-code#5099.
    """
    latest = {m["tool_call_id"]: n for n, m in enumerate(messages) if m["role"] == "tool"}
    sent = sound(messages, limit)
    offset = len(messages) - len(sent)
    return [
        message
        for n, message in enumerate(sent)
        if message["role"] != "tool" or n + offset >= latest[message["tool_call_id"]]
    ]


@breaks("CTX-08.3")
def drops_the_system_message(messages: list[Message], limit: int) -> list[Message]:
    """Keeps the newest, whatever is oldest: once something must go, the system text goes first.

    Seen in microsoft/semantic-kernel#12612.
    """
    units = openai_units(messages)
    places = kept(units, limit)
    if len(places) == len(units):
        return joined(units, places)
    return joined(units, [place for place in places if units[place].kind != "system"])


@breaks("CTX-08.3")
def drops_the_current_user_message(messages: list[Message], limit: int) -> list[Message]:
    """Takes the end of the list for what matters: in a long run of tools the question itself goes.

    What is current has been lost in openai/codex#10346.
    """

    def needs(units: Sequence[Unit]) -> set[int]:
        stays = needed(units)
        worked_on = bool(units) and units[-1].kind == "calls"
        return {n for n in stays if units[n].kind != "user"} if worked_on else stays

    return sound(messages, limit, needs=needs)


@breaks("CTX-08.3", "anthropic")
def drops_words_with_results(messages: list[Message], limit: int) -> list[Message]:
    """Throws a message with results out as a whole, and with it what the user said behind them.

    Seen in RooCodeInc/Roo-Code#10927.
    """
    units = anthropic_units(messages)
    places = kept(units, limit, opens_with_user=True)
    if len(places) == len(units):
        return list(messages)
    last = units[-1].messages[0] if units else {}
    torn = last and last not in messages and len(units) - 2 not in places
    back = places[:-1] if torn else places
    return joined(units, back)


@breaks("CTX-08.8")
def merges_users_in_a_row(messages: list[Message], limit: int) -> list[Message]:
    """Joins user messages that follow one another, as an API once demanded: what was sent is reworded.

    The same state sent in another form is in vercel/ai#10604 and cline/cline#13419.
    """
    merged: list[Message] = []
    for message in sound(messages, limit):
        if merged and message["role"] == merged[-1]["role"] == "user":
            merged[-1] = {**message, "content": f"{_words(merged[-1])}\n\n{_words(message)}"}
        else:
            merged.append(message)
    return merged


def _words(message: Message) -> str:
    content: Any = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@breaks("CTX-08.8")
def swaps_parallel_results(messages: list[Message], limit: int) -> list[Message]:
    """Gives results the ids of the calls in order, whatever order they came back in.

    Results that come back in another order are in TraderAlice/OpenAlice#55.
    """
    back: list[Message] = []
    for unit in openai_units(sound(messages, limit)):
        ids = [call["id"] for message in unit.messages for call in message.get("tool_calls") or ()]
        results = [message for message in unit.messages if message["role"] == "tool"]
        back += [message for message in unit.messages if message["role"] != "tool"]
        back += [{**result, "tool_call_id": ids[n]} for n, result in enumerate(results)]
    return back


@breaks("CTX-02.4")
def sorts_what_must_stay_to_the_front(messages: list[Message], limit: int) -> list[Message]:
    """Puts what must stay first and the rest behind it: answers stand before their questions.

    Order lost by collecting backwards is in langchain-ai/langchain#29637.
    """
    units = openai_units(messages)
    places = kept(units, limit)
    stays = needed(units)
    if len(places) < len(units):
        places.sort(key=lambda place: (place not in stays, place))
    return joined(units, places)


@breaks("TRIM-1", "anthropic")
def opens_with_the_assistant(messages: list[Message], limit: int) -> list[Message]:
    """Cuts where the room ends, be it between a question and its answer: the assistant comes first.

    Seen in lobehub/lobehub#1601.
    """
    units = anthropic_units(messages)
    places = kept(units, limit)
    return list(messages) if len(places) == len(units) else joined(units, places)
