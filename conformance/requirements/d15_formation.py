"""Decision 15: established facts are offered to memory at the session boundary, gates included."""

from __future__ import annotations

from collections.abc import Iterator

from contextproof.conformance.contract.trust import derived_trust, log_trust, opening_trust
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.judgement import Judgement, judge
from contextproof.conformance.play.trace import CandidatesRecord, Trace
from contextproof.conformance.requirements.registry import MUST, requirement
from contextproof.conformance.requirements.telling import at, listed, quoted

FACTS_AT_CLOSE = "facts in the state when the session closes"
SEVERAL_FACTS = "more than one of them"

ASKED_EARLY = "facts in the state after a turn of an open session"

UNTRUSTED_FACT = "a fact that derives from an untrusted item"

OTHER_ENTRIES = "constraints, tasks or questions beside the facts"

_FORMATION = ("candidates",)


def _asked(trace: Trace, *, closed: bool) -> Iterator[tuple[int, CandidatesRecord]]:
    for index, record in enumerate(trace.records):
        if isinstance(record, CandidatesRecord) and record.closed is closed:
            yield index, record


@requirement(
    "CTX-15.1",
    MUST,
    scenarios="formation",
    witnesses=(FACTS_AT_CLOSE, SEVERAL_FACTS),
    ports=_FORMATION,
    cost="What the session established is forgotten, or remembered twice.",
)
def every_fact_is_offered_once(trace: Trace) -> Iterator[Judgement]:
    """At the session boundary every fact then in the state is offered once, with its provenance."""
    for index, record in _asked(trace, closed=True):
        offered = record.answer.candidates
        for fact in record.state.established_facts:
            found = [candidate for candidate in offered if candidate.fact.id == fact.id]
            whole = [c for c in found if set(c.provenance) >= set(fact.derived_from)]
            yield judge(
                len(found) == 1 and len(whole) == 1 and found[0].fact.text == fact.text,
                at=at(index, record.context, fact.id),
                seen=f"offered {len(found)} times, with provenance "
                f"{[list(candidate.provenance) for candidate in found]}",
                required=f"offered once, with provenance {list(fact.derived_from)}",
                witnesses=(FACTS_AT_CLOSE, SEVERAL_FACTS)
                if len(record.state.established_facts) > 1
                else (FACTS_AT_CLOSE,),
            )


@requirement(
    "CTX-15.2",
    MUST,
    scenarios="formation",
    witnesses=(ASKED_EARLY,),
    ports=_FORMATION,
    cost="Memory fills with what the next turn takes back.",
)
def nothing_is_offered_early(trace: Trace) -> Iterator[Judgement]:
    """Asked before the session boundary, after any turn, nothing is offered."""
    for index, record in _asked(trace, closed=False):
        offered = [candidate.fact.id for candidate in record.answer.candidates]
        yield judge(
            not offered,
            at=at(index, record.context),
            seen=f"offered in an open session: {listed(offered)}",
            required="nothing before the session is closed",
            witnesses=(ASKED_EARLY,) if record.state.established_facts else (),
        )


@requirement(
    "CTX-15.3",
    MUST,
    scenarios="formation",
    witnesses=(UNTRUSTED_FACT,),
    ports=_FORMATION,
    cost="A web page writes itself into the user's long-term memory.",
)
def untrusted_facts_are_not_eligible(trace: Trace) -> Iterator[Judgement]:
    """A fact whose effective trust is external_untrusted is offered as ineligible, with a reason."""
    for index, record in _asked(trace, closed=True):
        opening = trace.plans[record.plan].opening
        trust = log_trust(trace.log[: record.log_length], opening_trust(opening))
        untrusted = {
            fact.id
            for fact in record.state.established_facts
            if derived_trust(fact.derived_from, trust) is Trust.EXTERNAL_UNTRUSTED
        }
        for candidate in record.answer.candidates:
            if candidate.fact.id not in untrusted:
                continue
            yield judge(
                not candidate.eligible and bool((candidate.reason or "").strip()),
                at=at(index, record.context, candidate.fact.id),
                seen=f"offered as {'eligible' if candidate.eligible else 'ineligible'}, reason "
                f"{quoted(candidate.reason or '')}",
                required="ineligible, with the ban on untrusted content as reason",
                witnesses=(UNTRUSTED_FACT,),
            )


@requirement(
    "CTX-15.4",
    MUST,
    scenarios="formation",
    witnesses=(OTHER_ENTRIES,),
    ports=_FORMATION,
    cost="Plans and guesses are remembered as facts.",
)
def only_facts_are_offered(trace: Trace) -> Iterator[Judgement]:
    """Nothing but the established facts of the state is offered."""
    for index, record in _asked(trace, closed=True):
        state = record.state
        facts = {(fact.id, fact.text) for fact in state.established_facts}
        strange = [
            candidate.fact.id
            for candidate in record.answer.candidates
            if (candidate.fact.id, candidate.fact.text) not in facts
        ]
        others = state.constraints or state.tasks or state.open_questions
        yield judge(
            not strange,
            at=at(index, record.context),
            seen=f"offered without being an established fact: {listed(strange)}",
            required="established facts of the state, and nothing else",
            witnesses=(OTHER_ENTRIES,) if others else (),
        )
