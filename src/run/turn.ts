import type { ItemOf } from "../protocol/items.ts";
import type { ModelMessage, ModelSettings, ResponseFormat } from "../protocol/models.ts";
import type { Fold } from "./fold.ts";

export type StepOptions = {
  /** An answer without calls ends the run, in the statement that stores it. */
  readonly final?: boolean;
  /** Offer no tools. */
  readonly withoutTools?: boolean;
  /** Instead of the agent's instructions. */
  readonly instructions?: string;
  /** Instead of the thread's messages. */
  readonly messages?: readonly ModelMessage[];
  readonly format?: ResponseFormat;
  readonly settings?: ModelSettings;
};

/**
 * A strategy's only ways to a model, a tool or the store, so that none can pass by limits, rights, ledger or log.
 * Each returns when what it did is committed, and `fold` shows it then; each throws when the run can't go on here.
 */
export type Turn = {
  /** All that was done in this run, by whichever process. */
  readonly fold: Fold;
  /** One model call. Does nothing if the step is in the fold already. */
  step(key: string, options?: StepOptions): Promise<void>;
  /** Does the calls that have no result yet; returns when each has one. */
  call(calls: readonly ItemOf<"call">[]): Promise<void>;
};

/** How an agent works: looks at the fold and does what is missing, until there is an answer. Begins anew after a crash. */
export type Strategy = (turn: Turn) => Promise<void>;
