import type { ReservedSpending } from "../../store/metering/spending.ts";

/** Parts of a request that are needed to estimate its usage. */
export type ReservedRequest = {
  /** Reserved of what its account may spend. */
  readonly expected: ReservedSpending;
  /** Tokens of its prompt, as estimated. */
  readonly input: number;
  readonly model: string;
};

/** A step's reservation from its run's limits and its account's budgets. */
export type ReservedStep = ReservedRequest & {
  readonly steered: number;
  /** Something limits what its account may spend. */
  readonly isHeld: boolean;
};
