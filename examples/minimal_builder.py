"""A complete adapter: a text prefix and an append-only body. It claims decision 3 alone."""

from contextproof.conformance.contract import answers, caps, items, manifest, plan, request
from contextproof.conformance.contract import vocabulary as v

BUDGET = caps.ContextBudget(**dict.fromkeys(caps.ContextBudget.model_fields, 0))
ABOUT = {"claims": (v.Decision.PREFIX_STABILITY,), "delimiters": (), "codecs": (), "summary_bound": 0}


def block(item, slot=None):  # your own rendering goes here
    region = v.declaration(item.type).region
    role = v.Role.SYSTEM if region is v.Region.A else v.Role.USER
    kind = {"type": item.type, "slot": slot, "region": region, "role": role}
    origin = {"item_id": item.id, "label": items.own_trust(item), "source": items.source(item)}
    return request.Block(text=items.content(item), **origin, **kind)


class MyBuilder:
    manifest = manifest.Manifest(name="mine", version="1", **ABOUT)

    def open_session(self, context, opening):
        tools = tuple(tool for tool in opening.tools if tool.name in opening.permissions)
        opening = opening.model_copy(update={"tools": tools})  # a plan keeps what it pinned
        prefix = (*opening.policy, *opening.instructions, *tools, *opening.memory)
        blocks = tuple(block(item) for item in prefix)
        pinned = {"session": context.session, "epoch": 1, "opening": opening, "blocks": blocks}
        measured = {"tokens": (), "prefix_tokens": 0, "prefix_sha256": request.prefix_sha256(blocks)}
        return answers.Planned(plan=plan.Plan(budget=BUDGET, **pinned, **measured))

    def build(self, context, plan, inputs):
        said = [item for item in inputs.log if isinstance(item, items.Message)]
        now = max(n for n, item in enumerate(said) if item.type == "user_message")
        slots = [v.Slot.HISTORY] * now + [v.Slot.ACTIVE] * (len(said) - now)
        body = [block(item, slot) for item, slot in zip(said, slots, strict=True)]
        blocks = (*plan.blocks, *body[:now], *body[now + 1 :], block(said[now], v.Slot.CURRENT))
        where = {"session": context.session, "turn": context.turn, "request": context.request}
        sent = {"epoch": plan.epoch, "model": context.model.name, "blocks": blocks}
        told = {"prefix_sha256": plan.prefix_sha256, "estimate": request.Estimate.nothing()}
        return answers.Built(request=request.Request(**where, **sent, **told))
