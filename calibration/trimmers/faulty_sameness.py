"""Trimmers with one fault in sameness: another answer next time, a changed input, bytes that do not stay."""

from __future__ import annotations

import random

from contextproof.calibration.trimmers import breaks
from contextproof.calibration.trimmers.units import (
    DoesNotFit,
    Message,
    exact,
    joined,
    kept,
    needed,
    openai_units,
    sound,
)

#: Results that are left as they are by a trimmer that clears what is older.
_RECENT = 1


@breaks("CTX-10.1")
def drops_at_random(messages: list[Message], limit: int) -> list[Message]:
    """Draws what else to leave out once something must go: a retry sends another request.

    What a request holds that is new each time is in anthropics/claude-code#68900.
    """
    units = openai_units(messages)
    places = kept(units, limit)
    free = sorted(set(places) - needed(units))
    if len(places) == len(units) or not free:
        return joined(units, places)
    drawn = random.SystemRandom().choice([*free, None])
    return joined(units, [place for place in places if place != drawn])


@breaks("CTX-10.3")
def drops_by_hash(messages: list[Message], limit: int) -> list[Message]:
    """Chooses by hash values, which another process has others of.

    Order taken from a hash map is in openai/codex#2611.
    """
    units = openai_units(messages)
    places = kept(units, limit)
    free = sorted(set(places) - needed(units), key=lambda place: hash(str(units[place].messages)))
    if len(places) == len(units) or not free:
        return joined(units, places)
    return joined(units, [place for place in places if place != free[0]])


@breaks("CTX-10.2")
def cuts_the_callers_list(messages: list[Message], limit: int) -> list[Message]:
    """Cuts the list that it was handed: the history itself is shorter afterwards.

    Seen in 567-labs/instructor#2437.
    """
    messages[:] = sound(messages, limit)
    return messages


@breaks("CTX-16.1")
def shortens_results_to_the_room_left(messages: list[Message], limit: int) -> list[Message]:
    """Cuts older results to the room that is left, which is another with every message.

    Results that are edited again and again are in QwenLM/qwen-code#8452.
    """
    units = openai_units(messages)
    older = {n for n, unit in enumerate(units) if unit.kind == "calls"} - needed(units)
    if sum(map(exact, messages)) <= limit or not older:
        return sound(messages, limit)
    length = max(1, (limit - sum(map(exact, messages)) % limit) // 8)
    cut = [
        _cut(message, length) if place in older else message
        for place, unit in enumerate(units)
        for message in unit.messages
    ]
    return sound(cut, limit)


def _cut(message: Message, length: int) -> Message:
    content = message["content"]
    if message["role"] != "tool" or not isinstance(content, str) or len(content) <= length:
        return message
    return {**message, "content": content[:length]}


@breaks("CTX-16.3")
def slides_with_every_message(messages: list[Message], limit: int) -> list[Message]:
    """Drops no more than it must: at the limit, every request leaves out a little more.

    Seen in HKUDS/nanobot#4568.
    """
    units = openai_units(messages)
    stays = needed(units)
    spare = limit - sum(exact(message) for place in stays for message in units[place].messages)
    if spare < 0:
        raise DoesNotFit(f"{-spare} tokens too many")
    for place in range(len(units) - 1, -1, -1):
        if place not in stays:
            spare -= sum(map(exact, units[place].messages))
            if spare < 0:
                break
            stays.add(place)
    return joined(units, sorted(stays))
