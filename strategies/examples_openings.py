"""Explicit openings: reserves as large as the window, the ceiling to the token, too many tools."""

from __future__ import annotations

from contextproof.conformance.contract.caps import CAPS, MAX_MEMORY_ITEMS, MAX_TOOLS
from contextproof.conformance.contract.vocabulary import TokenClass
from contextproof.conformance.play.scenario import ChangeRouting
from contextproof.strategies.author import Author
from contextproof.strategies.changes import routed
from contextproof.strategies.examples_writing import example, tool
from contextproof.strategies.sizes import text_of_tokens, tool_of_tokens


@example("openings", window=131_072, reserve=131_072)
def reserve_of_the_whole_window(author: Author) -> None:
    """The output reserve is the window; seen where a model's maximum output is its window."""


@example("openings", window=8_000, reserve=20_000)
def reserve_beyond_the_window(author: Author) -> None:
    """The output reserve exceeds the window."""


@example("openings", body=1_000)
def prefix_at_the_ceiling(author: Author) -> None:
    """The prefix leaves exactly the least body; a short message still fits."""
    author.user("Hi.")
    author.request()


@example("openings", body=999)
def prefix_one_over_the_ceiling(author: Author) -> None:
    """The prefix leaves one token too few: no class is over its cap, and together they are."""


@example(
    "openings",
    window=1_000_000,
    policy=text_of_tokens("o200k_base", CAPS[TokenClass.PLATFORM_POLICY]),
    instructions=(text_of_tokens("o200k_base", CAPS[TokenClass.AGENT_INSTRUCTIONS]),),
    tools=(tool_of_tokens("o200k_base", CAPS[TokenClass.TOOL_DEFINITIONS], tool(1, "read")),),
    memory=(text_of_tokens("o200k_base", CAPS[TokenClass.MEMORY_SNAPSHOT]),),
)
def every_class_at_its_cap(author: Author) -> None:
    """All four classes are at their caps to the token, in a window of a million."""
    author.user("Hi.")
    author.request()


@example(
    "openings",
    tools=(tool_of_tokens("o200k_base", CAPS[TokenClass.TOOL_DEFINITIONS] + 1, tool(1, "manual")),),
)
def a_tool_one_token_too_large(author: Author) -> None:
    """One definition is one token over the cap of the class."""


@example("openings", memory=("x", text_of_tokens("o200k_base", CAPS[TokenClass.MEMORY_SNAPSHOT])))
def memory_one_token_too_large(author: Author) -> None:
    """Two memory items are one token over the cap."""


@example(
    "openings",
    window=100_000,
    policy=text_of_tokens("o200k_base", CAPS[TokenClass.PLATFORM_POLICY] + 1),
    instructions=(text_of_tokens("o200k_base", CAPS[TokenClass.AGENT_INSTRUCTIONS] + 1),),
)
def two_classes_over_their_caps(author: Author) -> None:
    """Two classes are one token over: the refusal may name either."""


@example("openings", tools=tuple(tool(n, f"tool_{n}") for n in range(1, MAX_TOOLS + 2)))
def one_tool_too_many(author: Author) -> None:
    """Thirty-one tools, all permitted."""


@example("openings", memory=tuple(f"Memory {n}." for n in range(MAX_MEMORY_ITEMS)))
def forty_memories(author: Author) -> None:
    """As many memories as there may be, each of them another."""
    author.user("Begin.")
    author.request()


@example("openings", memory=("x",) * (MAX_MEMORY_ITEMS + 1))
def one_memory_too_many(author: Author) -> None:
    """Forty-one memory items of a token each."""


@example("openings", tools=tuple(tool(n, f"tool_{n}") for n in range(1, 61)), permitted=MAX_TOOLS)
def sixty_tools_of_which_thirty_are_permitted(author: Author) -> None:
    """Only what is permitted counts; the other half is never rendered."""
    author.user("Hi.")
    author.request()


@example(
    "openings",
    tools=(
        *(tool(n, f"tool_{n}") for n in range(1, 6)),
        tool_of_tokens("o200k_base", CAPS[TokenClass.TOOL_DEFINITIONS] + 1, tool(6, "manual")),
    ),
    permitted=5,
)
def the_tool_that_is_too_large_is_not_permitted(author: Author) -> None:
    """A definition over the cap of the whole class does no harm where nobody may call it."""
    author.user("Hi.")
    author.request()


@example(
    "openings",
    tools=(
        tool(1, "read", parameters_json='{"b":{"z":1,"a":[2,1]},"a":"<|im_end|>"}'),
        tool(2, "re\u0430d", parameters_json='{"\\uE000":1,"\\uD83D\\uDE00":2}'),
        tool(3, "Read", "</x>\u202e"),
    ),
)
def tools_that_sort_differently(author: Author) -> None:
    """Nearly equal names, and keys that sort otherwise by code unit than by code point."""
    author.user("Hi.")
    author.request()


@example(
    "openings",
    window=100_000,
    tokenizer="o200k_base",
    instructions=(text_of_tokens("o200k_base", CAPS[TokenClass.AGENT_INSTRUCTIONS], "的確如此。" * 400),),
)
def instructions_over_the_cap_by_the_other_tokenizer(author: Author) -> None:
    """At the cap by one tokenizer and over it by the one routed to: the rotation is refused."""
    author.user("Hi.")
    author.request()
    author.add(ChangeRouting(model=routed(author.model, author.model, "tokenizer", 0)))
    author.user("Still there?")
    author.request()
