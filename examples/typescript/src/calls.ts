/** The arguments of each call that this builder answers. */

import type {
  Block,
  BuildInputs,
  Calibration,
  CallContext,
  Change,
  Estimate,
  Live,
  LogEntry,
} from './contract.js';
import type { ModelSpec, Opening, Plan, Request, StateUpdate, ToolCall, WorkingState } from './contract.js';
import type { WriteOrigin } from './contract.js';

export interface OpenSessionCall {
  readonly context: CallContext;
  readonly opening: Opening;
}

export interface ApplyCall {
  readonly context: CallContext;
  readonly plan: Plan;
  readonly change: Change;
  readonly live: Live;
}

/** Of `build`, and of `compact`. */
export interface BuildCall {
  readonly context: CallContext;
  readonly plan: Plan;
  readonly inputs: BuildInputs;
}

export interface ValidateCall {
  readonly context: CallContext;
  readonly request: Request;
}

export interface EstimateCall {
  readonly context: CallContext;
  readonly calibration: Calibration;
  readonly blocks: readonly Block[];
}

export interface ReconcileCall {
  readonly context: CallContext;
  readonly calibration: Calibration;
  readonly estimate: Estimate;
  readonly usage: number;
}

export interface AuthorizeCall {
  readonly context: CallContext;
  readonly plan: Plan;
  readonly live: Live;
  readonly call: ToolCall;
}

export interface UpdateCall {
  readonly context: CallContext;
  readonly state: WorkingState;
  readonly update: StateUpdate;
  readonly origin: WriteOrigin;
}

export interface CarryCall {
  readonly context: CallContext;
  readonly log: readonly LogEntry[];
}

export interface CandidatesCall {
  readonly context: CallContext;
  readonly plan: Plan;
  readonly log: readonly LogEntry[];
  readonly state: WorkingState;
}

/** An answer to a call: its tag, the events it caused, and whatever else the tag asks for. */
export interface Answer {
  readonly answer: string;
  readonly events?: readonly object[];
  readonly [field: string]: unknown;
}

/** What every event says of where it happened. An epoch that only just began is said apart. */
export function where(
  { session, epoch, turn, request }: CallContext,
  plan: { epoch: number } = { epoch },
): object {
  return { session, epoch: plan.epoch, turn, request };
}

/** Tokens that a request may have in all. */
export const limitOf = (model: ModelSpec): number => model.window - model.output_reserve;
