"""Explicit sessions of scarcity: oversize messages and batches, thresholds, caps."""

from __future__ import annotations

from contextproof.conformance.contract.caps import CAPS
from contextproof.conformance.contract.vocabulary import TokenClass, Trust
from contextproof.conformance.play.scenario import (
    ChangeRouting,
    CorrectMemory,
    ForceCompaction,
    LabelledItem,
    Recall,
    SetEnvironment,
    TextItem,
)
from contextproof.strategies import tables
from contextproof.strategies.author import Answer, Asked, Author, Sent, Wording
from contextproof.strategies.examples_writing import example
from contextproof.strategies.sizes import exact_share, share_of_body, text_of_tokens

PROSE = tables.PROSE[0]


def _result(text: Wording, trust: Trust | None = None) -> Asked:
    return Asked(answer=Answer(text=text, trust=trust, source="page"))


def _compact(author: Author) -> None:
    author.add(ForceCompaction())
    author.request()


@example("pressure", body=2_000)
def the_first_message_is_too_large(author: Author) -> None:
    """Nothing is there to be given up but the message itself, which never is; then a shorter one."""
    author.user(exact_share(3, 2))
    author.request()
    author.user("Shorter, then.")
    author.reply("", [Asked()])
    author.request()


@example("pressure", body=1_000)
def the_least_body(author: Author) -> None:
    """A prefix that leaves the least body: short turns go on, and nothing compacts in a circle."""
    for _ in range(6):
        author.user("Hi.")
        author.reply("Hello.")
    author.request()


@example("pressure", body=4_000)
def one_batch_of_twenty_results(author: Author) -> None:
    """Twenty parallel results, each within the cap, together twice the body."""
    author.user("Read them all.")
    author.reply("", [Asked(answer=Answer(text=share_of_body(1, 10, PROSE))) for _ in range(20)])
    author.reply("Done.")
    author.request()


@example("pressure", body=5_000)
def recall_over_its_cap_and_the_limit(author: Author) -> None:
    """An item that alone exceeds the cap, a ranking that does together, and one that does not fit."""
    for sizes in ((2_001, 100), (1_200, 700, 101), (1_200, 900, 100), (1_900, 100), (900, 900)):
        author.user("Which?")
        items = [
            LabelledItem(id=author.new_id("q"), text=text_of_tokens("o200k_base", tokens)) for tokens in sizes
        ]
        author.add(Recall(items=tuple(items)))
        author.reply(share_of_body(1, 6, PROSE))


@example("pressure", body=5_000, memory=("x",))
def standing_classes_over_their_caps(author: Author) -> None:
    """Environment and a correction at their caps are sent, and one token over are not."""
    author.user("Begin.")
    for plus in (0, 1):
        text = text_of_tokens("o200k_base", CAPS[TokenClass.ENVIRONMENT] + plus)
        author.add(SetEnvironment(items=(TextItem(id=author.new_id("e"), text=text),)))
        author.request()
    author.add(SetEnvironment(items=()))
    for plus in (0, 1):
        author.user("Go on.")
        text = text_of_tokens("o200k_base", CAPS[TokenClass.MEMORY_CORRECTIONS] + plus)
        author.add(CorrectMemory(id=author.new_id("x"), memory_id="m1", text=text))
        author.request()


@example("pressure", body=8_000)
def results_one_at_a_time_past_the_cap(author: Author) -> None:
    """Twelve results of a thirtieth past the cap, one a request: edits of what was sent are to be rare."""
    author.user("Read them all.")
    for _ in range(20):
        author.reply("", [Asked(answer=Answer(text=share_of_body(1, 30, PROSE)))])
    author.request()


@example("pressure", body=6_000)
def forty_turns_of_talk(author: Author) -> None:
    """History grows by a twentieth of the body a turn, for forty turns."""
    for _ in range(40):
        author.user("Go on.")
        author.reply(share_of_body(1, 20, PROSE))
    author.request()


@example("pressure", body=24_000)
def truncated_twice(author: Author) -> None:
    """Results well within their cap give way to talk that grows slowly, some of them, then others."""
    author.user("Read these.")
    for _ in range(4):
        author.reply("", [Asked(answer=Answer(text=share_of_body(1, 17, PROSE)))])
    author.reply("Done.")
    for _ in range(48):
        author.user("Go on.")
        author.reply(share_of_body(1, 60, PROSE))
    author.request()


@example("pressure", body=6_000)
def usage_far_above_the_count(author: Author) -> None:
    """A provider reports twice the count and more; what fitted yesterday must be made to fit again."""
    for _ in range(4):
        author.user(share_of_body(1, 10, PROSE))
        author.request(Sent(extra_ppm=900_000, extra_tokens=50))
        author.reply("", [Asked(answer=Answer(text=share_of_body(1, 10, PROSE)))])
        author.reply("Done.")
    author.request()


@example("pressure", body=2_500, memory=("x", "x", "y"))
def memories_alike_and_corrected(author: Author) -> None:
    """Two memories of one text and a third, two of them corrected, while everything else gives way."""
    for which in (2, 1):
        author.add(CorrectMemory(id=author.new_id("x"), memory_id=f"m{which}", text=f"No longer {which}."))
    for _ in range(3):
        author.user("Read.")
        author.reply("", [_result(share_of_body(1, 6, PROSE)), _result(share_of_body(1, 6, PROSE))])
        author.add(
            Recall(items=(LabelledItem(id=author.new_id("q"), text=text_of_tokens("o200k_base", 300)),))
        )
        author.reply(share_of_body(1, 6, PROSE))
    author.request()


@example("pressure", body=12_000)
def results_beyond_the_cap_of_a_smaller_model(author: Author) -> None:
    """Results within a quarter of the first model's body, and past a quarter of the second's."""
    author.user("Read.")
    author.reply("", [_result(share_of_body(1, 16, PROSE))])
    author.model = author.model.model_copy(update={"name": "small", "body_tokens": 6_000})
    author.add(ChangeRouting(model=author.model))
    for _ in range(4):
        author.reply("", [_result(share_of_body(1, 12, PROSE))])
    author.request()


@example("pressure", body=2_500)
def parallel_results_that_just_fit(author: Author) -> None:
    """Three results of one message are within their cap; only what came before the message can give way."""
    author.user("Begin.")
    author.reply(share_of_body(17, 50, PROSE))
    author.user(share_of_body(3, 10, PROSE))
    author.reply("", [_result(share_of_body(1, 13, PROSE))] * 3, order=3)
    author.request()
    author.reply("", [Asked(answer=Answer(text=share_of_body(1, 12, PROSE), status="error"))])
    author.request()
