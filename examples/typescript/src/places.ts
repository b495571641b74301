/** The assembly order: a turn's user message, and behind it what the turn already holds. */

import type { Block } from './contract.js';

export const PLACES: readonly string[] = [
  'platform_policy',
  'framing',
  'agent_instructions',
  'tool_definition',
  'memory_snapshot',
  'checkpoint',
  'history',
  'memory_correction',
  'working_state',
  'recall',
  'environment',
  'current',
  'active',
];

/** Where a block belongs in `PLACES`; -1 for a type that nothing declares. */
export const rankOf = (block: Block): number => PLACES.indexOf(block.slot ?? block.type);

/** Blocks by their places. Within a place they stay as they were. */
export const inOrder = (blocks: readonly Block[]): Block[] =>
  [...blocks].sort((one, other) => rankOf(one) - rankOf(other));
