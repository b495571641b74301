/**
 * How a block is written. An envelope is one JSON object,
 *
 *     {"nonce": "…", "type": "…", "trust": "…", "source": "…", "content": "…", "end": "…"}
 *
 * with a blank after each of its own colons and commas. What it holds is written by `JSON.stringify`,
 * which leaves no blank between tokens and no bare quote within a text. So neither delimiter can occur
 * in content, whoever wrote it, and whatever nonce they know.
 */

import { createHmac } from 'node:crypto';
import type { Block, ElidedSpan, Envelope, Extent, Role, Trust } from './contract.js';

const OPENING = '{"nonce": "';
const CLOSING = ', "end": "';
export const DELIMITERS: readonly string[] = [OPENING, CLOSING];

const bytes = (text: string): number => Buffer.byteLength(text, 'utf8');
const upTo = (start: number, text: string): Extent => ({ start, end: start + bytes(text) });

/** A block without the fields that few blocks have. */
export function block(
  fields: Pick<Block, 'item_id' | 'type' | 'region' | 'role' | 'label' | 'source' | 'text'> & Partial<Block>,
): Block {
  return { slot: null, envelope: null, pointer: null, call_id: null, status: null, ...fields };
}

export interface Sealed {
  readonly itemId: string;
  readonly type: string;
  readonly region: 'A' | 'B';
  readonly role: Role;
  readonly label: Trust;
  readonly source: string;
  /** What the nonce is keyed to: the original content, of a pointer too. */
  readonly content: string;
  /** What is shown instead of the content: JSON without blanks between its tokens. */
  readonly shown?: string;
}

/** Everything below platform trust that is not structural. */
export class Envelopes {
  constructor(private readonly secret: string) {}

  seal(item: Sealed, more: Partial<Block> = {}): Block {
    const nonce = this.#nonce(item.type, item.source, item.content);
    const source = JSON.stringify(item.source);
    const beforeSource = `${OPENING}${nonce}", "type": "${item.type}", "trust": "${item.label}", "source": `;
    const opening = `${beforeSource}${source}, "content": `;
    const shown = item.shown ?? JSON.stringify(item.content);
    const type = OPENING.length + nonce.length + '", "type": "'.length;
    const trust = type + item.type.length + '", "trust": "'.length;
    const closing = bytes(opening) + bytes(shown);
    const envelope: Envelope = {
      opening: upTo(0, opening),
      closing: upTo(closing, `${CLOSING}${nonce}"}`),
      nonce: upTo(OPENING.length, nonce),
      type: upTo(type, item.type),
      trust: upTo(trust, item.label),
      source: upTo(beforeSource.length, source),
      closing_nonce: upTo(closing + CLOSING.length, nonce),
    };
    return block({
      item_id: item.itemId,
      type: item.type,
      region: item.region,
      role: item.role,
      label: item.label,
      source: item.source,
      text: `${opening}${shown}${CLOSING}${nonce}"}`,
      envelope,
      ...more,
    });
  }

  /** A typed pointer: how much is left out, and under which ids it is kept. */
  point(
    item: Omit<Sealed, 'shown'>,
    span: ElidedSpan,
    kind: 'truncation' | 'elision',
    more: Partial<Block> = {},
  ): Block {
    const named = JSON.stringify(span.references.map(({ item_id }) => item_id));
    const verb = kind === 'truncation' ? 'truncated' : 'elided';
    const before = `{"${verb}":{"bytes":${span.size},"kept_as":`;
    const sealed = this.seal({ ...item, shown: `${before}${named}}}` }, more);
    const start = (sealed.envelope?.opening.end ?? 0) + before.length;
    return { ...sealed, pointer: { ...span, kind, reference: upTo(start, named) } };
  }

  /** Keyed to what the item is and says, and to nothing else: equal items have equal nonces. */
  #nonce(type: string, source: string, content: string): string {
    const keyed = createHmac('sha256', this.secret).update(JSON.stringify([type, source, content]));
    return keyed.digest('base64url').slice(0, 13); // 78 bits
  }
}
