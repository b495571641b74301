"""Rejects a malformed request before it is sent (decision 9). It never repairs one."""

from __future__ import annotations

from contextproof.conformance.contract.answers import Validated
from contextproof.conformance.contract.request import Request
from contextproof.reference_impl.pairing import Step, violations


def validate(request: Request) -> Validated:
    """Every orphaned, duplicated or misordered half of a pair, in the order sent."""
    steps = (Step(block.type, block.item_id or "", block.call_id or "") for block in request.blocks)
    return Validated(violations=tuple(violations(steps)))
