import type { RunOrigin } from "../protocol/threads/runs.ts";
import type { RunRecord } from "../protocol/threads/run-shapes.ts";
import type { ItemOf } from "../protocol/threads/items.ts";
import type {
  AdminRun,
  BudgetUse,
  LedgerRow,
  RunAbout,
  TakeView,
  TracedItem,
  TracedModelCall,
  JobState,
  ModelUse,
} from "../protocol/threads/run-trace.ts";

export type TracedRun = RunRecord & {
  /** Which call of its parent it stands for. */
  readonly parentCall: string | null;
  /** The first, and the newest of the others. */
  readonly takes: readonly TakeView[];
};

/** Events of a run and of the runs it delegated, each list by time. */
export type RunTrace = {
  /** The run itself first; none for a message that waits for its turn. */
  readonly runs: readonly TracedRun[];
  readonly items: readonly TracedItem[];
  readonly modelCalls: readonly TracedModelCall[];
  readonly ledger: readonly LedgerRow[];
  /** Nothing was left out. */
  readonly whole: boolean;
};

export type RunDetails = RunTrace & {
  readonly run: AdminRun;
  readonly about: RunAbout | undefined;
  readonly origin: RunOrigin | null;
  /** Questions that it, and the runs below it, wait for. */
  readonly questions: readonly ItemOf<"question">[];
  /** Undefined: nobody works on it or will, as it waits or has ended. */
  readonly job: JobState | undefined;
  /** Usage of the whole tree; undefined for a queued message. */
  readonly budget: BudgetUse | undefined;
  readonly models: readonly ModelUse[];
};
