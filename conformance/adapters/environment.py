"""Which environment variables a command is given: a list, so that no secret goes where it is not meant to."""

from __future__ import annotations

import os
from collections.abc import Iterable

#: What programs need to be found and to run: nothing here names a service or holds a key.
_USUAL = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP"),
        *("VIRTUAL_ENV", "SYSTEMROOT", "PYTHONHASHSEED", "TIKTOKEN_CACHE_DIR"),
    }
)


def passed_on(names: Iterable[str] = ()) -> dict[str, str]:
    """The variables a command is given: the usual ones, every ``LC_…``, and those that are named."""
    wanted = _USUAL.union(names)
    return {name: value for name, value in os.environ.items() if name in wanted or name.startswith("LC_")}
