"""Requirements that no fault breaks alone, and why: what violates one of them violates another as well."""

from __future__ import annotations

from typing import Final

#: By requirement: one sentence.
INSEPARABLE: Final[dict[str, str]] = {}
