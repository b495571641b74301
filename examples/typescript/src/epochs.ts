/** What a change does to the plan, and whether a call may be made under it. */

import { where, type Answer, type ApplyCall, type AuthorizeCall } from './calls.js';
import type { ModelSpec, Opening } from './contract.js';
import { isRefused, makePlan } from './plan.js';
import type { Suite } from './suite.js';

/** A change that the prefix cannot absorb begins an epoch; any other leaves the plan as it is. */
export async function apply(call: ApplyCall, suite: Suite): Promise<Answer> {
  const { plan, change } = call;
  const { opening } = plan;
  switch (change.kind) {
    case 'routing':
      if (sameModel(change.model, opening.model)) return { answer: 'planned', plan };
      return rotate(call, { ...opening, model: change.model }, 'routing', suite);
    case 'forced_revocation': {
      const tools = opening.tools.filter((tool) => tool.name !== change.tool);
      if (tools.length === opening.tools.length) return { answer: 'planned', plan };
      const permissions = opening.permissions.filter((name) => name !== change.tool);
      return rotate(call, { ...opening, tools, permissions }, 'forced_revocation', suite);
    }
    default:
      return { answer: 'planned', plan };
  }
}

function sameModel(one: ModelSpec, other: ModelSpec): boolean {
  const fields = Object.keys(one) as (keyof ModelSpec)[];
  return fields.every((field) => one[field] === other[field]);
}

async function rotate(
  call: ApplyCall,
  opening: Opening,
  cause: 'routing' | 'forced_revocation',
  suite: Suite,
): Promise<Answer> {
  const { plan: old, context } = call;
  const epoch = old.epoch + 1;
  const earlierTokenizers = [...new Set([...old.earlier_tokenizers, old.opening.model.tokenizer])].filter(
    (tokenizer) => tokenizer !== opening.model.tokenizer,
  );
  const plan = await makePlan({ session: old.session, epoch, opening, earlierTokenizers }, suite);
  if (isRefused(plan)) return plan;
  const event = {
    ...where(context, plan),
    type: 'context.epoch.rotated',
    cause,
    from_epoch: old.epoch,
    to_epoch: epoch,
    from_sha256: old.prefix_sha256,
    to_sha256: plan.prefix_sha256,
  };
  return { answer: 'planned', plan, events: [event] };
}

/** What is pinned may be called while it is permitted. A denial repeats nothing of the call. */
export function authorize(call: AuthorizeCall): Answer {
  const { name, call_id } = call.call;
  const pinned = call.plan.opening.tools.some((tool) => tool.name === name);
  if (pinned && call.live.permissions.includes(name)) return { answer: 'allowed' };
  const reason = pinned
    ? 'This tool is not permitted at present.'
    : 'There is no tool of this name in this session.';
  const result = {
    id: call.live.ids[0],
    type: 'tool_result',
    call_id,
    status: 'denied',
    text: reason,
    source: 'runtime',
    trust: 'internal',
  };
  return { answer: 'denied', reason, result };
}
