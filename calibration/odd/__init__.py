"""Engines that conform and look unlike the reference: what accuses one of them is a false alarm."""

from __future__ import annotations

from typing import Final

#: The specs of the odd engines, as the command line names them.
ODD: Final = (
    "contextproof.calibration.odd.other_grammar:other_grammar",
    "contextproof.calibration.odd.careful:careful",
)
