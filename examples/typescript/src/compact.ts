/**
 * A checkpoint over everything that may be compacted. Trusted items are summarized. What is untrusted is
 * never read to the summarizer: it is left out, and one pointer for each trust names it all.
 */

import { leastTokens } from './build.js';
import { limitOf, where, type Answer, type BuildCall } from './calls.js';
import { quarterOf } from './caps.js';
import type { Block, Checkpoint, ElidedSpan, Trust } from './contract.js';
import { MARGIN } from './estimate.js';
import { problemOf } from './pairs.js';
import { Scene, spanOf, type View } from './scene.js';
import type { Count, Part, Suite } from './suite.js';
import { Summaries } from './summaries.js';

export const SUMMARY_BOUND = 1_200;
const LEAST_SUMMARY = 16; // tokens; with less room than that nothing can be told
const BLANK = ' '; // the least summary that is rendered
const DEEPEST = 2;
const LEAST_GAIN = 4; // tokens: more than what rounding by class can take away again
const NOTHING: Answer = { answer: 'nothing_to_gain' };
const FAILED: Answer = { answer: 'compaction_failed', reason: 'the summarizer did not deliver' };

export async function compact(call: BuildCall, suite: Suite): Promise<Answer> {
  const scene = new Scene(call.plan, call.inputs);
  const covered = scene.views.filter((view) => !view.spared);
  if (covered.length === 0 || problemOf(call.inputs.log) !== undefined) return NOTHING;
  const texts = [...scene.texts(), ...covered.map((view) => partOf(view).text)];
  const count = await suite.counter(call.context.model.tokenizer, texts);
  return new Compaction(call, scene, covered, count, suite).answer();
}

class Compaction {
  readonly #summaries: Summaries;
  #elided: readonly View[];

  constructor(
    private readonly call: BuildCall,
    private readonly scene: Scene,
    private readonly covered: readonly View[],
    private readonly count: Count,
    private readonly suite: Suite,
  ) {
    const { model } = call.context;
    this.#summaries = new Summaries(suite, model.tokenizer, limitOf(model));
    this.#elided = covered.filter(
      (view) => view.trust === 'external_untrusted' || !this.#summaries.canHold(count(partOf(view).text)),
    );
  }

  async answer(): Promise<Answer> {
    const { context, plan } = this.call;
    const mostCost = (await this.#replaced()) - LEAST_GAIN;
    const written = await this.#summarize(mostCost);
    if ('answer' in written) return written;
    if ((await this.#cost(this.scene.renderCheckpoint(written))) > mostCost) return NOTHING;
    if ((await this.#leastOver(written)) > limitOf(context.model)) return NOTHING;
    const event = {
      ...where(context, plan),
      type: 'context.compaction.completed',
      checkpoint_id: written.id,
      depth: written.depth,
      covers: written.covers,
      elided_bytes: this.#elided.reduce((total, { content }) => total + Buffer.byteLength(content), 0),
    };
    return { answer: 'compacted', checkpoint: written, events: [event] };
  }

  /** What the older checkpoint and the newly covered items cost a request, at the least. */
  async #replaced(): Promise<number> {
    const overhead = this.call.context.model.overhead_per_block;
    const least = ({ whole, pointer }: View): number =>
      Math.min(...[whole, pointer ?? whole].map(({ text }) => this.count(text))) + overhead;
    const items = this.covered.reduce((total, view) => total + least(view), 0);
    return (await this.#cost(this.scene.checkpoint)) + items;
  }

  async #cost(blocks: readonly Block[]): Promise<number> {
    const { model } = this.call.context;
    const count = await this.suite.counter(
      model.tokenizer,
      blocks.map(({ text }) => text),
    );
    return blocks.reduce((total, { text }) => total + count(text) + model.overhead_per_block, 0);
  }

  /** What a request over this checkpoint would take, by the estimate of a build. */
  async #leastOver(checkpoint: Checkpoint): Promise<number> {
    const call = { ...this.call, inputs: { ...this.call.inputs, checkpoint } };
    const scene = new Scene(call.plan, call.inputs);
    const count = await this.suite.counter(call.context.model.tokenizer, scene.texts());
    return leastTokens(call, scene, count);
  }

  /** The new checkpoint with its pointers, and with the summary that was there before. */
  #unsummarized(): Checkpoint {
    const { log, checkpoint, live } = this.call.inputs;
    return {
      id: live.ids[0] ?? '',
      summary: checkpoint?.summary ?? '',
      depth: checkpoint?.depth ?? 0,
      covers: log.length,
      passed_over: this.scene.views.filter((view) => view.spared).map(({ message }) => message.id),
      summarized: checkpoint?.summarized ?? [],
      pointers: merged(checkpoint?.pointers ?? [], this.#elided),
    };
  }

  /** The older summary is kept word for word while there is room beside it, and then summarized again. */
  async #summarize(mostCost: number): Promise<Checkpoint | Answer> {
    const base = this.#unsummarized();
    const fresh = this.covered.filter((view) => !this.#elided.includes(view)).map(partOf);
    const summarized = [...new Set([...base.summarized, ...fresh.flatMap(({ item_ids }) => item_ids)])];
    const bound = await this.#bound({ ...base, summary: BLANK, summarized });
    const kept = base.summary === '' ? 0 : await this.#summaries.size(base.summary);
    if (fresh.length === 0 && kept <= bound) return base;
    if (bound < LEAST_SUMMARY && kept <= bound) {
      this.#elided = this.covered; // no room to tell anything: what is left out can be fetched again
      return this.#unsummarized();
    }

    // What a summary may add while the checkpoint costs less than what it replaces
    const least = { ...base, summary: base.summary || BLANK, summarized };
    const gain = mostCost - (await this.#cost(this.scene.renderCheckpoint(least)));
    const quarter = Math.floor(bound / 4);
    if (bound - kept >= quarter) {
      const text = await this.#write(fresh, Math.min(bound - kept, gain, quarter));
      if (typeof text !== 'string') return text;
      const summary = base.summary === '' ? text : `${base.summary}\n${text}`;
      return { ...base, summary, summarized, depth: Math.max(base.depth, 1) };
    }
    if (base.depth >= DEEPEST) return this.#escalated(base.depth + 1);
    const older = { item_ids: [this.call.inputs.checkpoint?.id ?? ''], text: base.summary };
    const summary = await this.#write([older, ...fresh], Math.min(Math.floor(bound / 2), kept + gain));
    if (typeof summary !== 'string') return summary;
    return { ...base, summary, summarized, depth: base.depth + 1 };
  }

  /** The most tokens that a summary may have: as declared, by the record, and so that the request fits. */
  async #bound(blank: Checkpoint): Promise<number> {
    const { context, plan } = this.call;
    const limit = limitOf(context.model);
    const room = Math.floor((limit - (await this.#leastOver(blank))) / MARGIN) - 1;
    return Math.min(SUMMARY_BOUND, quarterOf(limit - plan.prefix_tokens), room);
  }

  async #write(parts: readonly Part[], most: number): Promise<string | Answer> {
    if (most < 1) return NOTHING;
    return (await this.#summaries.write(parts, most)) ?? FAILED;
  }

  #escalated(depth: number): Answer {
    const { context, plan } = this.call;
    const event = { ...where(context, plan), type: 'context.compaction.escalated', depth };
    return { answer: 'escalated', reason: `a summary of depth ${depth} cannot be verified`, events: [event] };
  }
}

const SPEAKERS = {
  user_message: 'user',
  assistant_message: 'assistant',
  tool_call: 'call',
  tool_result: 'result',
} as const;

function partOf({ message, content }: View): Part {
  return { item_ids: [message.id], text: `${SPEAKERS[message.type]}: ${content}` };
}

/** One pointer for each trust, over all that earlier checkpoints and this one leave out. */
function merged(before: readonly ElidedSpan[], elided: readonly View[]): ElidedSpan[] {
  const spans = new Map<Trust, ElidedSpan>();
  const all = [...before, ...elided.map(({ message, content, trust }) => spanOf(message, content, trust))];
  for (const { trust, size, references } of all) {
    const same = spans.get(trust);
    spans.set(trust, {
      trust,
      size: (same?.size ?? 0) + size,
      references: [...(same?.references ?? []), ...references],
    });
  }
  return [...spans.values()];
}
