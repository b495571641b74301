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
EXCUSED: Final[dict[str, str]] = {
    "CTX-01.4": "What renders nothing live has a prefix that nothing live can change.",
    "CTX-02.1": "Policy comes first in what an engine is handed, and the user's message last.",
    "CTX-02.4": "Messages left in the order of the log, or left out, are in the order of the log.",
    "CTX-02.5": "What shows no tools shows them in no order.",
    "CTX-03.1": "A hash of what is sent is one line of arithmetic.",
    "CTX-04.4": "What never looks at permissions shows none.",
    "CTX-05.2": "A plan that never changes is the plan in force.",
    "CTX-06.4": "No recall at all is a leading part of the ranking.",
    "CTX-07.4": "What opens whatever it is asked opens at the cap, with all of its content.",
    "CTX-07.6": "What opens whatever it is asked opens what is within the caps.",
    "CTX-08.1": "What never gives anything up never does so without need.",
    "CTX-10.2": "What only reads its inputs leaves them alone.",
    "CTX-11.3": "What learns nothing of one model learns nothing of another.",
    "CTX-11.5": "An estimate of nothing is not too high.",
    "CTX-11.7": "An estimate of nothing is not too high.",
    "CTX-13.3": "Content as it is can be recovered.",
    "CTX-14.1": "What writes no state writes none from prose.",
    "CTX-16.1": "Content as it is has the same bytes every time.",
    "CTX-16.2": "Content as it is has the same bytes every time.",
}
