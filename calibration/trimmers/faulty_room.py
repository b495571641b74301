"""Trimmers with one fault in what they take for room, or in how they say that there is none."""

from __future__ import annotations

from contextproof.calibration.trimmers import breaks
from contextproof.calibration.trimmers.units import (
    DoesNotFit,
    Message,
    Unit,
    anthropic_units,
    exact,
    joined,
    kept,
    needed,
    openai_units,
    sound,
    texts,
)

#: How many messages a trimmer keeps that counts messages.
_MESSAGES = 10


@breaks("CTX-06.2")
def four_characters_a_token(messages: list[Message], limit: int) -> list[Message]:
    """Takes four characters for a token: Chinese is four times as much, and so is dense code.

    Seen in openclaw/openclaw#70052.
    """
    return sound(messages, limit, size=lambda message: sum(map(len, texts(message))) // 4)


@breaks("CTX-06.2")
def counts_no_calls(messages: list[Message], limit: int) -> list[Message]:
    """Counts what was said and what came back, but not the calls with their arguments.

    What is sent and not counted is in langchain-ai/langchain#34664.
    """

    def size(message: Message) -> int:
        return exact({**message, "tool_calls": []})

    return sound(messages, limit, size=size)


@breaks("CTX-06.2")
def stops_one_unit_short(messages: list[Message], limit: int) -> list[Message]:
    """Drops until the next one would bring it below the limit, and so gives a little more than fits.

    A limit that its own parts overrun is in crewAIInc/crewAI#2659.
    """
    units = openai_units(messages)
    places = kept(units, limit)
    size = sum(map(exact, joined(units, places)))
    lost = [place for place in range(len(units)) if place not in places]
    if lost and size <= limit:
        places = sorted([*places, lost[-1]])
    return joined(units, places)


@breaks("CTX-08.1")
def keeps_ten_messages(messages: list[Message], limit: int) -> list[Message]:
    """Keeps the system text and ten messages or so, however much room there is.

    Seen in thedotmack/claude-mem#3096.
    """
    units = openai_units(messages)
    places = kept(units, limit)
    stays = needed(units)
    while sum(len(units[place].messages) for place in places) > _MESSAGES and set(places) - stays:
        places.remove(min(set(places) - stays))
    return joined(units, places)


@breaks("CTX-08.1")
def leaves_headroom_every_time(messages: list[Message], limit: int) -> list[Message]:
    """Drops the oldest unit once more each time, whether or not there was need.

    Compaction below its own trigger is in QwenLM/qwen-code#6556.
    """
    units = openai_units(messages)
    places = kept(units, limit)
    free = sorted(set(places) - needed(units))
    return joined(units, [place for place in places if place not in free[:1]])


@breaks("CTX-08.5")
def gives_nothing_where_it_cannot_fit(messages: list[Message], limit: int) -> list[Message]:
    """Gives an empty list where what must be sent does not fit, and leaves the rest to the provider.

    What must be refused in words is in run-llama/llama_index#9371.
    """
    try:
        return sound(messages, limit)
    except DoesNotFit:
        return []


@breaks("CTX-08.5")
def falls_over_an_empty_list(messages: list[Message], limit: int) -> list[Message]:
    """Drops until nothing is left to drop, and raises an IndexError then: nobody is told why.

    Seen in langchain-ai/langchain#26895.
    """
    try:
        return sound(messages, limit)
    except DoesNotFit:
        left: list[Message] = []
        return [left.pop(0)]


@breaks("CTX-08.9")
def refuses_long_conversations(messages: list[Message], limit: int) -> list[Message]:
    """Refuses whatever is more than twice the limit, though most of it could go.

    A session that cannot go on because of its history is in Kilo-Org/kilocode#12769.
    """
    if sum(map(exact, messages)) > 2 * limit:
        raise DoesNotFit("the conversation is too long")
    return sound(messages, limit)


@breaks("CTX-11.6")
def refuses_special_tokens(messages: list[Message], limit: int) -> list[Message]:
    """Counts with an encoder that raises where a text holds the text of a special token.

    Seen in RooCodeInc/Roo-Code#7539.
    """
    if any("<|endoftext|>" in text for message in messages for text in texts(message)):
        raise ValueError("text corresponding to a disallowed special token: '<|endoftext|>'")
    return sound(messages, limit)


@breaks("CTX-11.6", "anthropic")
def takes_the_first_message_for_granted(messages: list[Message], limit: int) -> list[Message]:
    """Looks at the first message's first block, which an empty conversation does not have.

    Seen in langchain-ai/langchain#30376.
    """
    units: list[Unit] = anthropic_units(messages)
    if units[0].kind == "user" and len(units) == 1:
        return list(messages) if exact(messages[0]) <= limit else _refused(limit)
    places = kept(units, limit, opens_with_user=True)
    return list(messages) if len(places) == len(units) else joined(units, places)


def _refused(limit: int) -> list[Message]:
    raise DoesNotFit(f"the message takes more than {limit} tokens")


@breaks("TRIM-2")
def loops_where_nothing_can_go(messages: list[Message], limit: int) -> list[Message]:
    """Goes on dropping until it fits, also when nothing is left that it may drop.

    Seen in MoonshotAI/kimi-code#2498.
    """
    while True:
        try:
            return sound(messages, limit)
        except DoesNotFit:
            continue


@breaks("TRIM-2")
def gives_a_text_instead(messages: list[Message], limit: int) -> list[Message] | str:
    """Gives a sentence in place of messages where it had to drop something.

    An error's text that took the place of history is in langchain-ai/langchain#38867.
    """
    back = sound(messages, limit)
    return back if len(back) == len(messages) else "earlier messages were removed"
