"""Engines that do next to nothing: what they score is the floor that a real score is read against."""

from __future__ import annotations

from typing import Final

_NAMES: Final = (
    "Empty",
    "Echo",
    "Constant",
    "DropAll",
    "TruncateToFit",
    "IdentityPrefix",
    "AlwaysRefuse",
    "AlwaysExhausted",
)
#: By name: the specs of the null engines, as the command line names them.
NULL: Final = {name: f"contextproof.calibration.null.engines:{name}" for name in _NAMES}

#: By requirement that a null engine passes: why doing next to nothing is enough for it.
EXCUSED: Final[dict[str, str]] = {}
