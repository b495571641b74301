/**
 * A context engine for contextproof. It answers the handshake and claims nothing yet.
 *
 * Fill in the steps in the order of their numbers. Claim a decision in the manifest when what it needs
 * is written: `contextproof explain CTX-03` tells what decision 3 demands. Then `contextproof smoke`
 * tells whether the adapter is right, and `contextproof gate` whether the engine is.
 *
 * Every call carries all that its answer depends on: keep nothing between calls. Standard output
 * belongs to the protocol, so write logs with `console.error`.
 */

import { createHash } from 'node:crypto';
import { CallError, Connection, WRONG_PARAMS, type Handler } from './wire.js';

const CONTRACT = 1;

/** Step 0: say who you are. `claims` lists the decisions, 'd01' to 'd16', that you want to be judged by. */
const MANIFEST = {
  contract: CONTRACT,
  name: 'my-engine',
  version: '0.1.0',
  claims: [] as string[],
  delimiters: [] as string[],
  codecs: [] as object[],
  summary_bound: 0,
};

// The messages' fields that are read here. `contextproof schema --out schemas` writes all of them.
type Region = 'A' | 'B';
type Slot = 'history' | 'active' | 'current';
interface Context { session: string; turn: number; request: number; model: { name: string } }
interface Item { id: string; type: string; text?: string; source?: string; trust?: string | null }
interface Tool extends Item { name: string; description: string; parameters_json: string }
interface Call extends Item { name: string; arguments: string }
interface Opening {
  policy: Item[]; instructions: Item[]; tools: Tool[]; memory: Item[]; permissions: string[];
}
interface Block { region: Region; text: string; [field: string]: unknown }
interface Plan { epoch: number; blocks: Block[]; prefix_sha256: string }

const MESSAGES = new Set(['user_message', 'assistant_message', 'tool_call', 'tool_result']);
const LABELS: Readonly<Record<string, string>> = {
  platform_policy: 'platform', agent_instructions: 'operator', tool_definition: 'operator',
  user_message: 'user', tool_result: 'external_untrusted',
};
const SOURCES: Readonly<Record<string, string>> = {
  platform_policy: 'platform', agent_instructions: 'operator', user_message: 'user',
  assistant_message: 'assistant', tool_call: 'assistant',
};

/**
 * Step 1 (docs/protocol.md, "Content, tokens and hashes"): what an item holds. A tool or a call is
 * canonical JSON (RFC 8785), keys sorted at every depth; here only the outermost are.
 */
function content(item: Item): string {
  if (item.type === 'tool_definition') {
    const { name, description, parameters_json } = item as Tool;
    return JSON.stringify({ description, name, parameters: JSON.parse(parameters_json) as unknown });
  }
  if (item.type === 'tool_call') {
    const { name, arguments: given } = item as Call;
    return JSON.stringify({ arguments: given, name });
  }
  return item.text ?? '';
}

/**
 * Step 3 (decisions 1, 2 and 13): the block of an item, as your engine sends it. Put content below
 * platform trust into an envelope, say where its parts lie, and name delimiters and codecs above.
 */
function render(item: Item, region: Region, slot: Slot | null = null): Block {
  const memory = item.type === 'memory_snapshot';
  return {
    item_id: item.id,
    type: item.type,
    slot,
    region,
    role: region === 'A' ? 'system' : 'user',
    label: LABELS[item.type] ?? 'internal',
    source: memory ? `memory:${item.id}` : (item.source ?? SOURCES[item.type] ?? 'runtime'),
    text: content(item),
  };
}

/**
 * Step 2 (decisions 3, 6 and 7): render the prefix once, for the whole epoch. Measure each class
 * against its cap by the reverse call `count` (`connection.ask`), and refuse what is over it.
 */
async function openSession(params: unknown): Promise<unknown> {
  const { context, opening } = params as { context: Context; opening: Opening };
  const tools = opening.tools.filter(({ name }) => opening.permissions.includes(name));
  const pinned = { ...opening, tools };
  const prefix = [...opening.policy, ...opening.instructions, ...tools, ...opening.memory];
  const blocks = prefix.map((item) => render(item, 'A'));
  const hash = createHash('sha256').update(blocks.map(({ text }) => text).join(''), 'utf8');
  const plan = {
    session: context.session,
    epoch: 1,
    opening: pinned,
    blocks,
    tokens: [],
    prefix_tokens: 0,
    prefix_sha256: hash.digest('hex'),
    budget: BUDGET,
  };
  return { answer: 'planned', plan, events: [] };
}

/** Ten integers for your own use; no requirement compares them with anything. */
const BUDGET = Object.fromEntries(
  [
    'output_reserve_tokens',
    'platform_policy_tokens',
    'agent_instructions_tokens',
    'tool_definitions_tokens',
    'memory_snapshot_tokens',
    'working_state_tokens',
    'retrieved_context_tokens',
    'tool_results_tokens',
    'history_tokens',
    'body_tokens',
  ].map((name) => [name, 0]),
);

/**
 * Step 4 (decisions 1, 2, 3, 8 and 16): the plan's blocks, then the body. Add corrections, working
 * state, recall, environment and the checkpoint; give an estimate; where it does not fit, let things
 * give way in the order of decision 8, and else say what is exhausted.
 */
async function build(params: unknown): Promise<unknown> {
  const { context, plan, inputs } = params as { context: Context; plan: Plan; inputs: { log: Item[] } };
  const said = inputs.log.filter(({ type }) => MESSAGES.has(type));
  const now = said.findLastIndex(({ type }) => type === 'user_message');
  const history = said.slice(0, now).map((item) => render(item, 'B', 'history'));
  const active = said.slice(now + 1).map((item) => render(item, 'B', 'active'));
  const current = said.slice(now, now + 1).map((item) => render(item, 'B', 'current'));
  const request = {
    session: context.session,
    turn: context.turn,
    request: context.request,
    epoch: plan.epoch,
    model: context.model.name,
    blocks: [...plan.blocks, ...history, ...active, ...current],
    prefix_sha256: plan.prefix_sha256,
    estimate: { by_class: [], prefix_tokens: 0 },
  };
  return { answer: 'built', request, yielded: [], events: [] };
}

/**
 * Steps 5 to 11: the other calls, each once you have it. A port that is not here is not called.
 *   5 validate (decision 9)              9 compact (decision 12)
 *   6 estimate, reconcile (decision 11) 10 update, carry (decision 14)
 *   7 apply (decisions 4 and 5)         11 candidates (decision 15)
 *   8 authorize (decision 4)
 */
const PORTS: Readonly<Record<string, Handler>> = { open_session: openSession, build };

async function initialize(params: unknown): Promise<unknown> {
  const { contract } = (params ?? {}) as { contract?: unknown };
  if (contract !== CONTRACT) throw new CallError(WRONG_PARAMS, `this builder speaks contract ${CONTRACT}`);
  return { manifest: MANIFEST, ports: Object.keys(PORTS) };
}

const connection = new Connection(process.stdin, process.stdout);
await connection.serve(
  new Map([['initialize', initialize], ['shutdown', async () => ({})], ...Object.entries(PORTS)]),
);
process.stdin.destroy();
