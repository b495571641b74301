/** Summaries that fit: into one call on the way there, into their bound on the way back. */

import type { Tokenizer } from './contract.js';
import type { Part, Suite } from './suite.js';

export class Summaries {
  /** Tokens that one call may hand over, with some to spare for what is around the parts. */
  readonly #mostInACall: number;

  constructor(
    private readonly suite: Suite,
    private readonly tokenizer: Tokenizer,
    limit: number,
  ) {
    this.#mostInACall = Math.floor(limit * 0.9);
  }

  canHold(tokens: number): boolean {
    return tokens <= this.#mostInACall;
  }

  /** Tokens of a summary as a request shows it. */
  async size(summary: string): Promise<number> {
    const shown = JSON.stringify(summary);
    return (await this.suite.counter(this.tokenizer, [shown]))(shown);
  }

  /** A summary of these parts in at most so many tokens as shown, or nothing if there is none. */
  async write(parts: readonly Part[], most: number): Promise<string | undefined> {
    const calls = await this.#calls(parts);
    const each = Math.max(1, Math.floor(most / calls.length));
    const texts: string[] = [];
    for (const call of calls) {
      const text = await this.suite.summarize(call, each);
      if (text === undefined) return undefined;
      texts.push(text);
    }
    return this.#cut(texts.join('\n'), most);
  }

  async #calls(parts: readonly Part[]): Promise<Part[][]> {
    const count = await this.suite.counter(
      this.tokenizer,
      parts.map(({ text }) => text),
    );
    const calls: Part[][] = [];
    let room = 0;
    for (const part of parts) {
      const size = count(part.text);
      if (size > room || calls.length === 0) {
        calls.push([]);
        room = this.#mostInACall;
      }
      calls.at(-1)?.push(part);
      room -= size;
    }
    return calls;
  }

  /** Summarizers write more than they are asked for. What is over is cut, at a whole character. */
  async #cut(text: string, most: number): Promise<string | undefined> {
    let characters = [...text];
    for (;;) {
      const cut = characters.join('');
      const size = await this.size(cut);
      if (size <= most) return cut.trim() === '' ? undefined : cut;
      characters = characters.slice(0, Math.floor((characters.length * most * 0.95) / size));
    }
  }
}
