"""Where a type is sent and under which role (decisions 1 and 2). A type decides, never a value."""

from __future__ import annotations

from typing import Final

from contextproof.conformance.contract.vocabulary import (
    AGENT_INSTRUCTIONS,
    ASSISTANT_MESSAGE,
    FRAMING,
    PLATFORM_POLICY,
    TOOL_CALL,
    TOOL_DEFINITION,
    TOOL_RESULT,
    Place,
    Region,
    Role,
    declaration,
)

#: The assembly order is the record's own; region A's stations come first.
ORDER: Final = tuple(Place)
PREFIX_PLACES: Final = ORDER[: ORDER.index(Place.CHECKPOINT)]
BODY_PLACES: Final = ORDER[len(PREFIX_PLACES) :]

_ROLES: Final[dict[str, Role]] = {
    PLATFORM_POLICY: Role.SYSTEM,
    FRAMING: Role.SYSTEM,
    AGENT_INSTRUCTIONS: Role.DEVELOPER,
    TOOL_DEFINITION: Role.DEVELOPER,
    ASSISTANT_MESSAGE: Role.ASSISTANT,
    TOOL_CALL: Role.ASSISTANT,
    TOOL_RESULT: Role.TOOL,
}


def region_of(item_type: str) -> Region:
    """The region that a type declares.

    Raises:
        LookupError: for a type that nothing declares, or that is never rendered: assembling a block
            of it is a defect of the engine.
    """
    declared = declaration(item_type)
    if declared is None or declared.region is Region.NONE:
        raise LookupError(f"type {item_type!r} declares no region to be rendered in")
    return declared.region


def role_of(item_type: str) -> Role:
    """The role of a type's blocks. What is remembered, recalled or told is sent as the user's."""
    role = _ROLES.get(item_type, Role.USER)
    assert region_of(item_type) is Region.A or role not in (Role.SYSTEM, Role.DEVELOPER), item_type
    return role
