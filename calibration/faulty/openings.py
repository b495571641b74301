"""Faults in what opens and what is refused: the prefix never yields (decision 7)."""

# ruff: noqa: SLF001 (what is spoiled is inside of the reference)

from __future__ import annotations

from typing import Any

from contextproof.calibration.edits import with_blocks
from contextproof.calibration.faulty import Altered, Faulty
from contextproof.conformance.contract.answers import BuildAnswer, Built, PlanAnswer, Refused
from contextproof.conformance.contract.caps import CAPS, MAX_MEMORY_ITEMS, MAX_TOOLS, MIN_BODY
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.session import CallContext, Opening
from contextproof.conformance.contract.vocabulary import Place, TokenClass


class RefusalTellsTheExcessAsTheMeasure(Faulty):
    """Refuses what is over a cap, and tells by how much as if that were all that was measured.

    The limit that is told is not the one that was hit, as in thedotmack/claude-mem#3096.
    """

    breaks = "CTX-07.1"

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        answer = super().open_session(context, opening)
        if isinstance(answer, Refused) and answer.unit == "tokens" and _is_of_a_cap(answer, opening):
            return answer.model_copy(update={"measured": answer.measured - answer.cap})
        return answer


def _is_of_a_cap(refused: Refused, opening: Opening) -> bool:
    """Whether it is a class's cap in tokens that was hit, with no number of items over beside it."""
    few = len(opening.tools) <= MAX_TOOLS and len(opening.memory) <= MAX_MEMORY_ITEMS
    return few and refused.cap == CAPS.get(refused.token_class)


class LongestItemWithinTheCapInsteadOfAll(Altered):
    """Holds the longest item of a class to the class's cap, and opens with any number of them.

    Many that are each within the cap and over it together are in langchain-ai/deepagents#3405.
    """

    breaks = "CTX-07.1"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        """Where tokens are measured, a sum is the largest."""
        original = module._over_caps

        def over_caps(opening: Opening) -> Any:
            module.sum = lambda numbers: max(numbers, default=0)
            yield from original(opening)
            del module.sum

        module._over_caps = over_caps


class CeilingRefusalNamesTheLastClass(Faulty):
    """Refuses a prefix over the ceiling, and blames whichever class comes last in it.

    The record has a refusal name what there is most of.
    """

    breaks = "CTX-07.2"

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        answer = super().open_session(context, opening)
        if isinstance(answer, Refused) and answer.cap == opening.model.limit - MIN_BODY:
            last = TokenClass.MEMORY_SNAPSHOT if opening.memory else TokenClass.FRAMING
            return answer.model_copy(update={"token_class": last})
        return answer


class PrefixOneTokenOverTheCeilingOpens(Altered):
    """Opens where the prefix leaves a body of one token too few: a ceiling met is a ceiling kept, nearly.

    The record has no tolerance beside a ceiling.
    """

    breaks = "CTX-07.2"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        """The ceiling is judged by a body of one token less; the reserve is judged as ever."""
        original = module._plan

        def plan(session: str, epoch: int, opening: Opening, earlier: Any = ()) -> Any:
            answer = original(session, epoch, opening, earlier)
            ceiling = opening.model.limit - MIN_BODY
            if not isinstance(answer, Refused) or (answer.measured, answer.cap) != (ceiling + 1, ceiling):
                return answer
            wider = opening.model.model_copy(update={"window": opening.model.window + 1})
            made = original(session, epoch, opening.model_copy(update={"model": wider}), earlier)
            if isinstance(made, Refused):
                return made
            budget = made.budget.model_copy(update={"body_tokens": made.budget.body_tokens - 1})
            return made.model_copy(update={"opening": opening, "budget": budget})

        module._plan = plan


class NumberOfItemsRefusedAsTokens(Faulty):
    """Refuses thirty-one tools, and tells their number as if it were tokens.

    A cap on numbers that is told as another is in thedotmack/claude-mem#3096.
    """

    breaks = "CTX-07.3"

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        answer = super().open_session(context, opening)
        return answer.model_copy(update={"unit": "tokens"}) if isinstance(answer, Refused) else answer


class AnyNumberOfMemoryItems(Altered):
    """Caps the memory snapshot by its tokens alone, so that it may be crumbled without end.

    The record caps it both ways.
    """

    breaks = "CTX-07.3"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        """No number of memories is too many."""
        module.MAX_MEMORY_ITEMS = 1_000_000


class FullClassRefused(Altered):
    """Takes a class that is exactly at its cap for one that is over it.

    The record gives a class all of its cap.
    """

    breaks = "CTX-07.4"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        """Where nothing is over a cap, caps of one less are held to, and told as they are."""
        original = module._over_caps
        caps = module.CAPS

        def over_caps(opening: Opening) -> Any:
            yield from original(opening)
            module.CAPS = {name: cap - 1 for name, cap in caps.items()}
            full = tuple(original(opening))
            module.CAPS = caps
            yield from (r.model_copy(update={"cap": caps[r.token_class]}) for r in full)

        module._over_caps = over_caps


class LastOfFortyMemoriesLeftOut(Altered):
    """Opens with forty memory items, and sends thirty-nine of them.

    Silent cuts of a full list are like the lost parts of anthropics/claude-code#22376.
    """

    breaks = "CTX-07.4"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        """The block of the fortieth is left out."""
        original = module._prefix_blocks

        def prefix_blocks(opening: Opening) -> Any:
            full = len(opening.memory) == module.MAX_MEMORY_ITEMS
            return original(opening)[: -1 if full else None]

        module._prefix_blocks = prefix_blocks


class MemoryDroppedUnderPressure(Faulty):
    """Gives up the memory snapshot as soon as anything has given way.

    Policy and skills that went first are in NousResearch/hermes-agent#84718.
    """

    breaks = "CTX-07.5"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        answer = super().build(context, plan, inputs)
        if not isinstance(answer, Built) or not (answer.yielded or inputs.yielded):
            return answer
        kept = [b for b in answer.request.blocks if b.place is not Place.MEMORY_SNAPSHOT]
        return with_blocks(answer, kept)


class EqualMemoriesPinnedOnce(Altered):
    """Pins a memory item only where no other says the same: the prefix is not whole from the start.

    The record makes nothing in it yield.
    """

    breaks = "CTX-07.5"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        """Of memory blocks with one text, the first is kept."""
        original = module._prefix_blocks

        def prefix_blocks(opening: Opening) -> Any:
            texts = {item.text: item.id for item in reversed(opening.memory)}
            extra = {item.id for item in opening.memory} - set(texts.values())
            return tuple(b for b in original(opening) if b.item_id not in extra)

        module._prefix_blocks = prefix_blocks


class BarredToolsCountedAgainstTheirCap(Faulty):
    """Counts every registered tool against the cap, though only the permitted ones are sent.

    Tools counted that nobody sends are in dust-tt/dust#28817.
    """

    breaks = "CTX-07.6"

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        answer = super().open_session(context, opening)
        everything = tuple(tool.name for tool in opening.tools)
        counted = super().open_session(context, opening.model_copy(update={"permissions": everything}))
        is_over = isinstance(counted, Refused) and counted.cap == CAPS[TokenClass.TOOL_DEFINITIONS]
        return counted if is_over and not isinstance(answer, Refused) else answer


class ReserveCheckedAfterTheCaps(Faulty):
    """Looks at the output reserve last, and blames a class where the window itself is set up wrongly.

    Reserves that swallow a window are in XiaomiMiMo/MiMo-Code#2263.
    """

    breaks = "CTX-07.7"

    def open_session(self, context: CallContext, opening: Opening) -> PlanAnswer:
        roomy = opening.model.model_copy(update={"window": opening.model.output_reserve + 1_000_000})
        answer = super().open_session(context, opening.model_copy(update={"model": roomy}))
        return answer if isinstance(answer, Refused) else super().open_session(context, opening)


class ReserveOfTheWholeWindowBlamedOnThePrefix(Altered):
    """Finds nothing wrong with a reserve that leaves too little, and then no prefix small enough.

    A reserve of the whole window is in tontinton/maki#407.
    """

    breaks = "CTX-07.7"
    module = "planner"

    @staticmethod
    def alter(module: Any) -> None:
        """The ceiling alone refuses, and its cap cannot be below nothing."""
        original = module._plan

        def plan(session: str, epoch: int, opening: Opening, earlier: Any = ()) -> Any:
            answer = original(session, epoch, opening, earlier)
            if isinstance(answer, Refused) and answer.token_class is TokenClass.OUTPUT_RESERVE:
                return Refused(token_class=TokenClass.PLATFORM_POLICY, measured=answer.measured, cap=0)
            return answer

        module._plan = plan
