"""Faults in content that is not what it was once its envelope is undone (decision 13)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from contextproof.calibration.faulty import Altered
from contextproof.calibration.faulty.envelopes import render_by
from contextproof.conformance.contract.base import canonical_json
from contextproof.conformance.contract.vocabulary import (
    ASSISTANT_MESSAGE,
    RECALL,
    TOOL_CALL,
    TOOL_DEFINITION,
    TOOL_RESULT,
)
from contextproof.reference_impl.envelope import DELIMITERS


class EscapingIsNotInjective(Altered):
    """Breaks up whole delimiters alone, so that text which was escaped before is undone once too often.

    Wraps of wraps were seen in NousResearch/hermes-agent#56172.
    """

    breaks = "CTX-13.3"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        whole = re.compile("|".join(map(re.escape, DELIMITERS)))
        module.escape = lambda content: whole.sub(lambda found: f"⟪-{found.group()[1:]}", content)


class ContentComposed(Altered):
    """Composes what was recalled to one Unicode form. The record's "recovered exactly"."""

    breaks = "CTX-13.3"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        _rendered_after(module, RECALL, lambda text: unicodedata.normalize("NFC", text))


class ResultsComposed(Altered):
    """Composes what tools return to one Unicode form. The record's "recovered exactly"."""

    breaks = "CTX-13.3"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        _rendered_after(module, TOOL_RESULT, lambda text: unicodedata.normalize("NFC", text))


def _rendered_after(module: Any, kind: str, change: Callable[[str], str]) -> None:
    """Have content of one type changed before it is rendered."""
    render_by(module, lambda item_type, text: module.escape(change(text) if item_type == kind else text))


class InvisibleCharactersStripped(Altered):
    """Strips what cannot be seen from results, and joiners of real words with it.

    Seen in NousResearch/hermes-agent#80689, which exempts some and is led by the nose for it.
    """

    breaks = "CTX-13.3"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        _rendered_after(module, TOOL_RESULT, lambda text: "".join(filter(_is_seen, text)))


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) != "Cf"


class ToolDescriptionsCleaned(Altered):
    """Strips invisible characters from tool definitions. Seen in coproduct-opensource/nucleus#1332."""

    breaks = "CTX-04.1"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        _rendered_after(module, TOOL_DEFINITION, lambda text: "".join(filter(_is_seen, text)))


class ControlTokensDefused(Altered):
    """Breaks up a model's control tokens in results for good. Seen in BitterSecurity/Decepticon#715."""

    breaks = "CTX-13.3"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        _rendered_after(module, TOOL_RESULT, lambda text: text.replace("<|", "< |"))


class LineEndsUnified(Altered):
    """Writes every end of line in one way. The record's "recovered exactly"."""

    breaks = "CTX-13.3"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        _rendered_after(module, TOOL_RESULT, lambda text: text.replace("\r\n", "\n"))


class TrailingLineEndTrimmed(Altered):
    """Takes the last line end from what the model said. The record's "recovered exactly"."""

    breaks = "CTX-13.3"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        _rendered_after(module, ASSISTANT_MESSAGE, lambda text: text.removesuffix("\n"))


class EmptyResultsFilledIn(Altered):
    """Says of an empty result that there was no output. Seen in askalf/dario#1066, where it is dropped."""

    breaks = "CTX-13.3"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        _rendered_after(module, TOOL_RESULT, lambda text: text or "(no output)")


class ArgumentsParsedAndWrittenAgain(Altered):
    """Reads a call's arguments and writes them in an order of its own. Seen in stanfordnlp/dspy#10216."""

    breaks = "CTX-13.3"
    module = "envelope"

    @staticmethod
    def alter(module: Any) -> None:
        _rendered_after(module, TOOL_CALL, _written_again)


def _written_again(call: str) -> str:
    fields = json.loads(call)
    try:
        fields["arguments"] = json.dumps(json.loads(fields["arguments"]), sort_keys=True)
    except ValueError:
        return call
    return canonical_json(fields).decode()
