/** The builder as a program: the calls it answers, served over standard input and output. */

import { build } from './build.js';
import type { Answer } from './calls.js';
import { SUMMARY_BOUND, compact } from './compact.js';
import { DELIMITERS } from './envelope.js';
import { apply, authorize } from './epochs.js';
import { estimate, reconcile } from './estimate.js';
import { validate } from './pairs.js';
import { PLACES } from './places.js';
import { openSession } from './plan.js';
import { candidates, carry, update } from './state.js';
import { Suite } from './suite.js';
import { CallError, Connection, WRONG_PARAMS, type Handler } from './wire.js';

const CONTRACT = 1;
const ENVELOPED = [
  'agent_instructions',
  'memory_snapshot',
  'checkpoint',
  'user_message',
  'assistant_message',
  'tool_result',
  'memory_correction',
  'working_state',
  'recall',
  'environment',
];

const MANIFEST = {
  contract: CONTRACT,
  name: 'example-typescript',
  version: '1.0.0',
  claims: Array.from({ length: 16 }, (_, index) => `d${String(index + 1).padStart(2, '0')}`),
  order: PLACES,
  delimiters: DELIMITERS,
  codecs: ENVELOPED.map((type) => ({ type, codec: { kind: 'json-string' } })),
  structural: ['tool_definition', 'tool_call'],
  summary_bound: SUMMARY_BOUND,
};

const connection = new Connection(process.stdin, process.stdout);
const suite = new Suite(connection);

/** A call with just these params. What is in them is taken as it is: the suite wrote it by the schemas. */
function port<Call extends object>(
  names: readonly (keyof Call & string)[],
  answer: (call: Call, suite: Suite) => Answer | Promise<Answer>,
): Handler {
  const expected = [...names].sort().join(', ');
  return async (params) => {
    const given = Object.keys(params ?? {})
      .sort()
      .join(', ');
    if (given !== expected) throw new CallError(WRONG_PARAMS, `expected ${expected}; got ${given}`);
    suite.forget();
    return { events: [], ...(await answer(params as Call, suite)) };
  };
}

const PORTS: Readonly<Record<string, Handler>> = {
  open_session: port(['context', 'opening'], openSession),
  apply: port(['context', 'plan', 'change', 'live'], apply),
  build: port(['context', 'plan', 'inputs'], build),
  validate: port(['context', 'request'], validate),
  compact: port(['context', 'plan', 'inputs'], compact),
  estimate: port(['context', 'calibration', 'blocks'], estimate),
  reconcile: port(['context', 'calibration', 'estimate', 'usage'], reconcile),
  authorize: port(['context', 'plan', 'live', 'call'], authorize),
  update: port(['context', 'state', 'update', 'origin'], update),
  carry: port(['context', 'log'], carry),
  candidates: port(['context', 'plan', 'log', 'state'], candidates),
};

async function initialize(params: unknown): Promise<unknown> {
  const { contract } = (params ?? {}) as { contract?: unknown };
  if (contract !== CONTRACT) throw new CallError(WRONG_PARAMS, `this builder speaks contract ${CONTRACT}`);
  return { manifest: MANIFEST, ports: Object.keys(PORTS) };
}

await connection.serve(
  new Map([['initialize', initialize], ['shutdown', async () => ({})], ...Object.entries(PORTS)]),
);
process.stdin.destroy();
