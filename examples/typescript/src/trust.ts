/** How far an item is trusted: its own label, lowered to the least of what it derives from. */

import type { LogEntry, Opening, ResultStatus, Trust } from './contract.js';

const FROM_THE_HIGHEST: readonly Trust[] = ['platform', 'operator', 'user', 'internal', 'external_untrusted'];

export function lowest(...labels: readonly Trust[]): Trust {
  const rank = Math.max(0, ...labels.map((label) => FROM_THE_HIGHEST.indexOf(label)));
  return FROM_THE_HIGHEST[rank] ?? 'external_untrusted';
}

/** What comes from outside is untrusted unless it is labelled; the runtime's own results are not. */
export function ownTrustOfResult(result: { trust: Trust | null; status?: ResultStatus }): Trust {
  if (result.status === 'denied' || result.status === 'interrupted') return 'internal';
  return lowest(result.trust ?? 'external_untrusted', 'internal');
}

/** The effective trust of everything that can be derived from, as it becomes known. */
export class TrustLedger {
  readonly #known = new Map<string, Trust>();

  constructor(opening: Opening, log: readonly LogEntry[]) {
    for (const { id } of opening.policy) this.#known.set(id, 'platform');
    for (const { id } of opening.instructions) this.#known.set(id, 'operator');
    for (const { id } of opening.tools) this.#known.set(id, 'operator');
    for (const item of opening.memory) {
      this.add(item.id, lowest(item.trust ?? 'internal', 'internal'), item.derived_from);
    }
    for (const entry of log) this.#addEntry(entry);
  }

  /** The effective trust of an item that is known here by its id. */
  of(id: string): Trust {
    return this.#known.get(id) ?? 'external_untrusted';
  }

  /** The effective trust of something with a label of its own that derives from these ids. */
  derived(own: Trust, from: readonly string[]): Trust {
    return lowest(own, ...from.map((id) => this.of(id)));
  }

  /** From now on this can be derived from. Gives its effective trust. */
  add(id: string, own: Trust, from: readonly string[]): Trust {
    const trust = this.derived(own, from);
    this.#known.set(id, trust);
    return trust;
  }

  #addEntry(entry: LogEntry): void {
    switch (entry.type) {
      case 'user_message':
        this.add(entry.id, 'user', entry.derived_from);
        break;
      case 'assistant_message':
      case 'tool_call':
        this.add(entry.id, 'internal', entry.derived_from);
        break;
      case 'tool_result':
        this.add(entry.id, ownTrustOfResult(entry), entry.derived_from);
        break;
      default: // never rendered, so nothing derives from it
    }
  }
}
