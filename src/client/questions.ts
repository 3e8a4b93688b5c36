import type { Decision, QuestionBody } from "../protocol/items.ts";

/** An open question, with what may be decided. */
export type QuestionView = QuestionBody & {
  readonly id: string;
  readonly runId: string;
  readonly threadId: string;
  readonly decisions: readonly Decision[];
  readonly createdAt: string;
};
export type DecisionInput = {
  readonly decision: Decision;
  readonly text?: string;
  /** JSON text. */
  readonly arguments?: string;
  readonly argumentsHash?: string;
  readonly always?: true | ArgumentPattern;
};
export type ArgumentPattern = Readonly<Record<string, string | number | boolean | null>>;

/** Which items of a thread. */
export type ItemPage = {
  readonly after?: number;
  readonly before?: number;
  /** Those on both sides of this item, and it; without `after`, `before` and `order`. */
  readonly around?: string;
  readonly limit?: number;
  readonly order?: "asc" | "desc";
};
