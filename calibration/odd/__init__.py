"""Engines that conform and look unlike the reference: what accuses one of them is a false alarm."""

from __future__ import annotations

from typing import Final

#: The specs of the odd engines, as the command line names them.
ODD: Final = (
    "contextproof.calibration.odd.other_grammar:other_grammar",
    "contextproof.calibration.odd.careful:careful",
    "contextproof.calibration.odd.markdown_fences:markdown_fences",
    "contextproof.calibration.odd.base64_bodies:base64_bodies",
    "contextproof.calibration.odd.xml_like:xml_like",
    "contextproof.calibration.odd.length_prefixed:length_prefixed",
    "contextproof.calibration.odd.eager_compaction:eager_compaction",
    "contextproof.calibration.odd.lazy_compaction:lazy_compaction",
    "contextproof.calibration.odd.merged_pointers:merged_pointers",
    "contextproof.calibration.odd.active_after_user:active_after_user",
    "contextproof.calibration.odd.recomputes_everything:recomputes_everything",
    "contextproof.calibration.odd.remembers_everything:remembers_everything",
    "contextproof.calibration.odd.plain:plain",
)
