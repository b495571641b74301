/** Working state: who may write what, what goes when a field is full, and what crosses into a turn. */

import type { Answer, CandidatesCall, CarryCall, UpdateCall } from './calls.js';
import { CAPS, MOST } from './caps.js';
import type { Entry, OpenQuestion, StateUpdate, Task, WorkingState, WriteOrigin } from './contract.js';
import { pairsOf } from './pairs.js';
import type { Suite } from './suite.js';
import { TrustLedger } from './trust.js';

const TOOL = 'context.update_working_state';
const EMPTY: WorkingState = { constraints: [], tasks: [], established_facts: [], open_questions: [] };

const isOver = (task: Task): boolean => task.status === 'done' || task.status === 'cancelled';
const isResolved = (question: OpenQuestion): boolean => question.resolved;
const always = (): boolean => true;

export async function update(call: UpdateCall, suite: Suite): Promise<Answer> {
  if (call.origin.by === 'model' && touchesConstraints(call.state, call.update)) {
    return rejected('constraints', null, 'Only the user and the runtime change a constraint.');
  }
  const state = written(call.state, call.update, call.origin);
  for (const field of ['constraints', 'tasks', 'established_facts', 'open_questions'] as const) {
    if (state[field].length > MOST[field])
      return rejected(field, MOST[field], `There is no room in ${field}.`);
  }
  const texts = Object.values(state).flatMap((entries: readonly Entry[]) => entries.map(({ text }) => text));
  const count = await suite.counter(call.context.model.tokenizer, texts);
  const size = texts.reduce((total, text) => total + count(text), 0);
  if (size > CAPS.working_state)
    return rejected('tokens', CAPS.working_state, 'Working state would be too long.');
  return { answer: 'updated', state };
}

function rejected(field: string, cap: number | null, reason: string): Answer {
  return { answer: 'rejected', field, cap, reason };
}

function touchesConstraints(state: WorkingState, { constraints, remove_constraints }: StateUpdate): boolean {
  const standing = new Map(state.constraints.map(({ id, text }) => [id, text]));
  const rewords = constraints.some(({ id, text }) => standing.has(id) && standing.get(id) !== text);
  return rewords || remove_constraints.some((id) => standing.has(id));
}

/** The state with an update in it, without what was evicted for it. Whether it is lawful is asked apart. */
function written(state: WorkingState, update: StateUpdate, origin: WriteOrigin): WorkingState {
  const removed = new Set(update.remove_constraints);
  const byCall = origin.by === 'model' && origin.item_id !== null ? [origin.item_id] : [];
  const facts = update.established_facts.map((fact) => derivedToo(fact, byCall));
  // A model that repeats a constraint cannot make its origins be forgotten.
  const origins = new Map(state.constraints.map((entry) => [entry.id, entry.derived_from]));
  const constraints = update.constraints.map((entry) =>
    origin.by === 'model' ? derivedToo(entry, origins.get(entry.id) ?? []) : entry,
  );
  return {
    constraints: merged(
      state.constraints.filter(({ id }) => !removed.has(id)),
      constraints,
    ),
    tasks: evicted(merged(state.tasks, update.tasks), MOST.tasks, isOver),
    established_facts: evicted(merged(state.established_facts, facts), MOST.established_facts, always),
    open_questions: evicted(
      merged(state.open_questions, update.open_questions),
      MOST.open_questions,
      isResolved,
    ),
  };
}

function derivedToo(entry: Entry, from: readonly string[]): Entry {
  return { ...entry, derived_from: [...new Set([...entry.derived_from, ...from])] };
}

/** An entry of a known id replaces that entry where it stands. */
function merged<E extends Entry>(standing: readonly E[], entries: readonly E[]): E[] {
  const byId = new Map(standing.map((entry) => [entry.id, entry]));
  for (const entry of entries) byId.set(entry.id, entry);
  return [...byId.values()];
}

function evicted<E>(entries: readonly E[], cap: number, mayGo: (entry: E) => boolean): E[] {
  let over = entries.length - cap;
  return entries.filter((entry) => over <= 0 || !mayGo(entry) || (over--, false));
}

/** The state that crosses into a turn: the fold of every accepted write, and of every turn's start. */
export function carry({ log }: CarryCall): Answer {
  const closes = new Map([...pairsOf(log)].map(([call, result]) => [result, call]));
  let state = EMPTY;
  for (const entry of log) {
    if (entry.type === 'user_message') state = carriedOver(state);
    if (entry.type === 'working_state_update') state = written(state, entry.update, entry.origin);
    if (entry.type !== 'tool_result' || entry.status !== 'ok') continue;
    const call = closes.get(entry);
    if (call?.name !== TOOL) continue;
    state = written(state, updateFrom(call.arguments), { by: 'model', item_id: call.id });
  }
  return { answer: 'updated', state };
}

function carriedOver(state: WorkingState): WorkingState {
  return {
    ...state,
    tasks: state.tasks.filter((task) => !isOver(task)),
    open_questions: state.open_questions.filter((question) => !isResolved(question)),
  };
}

type Written<E extends Entry> = Pick<E, 'id' | 'text'> & Partial<E>;

/** An accepted update as the model wrote it, with the defaults of what it left out. */
function updateFrom(written: string): StateUpdate {
  const raw = JSON.parse(written) as {
    constraints?: Written<Entry>[];
    tasks?: Written<Task>[];
    established_facts?: Written<Entry>[];
    open_questions?: Written<OpenQuestion>[];
    remove_constraints?: string[];
  };
  return {
    constraints: (raw.constraints ?? []).map((each) => ({ derived_from: [], ...each })),
    tasks: (raw.tasks ?? []).map((each) => ({ derived_from: [], status: 'pending', ...each })),
    established_facts: (raw.established_facts ?? []).map((each) => ({ derived_from: [], ...each })),
    open_questions: (raw.open_questions ?? []).map((each) => ({
      derived_from: [],
      resolved: false,
      ...each,
    })),
    remove_constraints: raw.remove_constraints ?? [],
  };
}

/** Facts for memory, once the session is over. An untrusted one is offered too, as one not to keep. */
export function candidates(call: CandidatesCall): Answer {
  if (call.log.at(-1)?.type !== 'session_closed') return { answer: 'candidates', candidates: [] };
  const trust = new TrustLedger(call.plan.opening, call.log);
  const offered = call.state.established_facts.map((fact) => {
    const eligible = trust.derived('internal', fact.derived_from) !== 'external_untrusted';
    const reason = eligible ? null : 'It derives from content that is not trusted.';
    return { fact, provenance: fact.derived_from, eligible, reason };
  });
  return { answer: 'candidates', candidates: offered };
}
