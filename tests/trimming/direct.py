"""A trimmer called in this process: what its own process does, without the process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from contextproof.conformance.contract.tokenizers import TokenizerName
from contextproof.conformance.trimming import serving
from contextproof.conformance.trimming.formats import FormatName
from contextproof.conformance.trimming.playing import FORMATS, Bench
from contextproof.conformance.trimming.reaching import Manner, answer_in
from contextproof.conformance.trimming.session import Answer, Setting
from contextproof.scenarios import corpus


class Direct:
    """Calls a function as `serving` does, and reads the answer as `reaching` does."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._manner = serving.manner_of(function)
        is_async = asyncio.iscoroutinefunction(function)
        keywords: dict[str, Any] = {"system": None, **self._manner}
        self.manner = Manner(**keywords, is_async=is_async)

    def ask(self, messages: list[Any], limit: int, system: str | None) -> Answer:
        call = json.loads(json.dumps({"messages": messages, "limit": limit, "system": system or ""}))
        runner = asyncio.Runner()  # it makes its event loop when it first runs something
        try:
            answer = serving.answer(self._function, self._manner, call, runner)
        finally:
            runner.close()
        return answer_in(json.dumps(answer).encode())


def direct_bench(
    function: Callable[..., Any], format_: FormatName = "openai", tokenizer: TokenizerName = "o200k_base"
) -> Bench:
    """A bench of which the twin is the trimmer itself."""
    trimmer = Direct(function)
    form = FORMATS[format_]
    takes_system = form.has_system or trimmer.manner.system is not None
    return Bench(trimmer, trimmer, Setting(form, tokenizer, takes_system, corpus))
