/** JSON-RPC 2.0, one message a line, over standard input and output. */

import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

export type Handler = (params: unknown) => Promise<unknown>;

/** A call that this builder does not answer, and why. */
export class CallError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

const NO_JSON = -32700;
const NO_CALL = -32600;
const NO_METHOD = -32601;
export const WRONG_PARAMS = -32602;
const INTERNAL = -32000;

type Message = Readonly<Record<string, unknown>>;

/** Lines end at 0x0A and nowhere else: U+2028 and its like may stand within one. */
async function* lines(input: Readable): AsyncGenerator<string, void, void> {
  let pieces: Buffer[] = [];
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      pieces.push(chunk.subarray(start, end));
      yield Buffer.concat(pieces).toString('utf8');
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
}

/**
 * The suite has one call under way at most, and so have we: whoever waits reads the next line.
 */
export class Connection {
  readonly #lines: AsyncGenerator<string, void, void>;
  #reverseCalls = 0;

  constructor(
    input: Readable,
    private readonly output: Writable,
  ) {
    this.#lines = lines(input);
  }

  /** Answer calls until the last one, `shutdown`, or the end of the input. */
  async serve(handlers: ReadonlyMap<string, Handler>): Promise<void> {
    for (let line = await this.#read(); line !== null; line = await this.#read()) {
      const call = parse(line);
      const id = call?.['id'] ?? null;
      try {
        await this.#write({ id, result: await answer(call, handlers) });
      } catch (fault) {
        if (!(fault instanceof CallError)) console.error(fault);
        const code = fault instanceof CallError ? fault.code : INTERNAL;
        await this.#write({ id, error: { code, message: String(fault) } });
      }
      if (call?.['method'] === 'shutdown') return;
    }
  }

  /** A reverse call: ask the suite, while one of its own calls is under way. */
  async ask<Result>(method: string, params: object): Promise<Result> {
    this.#reverseCalls += 1;
    const id = `reverse-${this.#reverseCalls}`;
    await this.#write({ id, method, params });
    const line = await this.#read();
    const reply = line === null ? undefined : parse(line);
    if (reply?.['id'] !== id) throw new Error(`no answer to ${method}`);
    if (!('result' in reply)) throw new Error(`${method}: ${JSON.stringify(reply['error'])}`);
    return reply['result'] as Result;
  }

  async #read(): Promise<string | null> {
    const next = await this.#lines.next();
    return next.done === true ? null : next.value;
  }

  async #write(message: object): Promise<void> {
    if (!this.output.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')) {
      await once(this.output, 'drain');
    }
  }
}

function parse(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Message) : {};
  } catch {
    return undefined;
  }
}

function answer(call: Message | undefined, handlers: ReadonlyMap<string, Handler>): Promise<unknown> {
  if (call === undefined) throw new CallError(NO_JSON, 'no JSON');
  const method = call['method'];
  if (typeof method !== 'string') throw new CallError(NO_CALL, 'no call');
  const handler = handlers.get(method);
  if (handler === undefined) throw new CallError(NO_METHOD, `${method} is not answered here`);
  return handler(call['params']);
}
