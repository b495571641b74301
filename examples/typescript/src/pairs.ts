/** Calls and their results: which answers which, in a log and in a request. */

import type { Answer, ValidateCall } from './calls.js';
import type { Block, LogEntry, Message, ToolCall, ToolResult } from './contract.js';
import { rankOf } from './places.js';

export interface Problem {
  readonly kind:
    | 'undeclared_type'
    | 'unanswered_call'
    | 'orphaned_result'
    | 'orphaned_call'
    | 'duplicate_result'
    | 'misordered'
    | 'malformed';
  readonly subject: string;
}

interface Half {
  readonly id: string;
  readonly type: string;
  readonly callId: string | null;
}

/** Goes through messages in order; results close the open calls of the message that they follow. */
class Matching {
  readonly problems: Problem[] = [];
  #open: Half[] = [];
  #closed = new Set<string | null>();
  #inMessage = false;

  take(half: Half): void {
    switch (half.type) {
      case 'user_message':
      case 'assistant_message':
        this.end();
        this.#inMessage = half.type === 'assistant_message';
        break;
      case 'tool_call':
        if (this.#inMessage) this.#open.push(half);
        else this.problems.push({ kind: 'orphaned_call', subject: half.id });
        break;
      default:
        this.#close(half);
    }
  }

  /** No result that comes now can close what is open. */
  end(): void {
    for (const { id } of this.#open) this.problems.push({ kind: 'unanswered_call', subject: id });
    this.#open = [];
    this.#closed = new Set();
    this.#inMessage = false;
  }

  #close(result: Half): void {
    const index = this.#open.findIndex((call) => call.callId === result.callId);
    if (index >= 0) {
      this.#open.splice(index, 1);
      this.#closed.add(result.callId);
    } else {
      const kind = this.#closed.has(result.callId) ? 'duplicate_result' : 'orphaned_result';
      this.problems.push({ kind, subject: result.id });
    }
  }
}

const MESSAGES = new Set(['user_message', 'assistant_message', 'tool_call', 'tool_result']);
const UNRENDERED = new Set(['working_state_update', 'usage', 'compaction', 'session_closed']);

export const isMessage = (entry: LogEntry): entry is Message => MESSAGES.has(entry.type);

/** Why this log cannot become a request, if it cannot. */
export function problemOf(log: readonly LogEntry[]): Problem | undefined {
  const undeclared = log.find(({ type }) => !MESSAGES.has(type) && !UNRENDERED.has(type));
  if (undeclared !== undefined) return { kind: 'undeclared_type', subject: undeclared.type };
  const matching = new Matching();
  for (const entry of log) {
    if (isMessage(entry)) matching.take({ id: entry.id, type: entry.type, callId: callIdOf(entry) });
  }
  matching.end();
  return matching.problems[0];
}

const callIdOf = (message: Message): string | null => ('call_id' in message ? message.call_id : null);

/** Every call with the result that closes it, the calls in order. */
export function pairsOf(log: readonly LogEntry[]): Map<ToolCall, ToolResult> {
  const pairs = new Map<ToolCall, ToolResult>();
  let open: ToolCall[] = [];
  for (const entry of log) {
    if (entry.type === 'user_message' || entry.type === 'assistant_message') open = [];
    if (entry.type === 'tool_call') open.push(entry);
    if (entry.type !== 'tool_result') continue;
    const call = open.find((each) => each.call_id === entry.call_id);
    if (call === undefined) continue;
    pairs.set(call, entry);
    open = open.filter((each) => each !== call);
  }
  return pairs;
}

/** The current user message, and the latest message with calls after it: these are never compacted. */
export function sparedOf(log: readonly LogEntry[]): {
  readonly current: string | undefined;
  readonly activePairs: ReadonlySet<string>;
} {
  const start = log.findLastIndex(({ type }) => type === 'user_message');
  const turn = log.slice(start + 1).filter(isMessage);
  const lastCall = turn.findLastIndex(({ type }) => type === 'tool_call');
  if (lastCall < 0) return { current: log[start]?.id, activePairs: new Set() };
  const from = turn.slice(0, lastCall).findLastIndex(({ type }) => type === 'assistant_message');
  const next = turn.findIndex(({ type }, index) => index > lastCall && type === 'assistant_message');
  const unit = turn.slice(from, next < 0 ? undefined : next);
  return { current: log[start]?.id, activePairs: new Set(unit.map(({ id }) => id)) };
}

/** Everything that is wrong with a request's pairs and with the order of its blocks. */
export function validate(call: ValidateCall): Answer {
  const problems: Problem[] = [];
  const matching = new Matching();
  let place = 0;
  for (const block of call.request.blocks) {
    const subject = block.item_id ?? block.type;
    const rank = rankOf(block);
    if (rank < 0) problems.push({ kind: 'undeclared_type', subject });
    if (rank >= 0 && rank < place) problems.push({ kind: 'misordered', subject });
    place = Math.max(place, rank);
    if (!MESSAGES.has(block.type)) continue;
    if (isHalf(block) && block.call_id === null) problems.push({ kind: 'malformed', subject });
    matching.take({ id: subject, type: block.type, callId: block.call_id });
  }
  matching.end();
  return { answer: 'validated', violations: [...problems, ...matching.problems] };
}

const isHalf = (block: Block): boolean => block.type === 'tool_call' || block.type === 'tool_result';
