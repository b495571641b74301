"""Which failure follows from which, so that the first line a reader sees is the cause.

A failure is told below another where the table or the judgement itself says that it follows from it,
and that other one failed too.
"""

from __future__ import annotations

from collections.abc import Iterable

from contextproof.conformance.requirements.registry import by_number
from contextproof.conformance.verdicts import Result, Verdict

#: requirement: those that, where they fail too, are its cause.
FOLLOWS: dict[str, tuple[str, ...]] = {
    # What changes the prefix is told once: by its hash, its tools or its nonces.
    "CTX-01.4": ("CTX-03.1", "CTX-03.2", "CTX-04.1", "CTX-10.3", "CTX-13.5"),
    "CTX-03.3": ("CTX-03.1", "CTX-03.2", "CTX-04.1", "CTX-10.3", "CTX-13.5"),
    "CTX-04.4": (
        "CTX-03.1",
        "CTX-03.2",
        "CTX-04.1",
        "CTX-04.2",
        "CTX-10.1",
        "CTX-10.3",
        "CTX-10.4",
        "CTX-13.5",
    ),
    "CTX-05.6": ("CTX-03.2", "CTX-10.2", "CTX-13.6"),
    "CTX-12.1": ("CTX-03.1", "CTX-03.2", "CTX-04.1", "CTX-10.3", "CTX-13.2", "CTX-13.5"),
    # A tool that should never have been pinned is not as pinned.
    "CTX-04.1": ("CTX-04.5",),
    # A prefix without its tools, its framing or the end of a class lacks one of its five types.
    "CTX-01.2": ("CTX-04.1", "CTX-07.5", "CTX-10.2", "CTX-13.6"),
    # What is altered where it was handed over is gone from then on.
    "CTX-07.5": ("CTX-10.2",),
    # A prefix that grows, or opened too large, takes from the body and from the caps that are shares of it.
    "CTX-06.1": ("CTX-03.2", "CTX-07.1", "CTX-07.3", "CTX-08.3"),
    "CTX-07.1": ("CTX-07.2",),
    "CTX-07.2": ("CTX-11.1",),
    # What stands at the wrong end, in the wrong region, or beside its pair, is out of order too.
    "CTX-02.3": ("CTX-01.1", "CTX-02.1", "CTX-02.2", "CTX-09.1", "CTX-09.4"),
    "CTX-02.4": ("CTX-09.1",),
    # Compaction is not rotation, and is to tell of none.
    "CTX-05.3": ("CTX-12.1",),
    # A plan that was not measured anew for the model says a wrong number of tokens.
    "CTX-11.1": ("CTX-05.5",),
    # What is never counted in some texts is not covered by what is learned either.
    "CTX-11.4": ("CTX-11.6",),
    # An engine that gives up without need gives up here too.
    "CTX-01.3": ("CTX-08.9", "CTX-09.4"),
    "CTX-08.5": ("CTX-08.9",),
    "CTX-09.4": ("CTX-08.9",),
    # What is repaired in silence, or torn by a cut, is missing from requests too.
    "CTX-09.1": ("CTX-09.3", "CTX-09.4"),
    # What is left out is not there verbatim either, and takes its trust and its room along.
    "CTX-08.3": ("CTX-08.8", "CTX-09.1", "CTX-10.4", "CTX-13.3"),
    "CTX-08.8": ("CTX-09.1", "CTX-10.1", "CTX-10.4", "CTX-10.5", "CTX-13.3"),
    "CTX-13.7": ("CTX-08.8", "CTX-13.8"),
    # What is rendered as other text is of another size; so is what is estimated by another rule.
    "CTX-06.4": ("CTX-13.3",),
    "CTX-08.2": ("CTX-08.5", "CTX-08.10"),
    "CTX-08.9": ("CTX-11.2", "CTX-13.3"),
    # A compaction that covers what it may not, or too little, is asked for again, and over no less.
    "CTX-10.5": ("CTX-12.6", "CTX-12.7", "CTX-12.8"),
    "CTX-12.3": ("CTX-12.4", "CTX-12.8"),
    "CTX-12.6": ("CTX-12.7",),
    "CTX-12.8": ("CTX-09.3", "CTX-13.3"),
    # A summary with a delimiter in it is rendered like everything else; one altered is another text.
    "CTX-12.2": ("CTX-13.2",),
    "CTX-12.9": ("CTX-10.4", "CTX-13.2"),
    # A checkpoint of a compaction that failed has no depth to tell.
    "CTX-12.5": ("CTX-10.6",),
    # An update that is barred altogether is barred at its cap too; one past the cap leaves too many.
    "CTX-14.2": ("CTX-14.3",),
    "CTX-14.3": ("CTX-14.8",),
    # A state that an update spoiled is not carried as it was either.
    "CTX-14.5": ("CTX-14.6",),
    # Nonces that differ make bytes differ; and builds that differ anyway cannot be compared.
    "CTX-06.3": ("CTX-07.5", "CTX-08.8", "CTX-10.1"),
    "CTX-08.1": ("CTX-08.3", "CTX-08.8", "CTX-10.1", "CTX-10.2", "CTX-13.3"),
    "CTX-08.6": ("CTX-10.1",),
    "CTX-10.1": ("CTX-13.5",),
    # What differs between two builds in one process differs between two processes too.
    "CTX-10.3": ("CTX-10.1",),
    "CTX-13.3": ("CTX-03.2", "CTX-10.4", "CTX-13.2", "CTX-14.7"),
    "CTX-13.6": ("CTX-03.2",),
    "CTX-16.1": ("CTX-10.1", "CTX-10.3", "CTX-13.5"),
    "CTX-16.2": ("CTX-10.1", "CTX-10.3", "CTX-13.5"),
}


def in_order_of_cause(results: Iterable[Result]) -> list[tuple[Result, tuple[str, ...]]]:
    """Failed results, causes first by id; each with the ids of failures that it follows from."""
    failed = {result.requirement: result for result in results if result.verdict is Verdict.FAILED}
    told = [(result, _causes(result, failed)) for result in failed.values()]
    return sorted(told, key=lambda pair: (bool(pair[1]), by_number(pair[0].requirement)))


def _causes(result: Result, failed: dict[str, Result]) -> tuple[str, ...]:
    """Failed requirements that explain this one, and are not themselves explained by it."""
    named = FOLLOWS.get(result.requirement, ())
    if result.found is not None:
        named += result.found.violation.follows
    return tuple(
        dict.fromkeys(
            cause for cause in named if cause in failed and result.requirement not in FOLLOWS.get(cause, ())
        )
    )
