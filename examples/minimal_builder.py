"""A complete adapter: a text prefix, an append-only body, and the first three decisions claimed."""

from contextproof.conformance.contract.answers import Built, Planned
from contextproof.conformance.contract.caps import ContextBudget
from contextproof.conformance.contract.items import Message, content, own_trust, source
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import Block, Estimate, Request, prefix_sha256
from contextproof.conformance.contract.vocabulary import Decision, Region, Role, Slot, declaration

NO_BUDGET = ContextBudget(**dict.fromkeys(ContextBudget.model_fields, 0))
ROLES = {"assistant_message": Role.ASSISTANT, "tool_call": Role.ASSISTANT, "tool_result": Role.TOOL}


def block(item, slot=None):  # put your own rendering here
    region = declaration(item.type).region
    role = ROLES.get(item.type, Role.SYSTEM if region is Region.A else Role.USER)
    sent_as = {"type": item.type, "slot": slot, "region": region, "role": role, "label": own_trust(item)}
    return Block(item_id=item.id, source=source(item), text=content(item), **sent_as)


class MyBuilder:
    claims = (Decision.REGIONS, Decision.ORDER, Decision.PREFIX_STABILITY)
    manifest = Manifest(name="mine", version="1", claims=claims, delimiters=(), codecs=(), summary_bound=0)

    def open_session(self, context, opening):
        tools = [tool for tool in opening.tools if tool.name in opening.permissions]
        blocks = tuple(block(i) for i in (*opening.policy, *opening.instructions, *tools, *opening.memory))
        measured = {"tokens": (), "prefix_tokens": 0, "prefix_sha256": prefix_sha256(blocks)}
        where = {"session": context.session, "epoch": 1, "opening": opening}
        return Planned(plan=Plan(blocks=blocks, budget=NO_BUDGET, **measured, **where))

    def build(self, context, plan, inputs):
        said = [item for item in inputs.log if isinstance(item, Message)]
        now = max(n for n, item in enumerate(said) if item.type == "user_message")
        body = [
            *(block(i, Slot.HISTORY) for i in said[:now]),
            *(block(i, Slot.ACTIVE) for i in said[now + 1 :]),
        ]
        blocks = (*plan.blocks, *body, block(said[now], Slot.CURRENT))
        where = {
            "session": context.session,
            "epoch": plan.epoch,
            "turn": context.turn,
            "request": context.request,
        }
        estimate = Estimate(by_class=(), prefix_tokens=0)
        sent = {"model": context.model.name, "prefix_sha256": plan.prefix_sha256, "estimate": estimate}
        return Built(request=Request(blocks=blocks, **where, **sent))
