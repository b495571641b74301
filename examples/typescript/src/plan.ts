/** The plan of an epoch: the prefix, rendered and measured once, or the refusal to open with it. */

import { createHash } from 'node:crypto';
import { limitOf, where, type Answer, type OpenSessionCall } from './calls.js';
import { contentOfTool } from './canonical.js';
import { CAPS, LEAST_BODY, MOST, quarterOf } from './caps.js';
import type {
  Block,
  ClassTokens,
  Opening,
  Plan,
  PrefixClass,
  Tokenizer,
  ToolDefinition,
} from './contract.js';
import { Envelopes, block } from './envelope.js';
import { prefixTokens, sum } from './estimate.js';
import { FRAMING } from './framing.js';
import type { Count, Suite } from './suite.js';
import { TrustLedger } from './trust.js';

export interface Refused extends Answer {
  readonly answer: 'refused';
}

export interface Planning {
  readonly session: string;
  readonly epoch: number;
  readonly opening: Opening;
  readonly earlierTokenizers: readonly Tokenizer[];
}

export const isRefused = (made: Plan | Refused): made is Refused => 'answer' in made;

export async function openSession(call: OpenSessionCall, suite: Suite): Promise<Answer> {
  const { session } = call.context;
  const permitted = new Set(call.opening.permissions);
  const tools = call.opening.tools.filter((tool) => permitted.has(tool.name)).sort(byName);
  const opening = { ...call.opening, tools };
  const plan = await makePlan({ session, epoch: 1, opening, earlierTokenizers: [] }, suite);
  if (isRefused(plan)) return plan;
  const { prefix_sha256, prefix_tokens } = plan;
  const event = { ...where(call.context), type: 'context.plan.created', prefix_sha256, prefix_tokens };
  return { answer: 'planned', plan, events: [event] };
}

/** An order that depends on neither registration nor the order of keys. */
function byName(one: ToolDefinition, other: ToolDefinition): number {
  const key = (tool: ToolDefinition): string =>
    JSON.stringify([tool.name, contentOfTool(tool), tool.source, tool.id]);
  return key(one) < key(other) ? -1 : 1;
}

export async function makePlan(planning: Planning, suite: Suite): Promise<Plan | Refused> {
  const { opening } = planning;
  const { model } = opening;
  const left = limitOf(model);
  if (left < LEAST_BODY) return refused('output_reserve', left, LEAST_BODY);
  if (opening.tools.length > MOST.tools) {
    return refused('tool_definitions', opening.tools.length, MOST.tools, 'items');
  }
  if (opening.memory.length > MOST.memory) {
    return refused('memory_snapshot', opening.memory.length, MOST.memory, 'items');
  }

  const contents = contentsByClass(opening);
  const blocks = renderPrefix(opening);
  const texts = [...Object.values(contents).flat(), ...blocks.map(({ text }) => text)];
  const count = await suite.counter(model.tokenizer, texts);
  const measured = prefixTokens(blocks, count, model.overhead_per_block);
  return (
    overCap(contents, count) ?? overCeiling(measured, left - LEAST_BODY) ?? plan(planning, blocks, measured)
  );
}

function contentsByClass(opening: Opening): Readonly<Record<PrefixClass, readonly string[]>> {
  return {
    platform_policy: opening.policy.map(({ text }) => text),
    framing: [FRAMING],
    agent_instructions: opening.instructions.map(({ text }) => text),
    tool_definitions: opening.tools.map(contentOfTool),
    memory_snapshot: opening.memory.map(({ text }) => text),
  };
}

function renderPrefix(opening: Opening): Block[] {
  const envelopes = new Envelopes(opening.platform_secret);
  const trust = new TrustLedger(opening, []);
  const platform = { region: 'A', role: 'system', label: 'platform', source: 'platform' } as const;
  const operator = { region: 'A', role: 'developer', label: 'operator' } as const;
  return [
    ...opening.policy.map(({ id, text }) =>
      block({ ...platform, item_id: id, type: 'platform_policy', text }),
    ),
    block({ ...platform, item_id: null, type: 'framing', text: FRAMING }),
    ...opening.instructions.map(({ id, text }) =>
      envelopes.seal({
        ...operator,
        itemId: id,
        type: 'agent_instructions',
        source: 'operator',
        content: text,
      }),
    ),
    ...opening.tools.map((tool) =>
      block({
        ...operator,
        item_id: tool.id,
        type: 'tool_definition',
        source: tool.source,
        text: contentOfTool(tool),
      }),
    ),
    ...opening.memory.map(({ id, text }) =>
      envelopes.seal({
        itemId: id,
        type: 'memory_snapshot',
        region: 'A',
        role: 'user',
        label: trust.of(id),
        source: `memory:${id}`,
        content: text,
      }),
    ),
  ];
}

function overCap(
  contents: Readonly<Record<PrefixClass, readonly string[]>>,
  count: Count,
): Refused | undefined {
  for (const [name, texts] of Object.entries(contents) as [PrefixClass, readonly string[]][]) {
    const measured = texts.reduce((total, text) => total + count(text), 0);
    if (measured > CAPS[name]) return refused(name, measured, CAPS[name]);
  }
  return undefined;
}

function overCeiling(measured: readonly ClassTokens[], ceiling: number): Refused | undefined {
  if (sum(measured) <= ceiling) return undefined;
  const largest = measured.reduce((most, each) => (each.tokens > most.tokens ? each : most));
  return refused(largest.token_class, sum(measured), ceiling);
}

function refused(
  token_class: string,
  measured: number,
  cap: number,
  unit: 'tokens' | 'items' = 'tokens',
): Refused {
  return { answer: 'refused', token_class, measured, cap, unit };
}

function plan(planning: Planning, blocks: readonly Block[], measured: readonly ClassTokens[]): Plan {
  const { session, epoch, opening, earlierTokenizers } = planning;
  const prefix_tokens = sum(measured);
  const body = limitOf(opening.model) - prefix_tokens;
  const quarter = quarterOf(body);
  return {
    session,
    epoch,
    opening,
    blocks,
    tokens: measured,
    prefix_tokens,
    prefix_sha256: createHash('sha256')
      .update(blocks.map(({ text }) => text).join(''))
      .digest('hex'),
    budget: {
      output_reserve_tokens: opening.model.output_reserve,
      platform_policy_tokens: CAPS.platform_policy,
      agent_instructions_tokens: CAPS.agent_instructions,
      tool_definitions_tokens: CAPS.tool_definitions,
      memory_snapshot_tokens: CAPS.memory_snapshot,
      working_state_tokens: CAPS.working_state,
      retrieved_context_tokens: CAPS.recall,
      tool_results_tokens: quarter,
      history_tokens: body - quarter,
      body_tokens: body,
    },
    earlier_tokenizers: earlierTokenizers,
  };
}
