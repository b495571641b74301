/** What this builder asks of the suite while it answers a call: token counts, and summaries. */

import type { Tokenizer } from './contract.js';
import type { Connection } from './wire.js';

const MOST_REMEMBERED = 50_000_000; // characters of text

export type Count = (text: string) => number;

/** Text for the summarizer, with the ids of the items that it renders. */
export interface Part {
  readonly item_ids: readonly string[];
  readonly text: string;
}

export class Suite {
  readonly #known = { o200k_base: new Map<string, number>(), cl100k_base: new Map<string, number>() };
  #characters = 0;

  constructor(private readonly connection: Connection) {}

  /** Ask for all texts that are not known yet, in one call, and give a counter that knows them. */
  async counter(tokenizer: Tokenizer, texts: Iterable<string>): Promise<Count> {
    const known = this.#known[tokenizer];
    const asked = [...new Set(texts)].filter((text) => !known.has(text));
    if (asked.length > 0) {
      const reply = await this.connection.ask<{ tokens: number[] }>('count', { tokenizer, texts: asked });
      for (const [index, text] of asked.entries()) {
        known.set(text, reply.tokens[index] ?? 0);
        this.#characters += text.length;
      }
    }
    return (text) => {
      const tokens = known.get(text);
      if (tokens === undefined) throw new Error(`never counted: ${text.slice(0, 40)}`);
      return tokens;
    };
  }

  /** A summary of these parts, or nothing if the summarizer fails, is cut short, or writes nothing. */
  async summarize(parts: readonly Part[], max_tokens: number): Promise<string | undefined> {
    try {
      const params = { parts, max_tokens };
      const reply = await this.connection.ask<{ text: string; complete: boolean }>('summarize', params);
      return reply.complete && reply.text.trim() !== '' ? reply.text : undefined;
    } catch {
      return undefined;
    }
  }

  /** Between two calls, when memory has grown too large. It only costs asking again. */
  forget(): void {
    if (this.#characters <= MOST_REMEMBERED) return;
    this.#known.o200k_base.clear();
    this.#known.cl100k_base.clear();
    this.#characters = 0;
  }
}
