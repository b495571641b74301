"""An engine that ends its process once, and is the reference from then on."""

from __future__ import annotations

import os
from pathlib import Path

from contextproof.conformance.contract.answers import BuildAnswer
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.session import CallContext
from contextproof.reference_impl.engine import ReferenceEngine


class DiesOnce(ReferenceEngine):
    """Ends the process that plays it while the file named by DIES_ONCE exists, and removes it."""

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        marker = Path(os.environ["DIES_ONCE"])
        if marker.exists() and context.turn > 1:
            marker.unlink()
            os._exit(7)
        return super().build(context, plan, inputs)


class AlwaysDies(ReferenceEngine):
    """Ends the process that plays it whenever it builds."""

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        os._exit(7)
