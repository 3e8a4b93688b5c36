import type { ReservedSpending } from "../../store/metering/spending.ts";

/** What is asked for, as far as what it used must be estimated. */
export type ReservedRequest = {
  /** Reserved of what its account may spend. */
  readonly expected: ReservedSpending;
  /** Tokens of its prompt, as estimated. */
  readonly input: number;
  readonly model: string;
};

/** What a step may use of the limits of its run, and of what its account may spend. */
export type ReservedStep = ReservedRequest & {
  readonly steered: number;
  /** Something limits what its account may spend. */
  readonly isHeld: boolean;
};
