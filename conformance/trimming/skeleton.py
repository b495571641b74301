"""What `contextproof init --language trimmer` writes: a trimmer that can be called, and drops nothing yet."""

from __future__ import annotations

_FUNCTION = '''"""A trimmer: messages and a limit in, messages out. It drops nothing yet."""

from __future__ import annotations

from typing import Any


class DoesNotFit(Exception):
    """What has to be sent is more than the limit."""


def trim(messages: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """The messages to be sent, within ``limit`` tokens.

    Fill in, in this order; `contextproof certify` tells after each step what is still wrong:

    1. Count tokens, of calls and results too, with the encoding of your model (CTX-06.2, CTX-11.6).
    2. Raise DoesNotFit where the system text, the current user message and the calls being worked on are
       more than the limit by themselves (CTX-08.5, CTX-08.3).
    3. Else drop from the oldest on, a call always together with its results (CTX-09.1), and further than
       you must, so that the next messages only add to what was sent (CTX-16.3).
    """
    return list(messages)
'''

_READ_ME = """# A trimmer

`trimmer.py` holds one function. Measure it from this folder:

    contextproof certify --trimmer trimmer:trim --format openai --profile smoke

or with `--format anthropic`, where the function may take a `system` argument too. What fails is shown
with the messages that show it and a script that runs without contextproof. Once nothing does, leave
`--profile smoke` away: the longer run certifies.
"""


def trimmer_skeleton() -> dict[str, str]:
    """The files to be written, by their path below the folder chosen."""
    return {"trimmer.py": _FUNCTION, "README.md": _READ_ME}
