/** The record's figures, in tokens of content unless they say otherwise. */

export const CAPS = {
  platform_policy: 2_000,
  framing: 500,
  agent_instructions: 4_000,
  tool_definitions: 6_000,
  memory_snapshot: 1_500,
  memory_corrections: 1_500,
  working_state: 1_000,
  recall: 2_000,
  environment: 500,
} as const;

/** Items and entries, by number. */
export const MOST = {
  tools: 30,
  memory: 40,
  constraints: 20,
  tasks: 30,
  established_facts: 40,
  open_questions: 20,
} as const;

/** What the output reserve has to leave of the window, and the prefix of the rest. */
export const LEAST_BODY = 1_000;

/** The share of the body that tool results may have, and that a summary may. */
export const quarterOf = (body: number): number => Math.floor(body / 4);
