"""The words of the contract: trust, regions, item types, slots, roles, classes, decisions.

A type belongs to exactly one region, and it says so where it is declared (decision 1). Nothing else
in the project decides where a type goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Trust(StrEnum):
    """How far content may be believed, highest first."""

    PLATFORM = "platform"
    OPERATOR = "operator"
    USER = "user"
    INTERNAL = "internal"
    EXTERNAL_UNTRUSTED = "external_untrusted"

    @property
    def rank(self) -> int:
        """0 for the highest trust, growing as trust falls."""
        return _RANK[self]


_RANK = {trust: rank for rank, trust in enumerate(Trust)}


def lowest(*trusts: Trust) -> Trust:
    """The lowest of some trust levels; at least one must be given."""
    return max(trusts, key=lambda trust: trust.rank)


class Region(StrEnum):
    """Where a type lives: the frozen prefix, the turn body, or only in the log."""

    A = "A"
    B = "B"
    NONE = "none"


@dataclass(frozen=True)
class TypeDeclaration:
    """One declared item type.

    Attributes:
        name: the type's name, as items carry it.
        region: the region of every block of this type, in every request of every session.
        trust: the most trust an item of this type can have of its own.
    """

    name: str
    region: Region
    trust: Trust


_DECLARED: dict[str, TypeDeclaration] = {}


def declare(name: str, *, region: Region, trust: Trust) -> str:
    """Declare an item type. The region is not optional: a type without one is a build failure.

    Raises:
        TypeError: where the region is not a `Region`.
        ValueError: where the name is declared already.
    """
    if not isinstance(region, Region):
        raise TypeError(f"item type {name!r} must be declared with a Region, not {region!r}")
    if name in _DECLARED:
        raise ValueError(f"item type {name!r} is declared already")
    _DECLARED[name] = TypeDeclaration(name, region, trust)
    return name


def declaration(name: str) -> TypeDeclaration | None:
    """The declaration of a type, or None where nothing declares it."""
    return _DECLARED.get(name)


def declared_types(region: Region | None = None) -> tuple[str, ...]:
    """Names of all declared types, or of one region's, in order of declaration."""
    return tuple(d.name for d in _DECLARED.values() if region is None or d.region is region)


PLATFORM_POLICY = declare("platform_policy", region=Region.A, trust=Trust.PLATFORM)
FRAMING = declare("framing", region=Region.A, trust=Trust.PLATFORM)
AGENT_INSTRUCTIONS = declare("agent_instructions", region=Region.A, trust=Trust.OPERATOR)
TOOL_DEFINITION = declare("tool_definition", region=Region.A, trust=Trust.OPERATOR)
MEMORY_SNAPSHOT = declare("memory_snapshot", region=Region.A, trust=Trust.INTERNAL)
CHECKPOINT = declare("checkpoint", region=Region.B, trust=Trust.INTERNAL)
USER_MESSAGE = declare("user_message", region=Region.B, trust=Trust.USER)
ASSISTANT_MESSAGE = declare("assistant_message", region=Region.B, trust=Trust.INTERNAL)
TOOL_CALL = declare("tool_call", region=Region.B, trust=Trust.INTERNAL)
TOOL_RESULT = declare("tool_result", region=Region.B, trust=Trust.INTERNAL)
MEMORY_CORRECTION = declare("memory_correction", region=Region.B, trust=Trust.INTERNAL)
WORKING_STATE = declare("working_state", region=Region.B, trust=Trust.INTERNAL)
RECALL = declare("recall", region=Region.B, trust=Trust.INTERNAL)
ENVIRONMENT = declare("environment", region=Region.B, trust=Trust.INTERNAL)
WORKING_STATE_UPDATE = declare("working_state_update", region=Region.NONE, trust=Trust.INTERNAL)
USAGE = declare("usage", region=Region.NONE, trust=Trust.INTERNAL)
COMPACTION = declare("compaction", region=Region.NONE, trust=Trust.INTERNAL)
SESSION_CLOSED = declare("session_closed", region=Region.NONE, trust=Trust.INTERNAL)

MESSAGE_TYPES = frozenset({USER_MESSAGE, ASSISTANT_MESSAGE, TOOL_CALL, TOOL_RESULT})


class Slot(StrEnum):
    """Where a message stands in time; a message's slot changes when a turn ends, its type never."""

    HISTORY = "history"
    ACTIVE = "active"
    CURRENT = "current"


class Place(StrEnum):
    """One station of the assembly order: a type, or for messages a slot.

    The order of the members is the record's order (decision 2), platform policy first and the
    current user message last.
    """

    PLATFORM_POLICY = "platform_policy"
    FRAMING = "framing"
    AGENT_INSTRUCTIONS = "agent_instructions"
    TOOL_DEFINITION = "tool_definition"
    MEMORY_SNAPSHOT = "memory_snapshot"
    CHECKPOINT = "checkpoint"
    HISTORY = "history"
    ACTIVE = "active"
    MEMORY_CORRECTION = "memory_correction"
    WORKING_STATE = "working_state"
    RECALL = "recall"
    ENVIRONMENT = "environment"
    CURRENT = "current"


def place_of(item_type: str, slot: Slot | None) -> Place:
    """The station of a block. Raises ValueError for a type that is never rendered."""
    return Place(slot.value if slot is not None else item_type)


class Role(StrEnum):
    """The provider role a block is sent under. Nothing of region B may use the first two."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class TokenClass(StrEnum):
    """What a refusal, an estimate or a budget speaks about."""

    PLATFORM_POLICY = "platform_policy"
    FRAMING = "framing"
    AGENT_INSTRUCTIONS = "agent_instructions"
    TOOL_DEFINITIONS = "tool_definitions"
    MEMORY_SNAPSHOT = "memory_snapshot"
    CHECKPOINT = "checkpoint"
    HISTORY = "history"
    ACTIVE = "active"
    MEMORY_CORRECTIONS = "memory_corrections"
    WORKING_STATE = "working_state"
    RECALL = "recall"
    ENVIRONMENT = "environment"
    CURRENT_USER_MESSAGE = "current_user_message"
    TOOL_RESULTS = "tool_results"
    OUTPUT_RESERVE = "output_reserve"


CLASS_OF_PLACE: dict[Place, TokenClass] = {
    Place.PLATFORM_POLICY: TokenClass.PLATFORM_POLICY,
    Place.FRAMING: TokenClass.FRAMING,
    Place.AGENT_INSTRUCTIONS: TokenClass.AGENT_INSTRUCTIONS,
    Place.TOOL_DEFINITION: TokenClass.TOOL_DEFINITIONS,
    Place.MEMORY_SNAPSHOT: TokenClass.MEMORY_SNAPSHOT,
    Place.CHECKPOINT: TokenClass.CHECKPOINT,
    Place.HISTORY: TokenClass.HISTORY,
    Place.ACTIVE: TokenClass.ACTIVE,
    Place.MEMORY_CORRECTION: TokenClass.MEMORY_CORRECTIONS,
    Place.WORKING_STATE: TokenClass.WORKING_STATE,
    Place.RECALL: TokenClass.RECALL,
    Place.ENVIRONMENT: TokenClass.ENVIRONMENT,
    Place.CURRENT: TokenClass.CURRENT_USER_MESSAGE,
}


class Decision(StrEnum):
    """The record's fifteen decisions, and the body-reuse rules as the sixteenth."""

    REGIONS = "d01"
    ORDER = "d02"
    PREFIX_STABILITY = "d03"
    PINNED_TOOLS = "d04"
    EPOCHS = "d05"
    CAPS = "d06"
    PREFIX_NEVER_YIELDS = "d07"
    YIELD_ORDER = "d08"
    ATOMIC_PAIRS = "d09"
    PURITY = "d10"
    ESTIMATION = "d11"
    COMPACTION = "d12"
    ENVELOPES = "d13"
    WORKING_STATE = "d14"
    FORMATION = "d15"
    BODY_REUSE = "d16"
