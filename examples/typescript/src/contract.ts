/**
 * The messages of the protocol, written by hand from the schemas that `contextproof schema` writes.
 * Only what this engine reads or writes is here. Everything is read-only: a call is never altered.
 */

export type Trust = 'platform' | 'operator' | 'user' | 'internal' | 'external_untrusted';
export type Slot = 'history' | 'active' | 'current';
export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool';
export type Tokenizer = 'o200k_base' | 'cl100k_base';
export type ResultStatus = 'ok' | 'error' | 'denied' | 'interrupted';

export type PrefixClass =
  | 'platform_policy'
  | 'framing'
  | 'agent_instructions'
  | 'tool_definitions'
  | 'memory_snapshot';
export type BodyClass =
  | 'checkpoint'
  | 'history'
  | 'active'
  | 'memory_corrections'
  | 'working_state'
  | 'recall'
  | 'environment'
  | 'current_user_message';
export type TokenClass = PrefixClass | BodyClass | 'tool_results' | 'output_reserve';

export interface ModelSpec {
  readonly name: string;
  readonly provider: string;
  readonly endpoint: string;
  readonly reasoning_mode: string;
  readonly tokenizer: Tokenizer;
  readonly window: number;
  readonly output_reserve: number;
  readonly overhead_per_block: number;
}

export interface CallContext {
  readonly session: string;
  readonly epoch: number;
  readonly turn: number;
  readonly request: number;
  readonly model: ModelSpec;
}

// What a session opens with

export interface PlainItem {
  readonly id: string;
  readonly text: string;
}

export interface ToolDefinition {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly parameters_json: string;
  readonly source: string;
}

export interface MemoryItem extends PlainItem {
  readonly derived_from: readonly string[];
  readonly trust: Trust | null;
}

export interface Opening {
  readonly platform_secret: string;
  readonly model: ModelSpec;
  readonly policy: readonly PlainItem[];
  readonly instructions: readonly PlainItem[];
  readonly tools: readonly ToolDefinition[];
  readonly permissions: readonly string[];
  readonly memory: readonly MemoryItem[];
}

// The log

export interface UserMessage extends PlainItem {
  readonly type: 'user_message';
  readonly derived_from: readonly string[];
}

export interface AssistantMessage extends PlainItem {
  readonly type: 'assistant_message';
  readonly derived_from: readonly string[];
}

export interface ToolCall {
  readonly id: string;
  readonly type: 'tool_call';
  readonly derived_from: readonly string[];
  readonly message_id: string;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ToolResult extends PlainItem {
  readonly type: 'tool_result';
  readonly derived_from: readonly string[];
  readonly call_id: string;
  readonly status: ResultStatus;
  readonly source: string;
  readonly trust: Trust | null;
}

export interface WorkingStateWritten {
  readonly id: string;
  readonly type: 'working_state_update';
  readonly origin: WriteOrigin;
  readonly update: StateUpdate;
}

/** Entries that this engine knows of and has no use for. */
export interface Unrendered {
  readonly id: string;
  readonly type: 'usage' | 'compaction' | 'session_closed';
}

export type Message = UserMessage | AssistantMessage | ToolCall | ToolResult;
export type LogEntry = Message | WorkingStateWritten | Unrendered;

// Working state

export interface Entry {
  readonly id: string;
  readonly text: string;
  readonly derived_from: readonly string[];
}

export interface Task extends Entry {
  readonly status: 'pending' | 'in_progress' | 'done' | 'cancelled';
}

export interface OpenQuestion extends Entry {
  readonly resolved: boolean;
}

export interface WorkingState {
  readonly constraints: readonly Entry[];
  readonly tasks: readonly Task[];
  readonly established_facts: readonly Entry[];
  readonly open_questions: readonly OpenQuestion[];
}

export interface StateUpdate extends WorkingState {
  readonly remove_constraints: readonly string[];
}

export interface WriteOrigin {
  readonly by: 'model' | 'user' | 'runtime';
  readonly item_id: string | null;
}

// What a build depends on

export interface MemoryCorrection extends MemoryItem {
  readonly memory_id: string;
}

export interface RecallItem extends MemoryItem {
  readonly source: string;
}

export interface Reference {
  readonly item_id: string;
  readonly start: number | null;
  readonly end: number | null;
}

export interface ElidedSpan {
  readonly trust: Trust;
  readonly size: number;
  readonly references: readonly Reference[];
}

export interface Checkpoint {
  readonly id: string;
  readonly summary: string;
  readonly depth: number;
  readonly covers: number;
  readonly passed_over: readonly string[];
  readonly summarized: readonly string[];
  readonly pointers: readonly ElidedSpan[];
}

export interface Calibration {
  readonly models: readonly { readonly model: string; readonly values: readonly number[] }[];
}

export type YieldStep = 'recall' | 'tool_result';
export type YieldCause = 'pressure' | 'cap';

export interface Yielded {
  readonly step: YieldStep;
  readonly item_id: string;
  readonly epoch: number;
  readonly cause: YieldCause;
}

export interface Live {
  readonly permissions: readonly string[];
  readonly ids: readonly string[];
}

export interface BuildInputs {
  readonly log: readonly LogEntry[];
  readonly checkpoint: Checkpoint | null;
  readonly working_state: WorkingState;
  readonly corrections: readonly MemoryCorrection[];
  readonly recall: readonly RecallItem[];
  readonly environment: readonly PlainItem[];
  readonly calibration: Calibration;
  readonly yielded: readonly Yielded[];
  readonly live: Live;
}

export type Change =
  | { readonly kind: 'permissions' | 'tools' | 'memory' | 'clock' }
  | { readonly kind: 'routing'; readonly model: ModelSpec }
  | { readonly kind: 'forced_revocation'; readonly tool: string };

// What is sent

export interface Extent {
  readonly start: number;
  readonly end: number;
}

export interface Envelope {
  readonly opening: Extent;
  readonly closing: Extent;
  readonly nonce: Extent;
  readonly type: Extent;
  readonly trust: Extent;
  readonly source: Extent;
  readonly closing_nonce: Extent;
}

export interface Pointer extends ElidedSpan {
  readonly kind: 'truncation' | 'elision';
  readonly reference: Extent;
}

export interface Block {
  readonly item_id: string | null;
  readonly type: string;
  readonly slot: Slot | null;
  readonly region: 'A' | 'B';
  readonly role: Role;
  readonly label: Trust;
  readonly source: string;
  readonly text: string;
  readonly envelope: Envelope | null;
  readonly pointer: Pointer | null;
  readonly call_id: string | null;
  readonly status: ResultStatus | null;
}

export interface ClassTokens {
  readonly token_class: TokenClass;
  readonly tokens: number;
}

export interface Estimate {
  readonly by_class: readonly ClassTokens[];
  readonly prefix_tokens: number;
}

export interface Request {
  readonly session: string;
  readonly epoch: number;
  readonly turn: number;
  readonly request: number;
  readonly model: string;
  readonly blocks: readonly Block[];
  readonly prefix_sha256: string;
  readonly estimate: Estimate;
}

export interface Plan {
  readonly session: string;
  readonly epoch: number;
  readonly opening: Opening;
  readonly blocks: readonly Block[];
  readonly tokens: readonly ClassTokens[];
  readonly prefix_tokens: number;
  readonly prefix_sha256: string;
  readonly budget: Readonly<Record<string, number>>;
  readonly earlier_tokenizers: readonly Tokenizer[];
}
