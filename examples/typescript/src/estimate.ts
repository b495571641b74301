/** What a request will cost: the prefix exactly, the body with a margin, and what responses taught. */

import { where, type Answer, type EstimateCall, type ReconcileCall } from './calls.js';
import type { Block, BodyClass, Calibration, ClassTokens, ModelSpec, PrefixClass } from './contract.js';
import type { Count, Suite } from './suite.js';

/** By how much the body is estimated above its count. */
export const MARGIN = 1.05;

const PREFIX_CLASSES: Readonly<Record<string, PrefixClass>> = {
  platform_policy: 'platform_policy',
  framing: 'framing',
  agent_instructions: 'agent_instructions',
  tool_definition: 'tool_definitions',
  memory_snapshot: 'memory_snapshot',
};
const BODY_CLASSES: Readonly<Record<string, BodyClass>> = {
  checkpoint: 'checkpoint',
  memory_correction: 'memory_corrections',
  working_state: 'working_state',
  recall: 'recall',
  environment: 'environment',
};
const SLOT_CLASSES = { history: 'history', active: 'active', current: 'current_user_message' } as const;

function bodyClass(block: Block): BodyClass {
  return BODY_CLASSES[block.type] ?? SLOT_CLASSES[block.slot ?? 'history'];
}

/** Tokens that the provider was seen to add to a request, beyond what was estimated. */
export function surplusOf(calibration: Calibration, model: ModelSpec): number {
  return calibration.models.find((entry) => entry.model === model.name)?.values[0] ?? 0;
}

const conservative = (tokens: number): number => Math.ceil(tokens * MARGIN);

/** Tokens of blocks of region B by class. Blocks come and go while a request is fitted. */
export class Tally {
  readonly #exact = new Map<BodyClass, number>();

  constructor(
    private readonly count: Count,
    private readonly overhead: number,
    private readonly surplus: number,
    blocks: Iterable<Block> = [],
  ) {
    for (const block of blocks) this.add(block);
  }

  add(block: Block): void {
    this.#change(block, 1);
  }

  remove(block: Block): void {
    this.#change(block, -1);
  }

  /** The surplus belongs to no class of its own: it is told with the user's message, if there is one. */
  byClass(): ClassTokens[] {
    const present = [...this.#exact].filter(([, tokens]) => tokens > 0);
    const bearer = present.find(([name]) => name === 'current_user_message') ?? present[0];
    return present.map(([name, tokens]) => ({
      token_class: name,
      tokens: conservative(tokens) + (name === bearer?.[0] ? this.surplus : 0),
    }));
  }

  total(): number {
    let sum = this.#exact.size === 0 ? 0 : this.surplus;
    for (const tokens of this.#exact.values()) sum += conservative(tokens);
    return sum;
  }

  /** The class with the most tokens, and how many, without the surplus. */
  largest(): ClassTokens | undefined {
    const [name, tokens] = [...this.#exact].sort((one, other) => other[1] - one[1])[0] ?? [];
    return name && tokens !== undefined ? { token_class: name, tokens: conservative(tokens) } : undefined;
  }

  #change(block: Block, sign: 1 | -1): void {
    const name = bodyClass(block);
    const tokens = this.count(block.text) + this.overhead;
    this.#exact.set(name, (this.#exact.get(name) ?? 0) + sign * tokens);
  }
}

/** Exact tokens of blocks of region A, by class. */
export function prefixTokens(blocks: readonly Block[], count: Count, overhead: number): ClassTokens[] {
  const exact = new Map<PrefixClass, number>();
  for (const block of blocks) {
    const name = PREFIX_CLASSES[block.type];
    if (name !== undefined) exact.set(name, (exact.get(name) ?? 0) + count(block.text) + overhead);
  }
  return [...exact].map(([token_class, tokens]) => ({ token_class, tokens }));
}

export const sum = (classes: readonly ClassTokens[]): number =>
  classes.reduce((total, { tokens }) => total + tokens, 0);

export async function estimate(call: EstimateCall, suite: Suite): Promise<Answer> {
  const { model } = call.context;
  const count = await suite.counter(
    model.tokenizer,
    call.blocks.map(({ text }) => text),
  );
  const prefix = call.blocks.filter((block) => block.region === 'A');
  const body = call.blocks.filter((block) => block.region === 'B');
  const tally = new Tally(count, model.overhead_per_block, surplusOf(call.calibration, model), body);
  const by_class = [...prefixTokens(prefix, count, model.overhead_per_block), ...tally.byClass()];
  return { answer: 'estimated', by_class };
}

/** An overrun is remembered as it is, so that the same blocks are next estimated at the usage. */
export function reconcile(call: ReconcileCall): Answer {
  const { context, calibration, usage } = call;
  const { model } = context;
  const estimated = sum(call.estimate.by_class);
  const surplus = surplusOf(calibration, model) + Math.max(0, usage - estimated);
  const others = calibration.models.filter((entry) => entry.model !== model.name);
  const event = { ...where(context), type: 'context.usage.reconciled', model: model.name };
  return {
    answer: 'reconciled',
    events: [{ ...event, estimated, reported: usage }],
    calibration: { models: [...others, { model: model.name, values: [surplus] }] },
  };
}
