"""Texts of an exact number of tokens, and texts sized by the session's body.

A filler word with a leading space is a token of its own by both tokenizers wherever it stands behind
text that does not end in white space; so a text grows by exactly one token a word.
"""

from __future__ import annotations

from contextproof.conformance.contract.base import MAX_INTEGER
from contextproof.conformance.contract.caps import TOOL_RESULTS_DIVISOR
from contextproof.conformance.contract.items import tool_content
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.play.scenario import Literally, Piece, Repeat, ScenarioTool, Text
from contextproof.strategies.author import Author, Wording
from contextproof.strategies.texts import about

#: One token by either tokenizer, behind anything but white space and at a text's beginning.
FILLER = " the"


def text_of_tokens(tokenizer: TokenizerName, tokens: int, base: str = "") -> Text:
    """A text of exactly so many tokens: ``base`` if it fits, filled up; short as a recipe.

    Args:
        tokenizer: whose tokens.
        tokens: how many; 0 gives the empty text.
        base: what it begins with. Left out where it has more tokens, or does not go with the filler.
    """
    missing = tokens - count(tokenizer, base)
    pieces = _filled(base, missing)
    # A base may run into the filler: a space at its end, a word cut in half.
    if missing < 0 or (base and count(tokenizer, base + FILLER * 2) != tokens - missing + 2):
        pieces = _filled("", tokens)
    return pieces or ""


def _filled(base: str, missing: int) -> tuple[Piece, ...]:
    head: tuple[Piece, ...] = (Literally(text=base),) if base else ()
    return (*head, Repeat(text=FILLER, times=missing)) if missing > 0 else head


def tool_of_tokens(tokenizer: TokenizerName, tokens: int, tool: ScenarioTool) -> ScenarioTool:
    """A tool with the description filled up, so that its definition has exactly so many tokens.

    Raises:
        ValueError: where the definition is larger without any description.
    """
    name = tool.name if isinstance(tool.name, str) else "tool"
    least = _tokens_of(tokenizer, name, 2, tool.parameters_json) - 2
    if tokens < least + 1:
        raise ValueError(f"a definition of {tool.id} has {least + 1} tokens at the least, not {tokens}")
    filler = Repeat(text=FILLER, times=tokens - least)
    return tool.model_copy(update={"name": name, "description": (filler,)})


def _tokens_of(tokenizer: TokenizerName, name: str, words: int, parameters_json: str) -> int:
    return count(tokenizer, tool_content(name, FILLER * words, parameters_json))


def share_of_body(numerator: int, denominator: int, corpus: str, most: int = MAX_INTEGER) -> Wording:
    """Natural text of about that share of the body, but no more than so many tokens."""

    def sized(author: Author) -> Text:
        # Two texts in a row are not to begin alike.
        return about(corpus, min(most, author.body * numerator // denominator), 97 * len(author.steps))

    return sized


def exact_share(numerator: int, denominator: int, plus: int = 0) -> Wording:
    """Text of exactly that share of the body, rounded down, and so many tokens more."""

    def sized(author: Author) -> Text:
        tokens = author.body * numerator // denominator + plus
        return text_of_tokens(author.model.tokenizer, max(0, tokens))

    return sized


def results_cap(plus: int = 0) -> Wording:
    """Text of as many tokens as the cap on tool results has, and so many more."""
    return exact_share(1, TOOL_RESULTS_DIVISOR, plus)
