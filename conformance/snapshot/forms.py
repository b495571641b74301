"""In which forms a difference is told, and for how many live sessions."""

from __future__ import annotations

from typing import Final, Literal

Format = Literal["text", "markdown", "json"]

#: Live sessions that costs are told for, where nobody says how many there are.
SESSIONS: Final = 1_000
