import type { ArgumentPattern } from "../protocol/agents/approval.ts";
import type { Decision } from "../protocol/threads/items.ts";

export type DecisionInput = {
  readonly decision: Decision;
  readonly text?: string;
  /** JSON text. */
  readonly arguments?: string;
  readonly argumentsHash?: string;
  readonly always?: true | ArgumentPattern;
  readonly here?: true;
  readonly read?: true;
};

/** Which items of a thread. */
export type ItemPageQuery = {
  readonly after?: number;
  readonly before?: number;
  /** Those on both sides of this item, and it; without `after`, `before` and `order`. */
  readonly around?: string;
  readonly limit?: number;
  readonly order?: "asc" | "desc";
};
