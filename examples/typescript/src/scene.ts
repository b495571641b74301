/** All that a request could hold, rendered: nothing is left out yet, and nothing is counted. */

import { contentOf } from './canonical.js';
import type { Block, BuildInputs, Checkpoint, ElidedSpan, Entry, Message, Plan } from './contract.js';
import type { Role, Slot, Trust } from './contract.js';
import { Envelopes, block } from './envelope.js';
import { isMessage, sparedOf } from './pairs.js';
import { TrustLedger, lowest, ownTrustOfResult } from './trust.js';

/** A message that the checkpoint does not cover. */
export interface View {
  readonly message: Message;
  readonly content: string;
  readonly trust: Trust;
  readonly spared: boolean;
  readonly whole: Block;
  /** Of a result that may be cut: what stands in its place. */
  readonly pointer: Block | undefined;
}

/** A block with the content by which caps are measured. */
export interface Held {
  readonly block: Block;
  readonly content: string;
}

export interface ShownEntry extends Entry {
  readonly shown: string;
}

const ROLES: Readonly<Record<Message['type'], Role>> = {
  user_message: 'user',
  assistant_message: 'assistant',
  tool_call: 'assistant',
  tool_result: 'tool',
};

export class Scene {
  readonly trust: TrustLedger;
  readonly views: readonly View[];
  readonly checkpoint: readonly Block[];
  readonly corrections: readonly Held[];
  /** Working state, entry by entry, and as rendered. */
  readonly entries: readonly ShownEntry[];
  readonly state: readonly Block[];
  readonly recall: readonly Held[];
  readonly environment: readonly Held[];
  readonly #envelopes: Envelopes;

  constructor(plan: Plan, inputs: BuildInputs) {
    this.trust = new TrustLedger(plan.opening, inputs.log);
    this.#envelopes = new Envelopes(plan.opening.platform_secret);
    this.views = this.#uncovered(inputs);
    this.checkpoint = inputs.checkpoint === null ? [] : this.renderCheckpoint(inputs.checkpoint);
    this.corrections = this.#corrections(inputs);
    this.recall = inputs.recall.map((item) => {
      const label = this.trust.add(item.id, ownTrustOfResult(item), item.derived_from);
      return this.#held(item.id, 'recall', label, item.source, item.text);
    });
    this.environment = inputs.environment.map((item) => {
      const label = this.trust.add(item.id, 'internal', []);
      return this.#held(item.id, 'environment', label, 'runtime', item.text);
    });
    this.entries = entriesOf(inputs);
    this.state = this.#workingState();
  }

  /** Everything that has to be counted to fit a request. */
  *texts(): Iterable<string> {
    for (const { whole, pointer, content } of this.views) {
      yield whole.text;
      if (pointer !== undefined) yield* [pointer.text, content];
    }
    for (const { block: each, content } of [...this.corrections, ...this.recall, ...this.environment]) {
      yield* [each.text, content];
    }
    for (const { text } of [...this.checkpoint, ...this.state]) yield text;
    for (const { text } of this.entries) yield text;
  }

  /** A summary in one block, and each pointer in its own. */
  renderCheckpoint(checkpoint: Checkpoint): Block[] {
    const body = { region: 'B', role: 'user' } as const;
    const shared = { ...body, itemId: checkpoint.id, type: 'checkpoint', source: 'engine' };
    const blocks: Block[] = [];
    if (checkpoint.summary !== '') {
      const label = lowest('internal', ...checkpoint.summarized.map((id) => this.trust.of(id)));
      blocks.push(this.#envelopes.seal({ ...shared, label, content: checkpoint.summary }));
    }
    for (const span of checkpoint.pointers) {
      const sealed = { ...shared, label: span.trust, content: JSON.stringify(span) };
      blocks.push(this.#envelopes.point(sealed, span, 'elision'));
    }
    return blocks;
  }

  #uncovered({ log, checkpoint }: BuildInputs): View[] {
    const { current, activePairs } = sparedOf(log);
    const turn = log.findIndex(({ id }) => id === current);
    const passedOver = new Set(checkpoint?.passed_over);
    const views: View[] = [];
    for (const [index, entry] of log.entries()) {
      if (!isMessage(entry)) continue;
      if (index < (checkpoint?.covers ?? 0) && !passedOver.has(entry.id)) continue;
      const slot = index < turn ? 'history' : index === turn ? 'current' : 'active';
      views.push(this.#view(entry, slot, entry.id === current || activePairs.has(entry.id)));
    }
    return views;
  }

  #view(message: Message, slot: Slot, spared: boolean): View {
    const content = contentOf(message);
    const trust = this.trust.of(message.id);
    const shared = { type: message.type, region: 'B', role: ROLES[message.type], label: trust } as const;
    const own = { slot, call_id: 'call_id' in message ? message.call_id : null };
    const rest = { message, content, trust, spared, pointer: undefined };
    if (message.type === 'tool_call') {
      const text = content;
      return { ...rest, whole: block({ ...shared, ...own, item_id: message.id, source: 'assistant', text }) };
    }
    if (message.type !== 'tool_result') {
      const source = message.type === 'user_message' ? 'user' : 'assistant';
      const sealed = { ...shared, itemId: message.id, source, content };
      return { ...rest, whole: this.#envelopes.seal(sealed, own) };
    }
    const { status, source } = message;
    const sealed = { ...shared, itemId: message.id, source, content };
    const whole = this.#envelopes.seal(sealed, { ...own, status });
    if (status === 'denied' || status === 'interrupted') return { ...rest, whole };
    const pointer = this.#envelopes.point(sealed, spanOf(message, content, trust), 'truncation', {
      ...own,
      status,
    });
    return { ...rest, whole, pointer };
  }

  /** Of the corrections of one memory item only the latest is so. All of them can be derived from. */
  #corrections({ corrections }: BuildInputs): Held[] {
    const latest = new Map(corrections.map((item) => [item.memory_id, item]));
    return corrections.flatMap((item) => {
      const own = lowest(item.trust ?? 'internal', 'internal');
      const label = this.trust.add(item.id, own, item.derived_from);
      if (latest.get(item.memory_id) !== item) return [];
      return [this.#held(item.id, 'memory_correction', label, `memory:${item.memory_id}`, item.text)];
    });
  }

  /** One block for each trust that entries have, so that one untrusted fact does not taint the rest. */
  #workingState(): Block[] {
    const labelled = this.entries.map((entry) => ({
      entry,
      label: this.trust.derived('internal', entry.derived_from),
    }));
    return (['internal', 'external_untrusted'] as const).flatMap((label) => {
      const entries = labelled.filter((each) => each.label === label).map(({ entry }) => entry.shown);
      if (entries.length === 0) return [];
      return [this.#held('working_state', 'working_state', label, 'engine', entries.join('\n')).block];
    });
  }

  #held(itemId: string, type: string, label: Trust, source: string, content: string): Held {
    const sealed = { itemId, type, label, source, content, region: 'B', role: 'user' } as const;
    return { block: this.#envelopes.seal(sealed), content };
  }
}

/** What a pointer says of one whole item. */
export function spanOf({ id }: Message, content: string, trust: Trust): ElidedSpan {
  return { trust, size: Buffer.byteLength(content), references: [{ item_id: id, start: null, end: null }] };
}

/** The entries of working state in order, each with the line that shows it. */
function entriesOf({ working_state: state }: BuildInputs): ShownEntry[] {
  const shown = (kind: string, entry: Entry, standing = ''): ShownEntry => ({
    ...entry,
    shown: `- ${kind} ${JSON.stringify(entry.id)}${standing}: ${entry.text}`,
  });
  return [
    ...state.constraints.map((entry) => shown('constraint', entry)),
    ...state.tasks.map((entry) => shown('task', entry, ` (${entry.status})`)),
    ...state.established_facts.map((entry) => shown('fact', entry)),
    ...state.open_questions.map((entry) => shown('question', entry, entry.resolved ? ' (resolved)' : '')),
  ];
}
