"""Faults in envelopes (decision 13)."""

from __future__ import annotations

from hashlib import sha256

from contextproof.calibration.edits import replace_span, with_nonce
from contextproof.calibration.faulty import Faulty, each
from contextproof.conformance.contract.answers import BuildAnswer
from contextproof.conformance.contract.plan import BuildInputs, Plan
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import CallContext


class NonceDrawnPerBuild(Faulty):
    """Draws nonces anew for every build. Seen in anthropics/claude-code#68900."""

    breaks = "CTX-13.5"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        drawn = sha256(f"{context.request} {inputs.live.attempt}".encode()).hexdigest()
        answer = super().build(context, plan, inputs)
        return self.edited(context, inputs, answer, each(lambda block: with_nonce(block, _mix(block, drawn))))


def _mix(block: Block, drawn: str) -> str:
    return sha256(f"{block.item_id} {block.text} {drawn}".encode()).hexdigest()[:16]


class SameNonceForAll(Faulty):
    """Uses one nonce for the whole session. The record's own argument for keyed nonces."""

    breaks = "CTX-13.5"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        secret = plan.opening.platform_secret
        nonce = sha256(secret.encode()).hexdigest()[:16]
        answer = super().build(context, plan, inputs)
        return self.edited(context, inputs, answer, each(lambda block: with_nonce(block, nonce)))


class EnvelopeNotEscaped(Faulty):
    """Puts content into its envelope as it came. Seen in NousResearch/hermes-agent#56172."""

    breaks = "CTX-13.2"

    def build(self, context: CallContext, plan: Plan, inputs: BuildInputs) -> BuildAnswer:
        def unescape(block: Block) -> Block:
            if block.envelope is None or block.pointer is not None:
                return block
            interior = block.envelope.interior
            rendered = interior.of(block.text).decode()
            return replace_span(block, interior, self.manifest.codec(block.type).decode(rendered))

        return self.edited(context, inputs, super().build(context, plan, inputs), each(unescape))
