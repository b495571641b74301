"""The summarizer a play simulates: faithful, scripted, or misbehaving in one of the known ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contextproof.conformance.contract.ports import SummarizerError, Summary, SummaryPart
from contextproof.conformance.contract.tokenizers import TokenizerName, count
from contextproof.conformance.play.scenario import SetSummarizer
from contextproof.conformance.play.trace import SummarizerCall

#: How much of each part a faithful summary keeps, in characters.
_GIST = 160
#: How many times too long a verbose summary is.
_VERBOSE = 4
_FAILURES = {
    "raises": "the summarizer's provider answered 500",
    "times_out": "the summarizer timed out",
    "fails_later": "the summarizer's provider answered 529",
}


class Summarizer:
    """Answers `summarize` as told, and notes every call."""

    def __init__(self, behaviour: SetSummarizer, text: str, tokenizer: TokenizerName) -> None:
        self._behaviour = behaviour
        self._text = text
        self._tokenizer = tokenizer
        self.calls: list[SummarizerCall] = []

    def __call__(self, parts: Sequence[SummaryPart], max_tokens: int) -> Summary:
        """Summarize parts in about ``max_tokens``. Raises SummarizerError where it is to fail."""
        given = tuple(parts)
        try:
            summary = self._write(given, max_tokens)
        except SummarizerError as error:
            self.calls.append(
                SummarizerCall(parts=given, max_tokens=max_tokens, summary=None, error=str(error))
            )
            raise
        self.calls.append(SummarizerCall(parts=given, max_tokens=max_tokens, summary=summary))
        return summary

    def _write(self, parts: tuple[SummaryPart, ...], max_tokens: int) -> Summary:
        mode = self._behaviour.mode
        if mode in _FAILURES and (mode != "fails_later" or self.calls):
            raise SummarizerError(_FAILURES[mode])
        match mode:
            case "fixed":
                return Summary(text=self._text)
            case "echo":
                return Summary(text="\n".join(part.text for part in parts))
            case "empty":
                return Summary(text="")
            case "blank":
                return Summary(text=" \n\t ")
            case "cut_short":
                return Summary(text=self._fit(_gist(parts), max_tokens), complete=False)
            case "verbose":
                return Summary(text=self._stretch(_gist(parts), _VERBOSE * max_tokens))
            case _:
                return Summary(text=self._fit(_gist(parts), max_tokens))

    def _fit(self, text: str, max_tokens: int) -> str:
        """A leading part of the text of at most so many tokens."""
        return _leading(text, lambda part: count(self._tokenizer, part) <= max_tokens)

    def _stretch(self, text: str, tokens: int) -> str:
        """The text said over and over until it has at least so many tokens."""
        once = (text or "There is nothing to tell.") + "\n"
        return once * (tokens // max(1, count(self._tokenizer, once)) + 1)


def _gist(parts: Sequence[SummaryPart]) -> str:
    return "\n".join(" ".join(part.text.split())[:_GIST] for part in parts)


def _leading(text: str, fits: Callable[[str], bool]) -> str:
    """The longest leading part that fits, found by halving; fitting must not return with length."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle - 1)
    return text[:low]
