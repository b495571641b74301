"""Faults in what is offered to memory formation (decision 15)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contextproof.calibration.faulty import Altered, Faulty
from contextproof.conformance.contract.answers import Candidate, Candidates
from contextproof.conformance.contract.caps import MAX_FACTS
from contextproof.conformance.contract.items import AssistantMessage, LogItem, SessionClosed, content
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.trust import log_trust, opening_trust
from contextproof.conformance.contract.vocabulary import Trust, lowest
from contextproof.conformance.contract.working_state import Entry, Fact, Task, WorkingState
from contextproof.reference_impl import working_state

#: As many facts as a single page of a memory service holds, say.
_PAGE = 2


class _Reformed(Faulty):
    """Offers otherwise than the reference does: `reformed` says how."""

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        offered = super().candidates(context, plan, log, state).candidates
        return Candidates(candidates=tuple(self.reformed(offered, log, state)))

    def reformed(
        self, offered: tuple[Candidate, ...], log: tuple[LogItem, ...], state: WorkingState
    ) -> Iterable[Candidate]:
        """What is offered instead."""
        raise NotImplementedError


class _Early(Faulty):
    """Takes a session for closed although it is open, where `is_early` says so."""

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        if self.is_early(log, state):
            log = (*log, SessionClosed(id="closed early"))
        return super().candidates(context, plan, log, state)

    def is_early(self, log: tuple[LogItem, ...], state: WorkingState) -> bool:
        """Whether to offer whatever there is."""
        raise NotImplementedError


class OnlyTheFirstPageOfFactsOffered(_Reformed):
    """Offers the leading facts of a long list and no others. The record: established facts are offered."""

    breaks = "CTX-15.1"

    def reformed(
        self, offered: tuple[Candidate, ...], log: tuple[LogItem, ...], state: WorkingState
    ) -> Iterable[Candidate]:
        return offered[:_PAGE]


class FactsOfEqualTextOfferedOnce(_Reformed):
    """Takes two facts of the same words for one and loses where the second came from.

    Provenance is what metadist/synaplan#438 lacked.
    """

    breaks = "CTX-15.1"

    def reformed(
        self, offered: tuple[Candidate, ...], log: tuple[LogItem, ...], state: WorkingState
    ) -> Iterable[Candidate]:
        return {candidate.fact.text: candidate for candidate in offered}.values()


class ProvenanceCutToTheWritingCall(_Reformed):
    """Tells of each fact only the last thing it rests on. Seen in metadist/synaplan#438."""

    breaks = "CTX-15.1"

    def reformed(
        self, offered: tuple[Candidate, ...], log: tuple[LogItem, ...], state: WorkingState
    ) -> Iterable[Candidate]:
        return (c.model_copy(update={"provenance": c.provenance[-1:]}) for c in offered)


class RefusedFactsLeftOut(_Reformed):
    """Says nothing of a fact that may not be remembered. The record: the gate refuses, and says why."""

    breaks = "CTX-15.1"

    def reformed(
        self, offered: tuple[Candidate, ...], log: tuple[LogItem, ...], state: WorkingState
    ) -> Iterable[Candidate]:
        return (candidate for candidate in offered if candidate.eligible)


class FactOfferedAgainForEachOrigin(_Reformed):
    """Offers a fact once for each item that it rests on. The record: every fact, once."""

    breaks = "CTX-15.1"

    def reformed(
        self, offered: tuple[Candidate, ...], log: tuple[LogItem, ...], state: WorkingState
    ) -> Iterable[Candidate]:
        return (candidate for candidate in offered for _ in candidate.provenance or (None,))


class FactsOfferedAfterEveryTurn(_Early):
    """Offers what a later turn may yet take back. The record: at the session boundary."""

    breaks = "CTX-15.2"

    def is_early(self, log: tuple[LogItem, ...], state: WorkingState) -> bool:
        return True


class FactsOfferedWhenAllTasksAreOver(_Early):
    """Takes the end of the plan for the end of the session. The record: at the session boundary."""

    breaks = "CTX-15.2"

    def is_early(self, log: tuple[LogItem, ...], state: WorkingState) -> bool:
        return bool(state.tasks) and all(task.is_over for task in state.tasks)


class FactsOfferedBeforeOneIsEvicted(_Early):
    """Offers a full list ahead of time, lest the oldest be lost. The record: at the session boundary."""

    breaks = "CTX-15.2"

    def is_early(self, log: tuple[LogItem, ...], state: WorkingState) -> bool:
        return len(state.established_facts) >= MAX_FACTS


class RefusalWithoutReason(_Reformed):
    """Refuses a fact and does not say why. The record: the ban on untrusted content is the reason."""

    breaks = "CTX-15.3"

    def reformed(
        self, offered: tuple[Candidate, ...], log: tuple[LogItem, ...], state: WorkingState
    ) -> Iterable[Candidate]:
        return (candidate.model_copy(update={"reason": None}) for candidate in offered)


class _OtherTrust(Altered):
    """Judges a fact's trust in another way."""

    module = "formation"


class UnknownOriginBelieved(_OtherTrust):
    """Remembers what rests on recall, since the log does not know it. Seen in openclaw/openclaw#68060."""

    breaks = "CTX-15.3"

    @staticmethod
    def alter(module: Any) -> None:
        def entry_trust(fact: Fact, trust: Any) -> Trust:
            known = [trust[name] for name in fact.derived_from if name in trust]
            return lowest(Trust.INTERNAL, *known)

        module.entry_trust = entry_trust


class FactBelievedForItsFirstOrigin(_OtherTrust):
    """Judges a fact by the first thing it rests on, not by the worst. Seen in crewAIInc/crewAI#5057."""

    breaks = "CTX-15.3"

    @staticmethod
    def alter(module: Any) -> None:
        whole = module.entry_trust

        def entry_trust(fact: Fact, trust: Any) -> Trust:
            first = fact.model_copy(update={"derived_from": fact.derived_from[:1]})
            return Trust(whole(first, trust))

        module.entry_trust = entry_trust


class FactBelievedAtSecondHand(Faulty):
    """Remembers what rests on a reply that rests on a web page. Seen in mnemosyne-oss/mnemosyne#109."""

    breaks = "CTX-15.3"

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        shallow = tuple(
            item.model_copy(update={"derived_from": ()}) if isinstance(item, AssistantMessage) else item
            for item in log
        )
        return super().candidates(context, plan, shallow, state)


def _as_fact(entry: Entry) -> Candidate:
    fact = Fact(id=entry.id, text=entry.text, derived_from=entry.derived_from)
    return Candidate(fact=fact, provenance=fact.derived_from, eligible=True)


class AnswersOfferedAsFacts(Faulty):
    """Remembers the assistant's last answer as a fact about the user. Seen in metadist/synaplan#438."""

    breaks = "CTX-15.4"

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        offered = super().candidates(context, plan, log, state).candidates
        if not isinstance(log[-1] if log else None, SessionClosed):
            return Candidates(candidates=offered)
        trust = log_trust(log, opening_trust(plan.opening))
        said = [item for item in log if isinstance(item, AssistantMessage) and content(item)]
        believed = [item for item in said if trust[item.id] is not Trust.EXTERNAL_UNTRUSTED][-1:]
        extra = (_as_fact(Entry(id=item.id, text=item.text, derived_from=(item.id,))) for item in believed)
        return Candidates(candidates=(*offered, *extra))


class FinishedTasksOfferedAsFacts(Faulty):
    """Takes a task that is over for something established. The record: a state's fields are typed."""

    breaks = "CTX-15.4"

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        done = tuple(task for task in state.tasks if _is_over(task))
        facts = (*state.established_facts, *(_as_fact(task).fact for task in done))
        return super().candidates(context, plan, log, state.model_copy(update={"established_facts": facts}))


def _is_over(task: Task) -> bool:
    return task.is_over


class RewordedFactOfferedAsFirstWritten(Faulty):
    """Offers a fact in the words it had before it was corrected. The record: the facts of the state."""

    breaks = "CTX-15.1"

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        first: dict[str, Fact] = {}
        for end in range(len(log)):
            for fact in working_state.carry(log[: end + 1]).state.established_facts:
                first.setdefault(fact.id, fact)
        facts = tuple(first.get(fact.id, fact) for fact in state.established_facts)
        return super().candidates(context, plan, log, state.model_copy(update={"established_facts": facts}))


class EvictedFactsOfferedToo(Faulty):
    """Offers also what the state had to give up. The record: the facts in the state at the boundary."""

    breaks = "CTX-15.4"

    def candidates(
        self, context: CallContext, plan: Plan, log: tuple[LogItem, ...], state: WorkingState
    ) -> Candidates:
        ever: dict[str, Fact] = {}
        for end in range(len(log)):
            ever |= {fact.id: fact for fact in working_state.carry(log[: end + 1]).state.established_facts}
        ever |= {fact.id: fact for fact in state.established_facts}
        return super().candidates(
            context, plan, log, state.model_copy(update={"established_facts": tuple(ever.values())})
        )
