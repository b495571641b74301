/** A request from a plan and inputs: what does not fit gives way in order, or nothing is sent. */

import { limitOf, where, type Answer, type BuildCall } from './calls.js';
import { CAPS, quarterOf } from './caps.js';
import type { Block, Estimate, Request, TokenClass, YieldCause, YieldStep, Yielded } from './contract.js';
import { Tally, surplusOf } from './estimate.js';
import { problemOf } from './pairs.js';
import { inOrder } from './places.js';
import { Scene, type Held, type View } from './scene.js';
import type { Count, Suite } from './suite.js';

const WORTH_CUTTING = 128; // tokens; a smaller result may be smaller than its pointer

export async function build(call: BuildCall, suite: Suite): Promise<Answer> {
  const problem = problemOf(call.inputs.log);
  if (problem !== undefined) return { answer: 'invalid_input', ...problem };
  const scene = new Scene(call.plan, call.inputs);
  const count = await suite.counter(call.context.model.tokenizer, scene.texts());
  return new Fitting(call, scene, count).answer();
}

/** What a request takes, by the estimate, if all that may be left out of it or compacted is. */
export function leastTokens(call: BuildCall, scene: Scene, count: Count): number {
  return new Fitting(call, scene, count).least();
}

/** The steps of one build. What gave way is remembered here and told in the answer. */
class Fitting {
  readonly #limit: number;
  readonly #body: number;
  readonly #cut: Set<string>;
  readonly #yielded: Yielded[] = [];
  #recall: readonly Held[] = [];
  #tally: Tally;

  constructor(
    private readonly call: BuildCall,
    private readonly scene: Scene,
    private readonly count: Count,
  ) {
    const { context, plan } = call;
    this.#limit = limitOf(context.model);
    this.#body = this.#limit - plan.prefix_tokens;
    this.#cut = new Set(this.#before('tool_result'));
    this.#tally = this.#newTally([]);
  }

  answer(): Answer {
    const overCap = this.#overCap();
    if (overCap !== undefined) return overCap;
    this.#rankRecall();
    this.#capResults();
    this.#tally = this.#newTally(this.#bodyBlocks());
    const fits = this.#total() <= this.#limit || this.#dropRecall() || this.#cutOldResults();
    return fits ? this.#built() : this.#tooLarge();
  }

  least(): number {
    this.#capResults();
    const tally = this.#newTally([...this.scene.checkpoint, ...this.#unyielding()]);
    return this.call.plan.prefix_tokens + tally.total();
  }

  #before(step: YieldStep): string[] {
    const { plan, inputs } = this.call;
    const still = inputs.yielded.filter((each) => each.step === step && each.epoch === plan.epoch);
    return still.map(({ item_id }) => item_id);
  }

  #newTally(blocks: Iterable<Block>): Tally {
    const { context, inputs } = this.call;
    const surplus = surplusOf(inputs.calibration, context.model);
    return new Tally(this.count, context.model.overhead_per_block, surplus, blocks);
  }

  #total(): number {
    return this.call.plan.prefix_tokens + this.#tally.total();
  }

  #yield(step: YieldStep, item_id: string, cause: YieldCause): void {
    this.#yielded.push({ step, item_id, epoch: this.call.plan.epoch, cause });
  }

  /** Standing content over its cap is sent neither cut nor whole. */
  #overCap(): Answer | undefined {
    // What was lawful by the tokenizer under which it was written stands.
    if (this.call.plan.earlier_tokenizers.length > 0) return undefined;
    const measured = {
      working_state: this.scene.entries.reduce((total, { text }) => total + this.count(text), 0),
      memory_corrections: this.#content(this.scene.corrections),
      environment: this.#content(this.scene.environment),
    };
    const over = Object.entries(measured)
      .map(([name, needed]) => ({ name: name as keyof typeof measured, needed }))
      .filter(({ name, needed }) => needed > CAPS[name])
      .sort((one, other) => other.needed - one.needed)[0];
    return over && exhausted(over.name, over.needed, CAPS[over.name]);
  }

  #content(held: readonly Held[]): number {
    return held.reduce((total, { content }) => total + this.count(content), 0);
  }

  /** What is kept of recall is a leading part of the ranking, within the cap. */
  #rankRecall(): void {
    const before = new Set(this.#before('recall'));
    const possible = this.scene.recall.filter(({ content }) => this.count(content) <= CAPS.recall);
    const kept: Held[] = [];
    for (const held of possible) {
      if (before.has(held.block.item_id ?? '')) break;
      if (this.#content([...kept, held]) > CAPS.recall) break;
      kept.push(held);
    }
    this.#recall = kept;
    for (const { block } of [...this.scene.recall].reverse()) {
      const id = block.item_id ?? '';
      if (!before.has(id) && !kept.some((held) => held.block === block)) this.#yield('recall', id, 'cap');
    }
  }

  /**
   * A quarter of the body for results. Once older ones have to go, a tenth of the body is made free, so
   * that the next result does not edit history again.
   */
  #capResults(): void {
    const cap = quarterOf(this.#body);
    const whole = this.scene.views.filter((view) => this.#isWholeResult(view));
    let size = whole.reduce((total, { content }) => total + this.count(content), 0);
    if (size <= cap) return;
    const cut = (view: View): void => {
      size -= this.count(view.content);
      this.#cutResult(view, 'cap');
    };
    const roomy = cap - Math.floor(this.#body / 10);
    for (const view of whole.filter(({ spared }) => !spared)) if (size > roomy) cut(view);
    const active = whole.filter(({ spared }) => spared);
    active.sort((one, other) => this.count(other.content) - this.count(one.content));
    for (const view of active) if (size > cap) cut(view);
  }

  #isWholeResult(view: View): boolean {
    return view.pointer !== undefined && !this.#cut.has(view.message.id);
  }

  #cutResult(view: View, cause: YieldCause): void {
    this.#cut.add(view.message.id);
    this.#yield('tool_result', view.message.id, cause);
  }

  #dropRecall(): boolean {
    while (this.#total() > this.#limit) {
      const last = this.#recall.at(-1);
      if (last === undefined) return false;
      this.#recall = this.#recall.slice(0, -1);
      this.#tally.remove(last.block);
      this.#yield('recall', last.block.item_id ?? '', 'pressure');
    }
    return true;
  }

  /** The oldest first, and a tenth of the body more than is needed. */
  #cutOldResults(): boolean {
    const roomy = this.#limit - Math.floor(this.#body / 10);
    for (const view of this.scene.views) {
      if (this.#total() <= roomy) break;
      if (view.spared || view.pointer === undefined || !this.#isWholeResult(view)) continue;
      const smaller = this.count(view.pointer.text) < this.count(view.whole.text);
      if (!smaller && this.count(view.content) <= WORTH_CUTTING) continue;
      this.#tally.remove(view.whole);
      this.#tally.add(view.pointer);
      this.#cutResult(view, 'pressure');
    }
    return this.#total() <= this.#limit;
  }

  #shown(view: View): Block {
    return view.pointer !== undefined && this.#cut.has(view.message.id) ? view.pointer : view.whole;
  }

  #standing(): Block[] {
    const { corrections, state, environment } = this.scene;
    return [...corrections.map(({ block }) => block), ...state, ...environment.map(({ block }) => block)];
  }

  /** All of region B that never gives way, the checkpoint apart. */
  #unyielding(): Block[] {
    const spared = this.scene.views.filter((view) => view.spared);
    return [...this.#standing(), ...spared.map((view) => this.#shown(view))];
  }

  #bodyBlocks(): Block[] {
    const { checkpoint, views } = this.scene;
    const messages = views.map((view) => this.#shown(view));
    const recall = this.#recall.map(({ block }) => block);
    return inOrder([...checkpoint, ...messages, ...this.#standing(), ...recall]);
  }

  #estimate(): Estimate {
    const { tokens, prefix_tokens } = this.call.plan;
    return { by_class: [...tokens, ...this.#tally.byClass()], prefix_tokens };
  }

  #built(): Answer {
    const { context, plan } = this.call;
    const { session, turn, request, model } = context;
    const built: Request = {
      session,
      epoch: plan.epoch,
      turn,
      request,
      model: model.name,
      blocks: [...plan.blocks, ...this.#bodyBlocks()],
      prefix_sha256: plan.prefix_sha256,
      estimate: this.#estimate(),
    };
    return { answer: 'built', request: built, yielded: this.#yielded, events: this.#events() };
  }

  /** One event for each step and cause. */
  #events(): object[] {
    const { context, plan } = this.call;
    const groups = new Map<string, Yielded[]>();
    for (const each of this.#yielded) {
      const key = `${each.step} ${each.cause}`;
      groups.set(key, [...(groups.get(key) ?? []), each]);
    }
    return [...groups.values()].map((group) => ({
      ...where(context, plan),
      type: 'context.yield.applied',
      step: group[0]?.step,
      cause: group[0]?.cause,
      item_ids: group.map(({ item_id }) => item_id),
    }));
  }

  /** Everything milder was done: compaction helps, unless what may never go is too large by itself. */
  #tooLarge(): Answer {
    const floor = this.#newTally(this.#unyielding());
    const least = this.call.plan.prefix_tokens + floor.total();
    const compactable = this.scene.views.some((view) => !view.spared);
    if (least <= this.#limit && compactable) {
      return { answer: 'compaction_needed', yielded: this.#yielded, estimate: this.#estimate() };
    }
    const largest = floor.largest() ?? { token_class: 'current_user_message', tokens: 0 };
    const others = (least <= this.#limit ? this.#total() : least) - largest.tokens;
    return exhausted(largest.token_class, largest.tokens, this.#limit - others);
  }
}

function exhausted(token_class: TokenClass, needed: number, available: number): Answer {
  return { answer: 'budget_exhausted', token_class, needed, available };
}
