import type { Item, NewItem } from "../../protocol/threads/items.ts";
import type { AppendExtras, RunOwner, RunEnd } from "../log/append.ts";
import { foldOf, type Fold } from "../log/fold.ts";
import type { Runtime, StopReason } from "../contract/runtime.ts";
import type { ReservedStep } from "../contract/reserved-step.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import type { TakenRun } from "../contract/taken-run.ts";
import type { RunBasis } from "../contract/turn.ts";

/** Changes that are committed together with a wait. */
export type WaitExtras = {
  readonly items?: readonly NewItem[];
  /** The error that led to the wait, in the form of a run's end. */
  readonly error?: RunEnd["error"];
  /** Continues by itself after this long. */
  readonly retryMs?: number | undefined;
  /** Replaces the usual maximum of such a wait. */
  readonly maxMs?: number;
} & Pick<AppendExtras, "ledger" | "modelCalls" | "settles" | "spent" | "deltasOf" | "uncounted">;

/** Fixed for the whole work on a run. */
export type WorkOptions = {
  readonly runtime: Runtime;
  readonly taken: TakenRun;
  /** Not below another run: nothing of it waits for this process. */
  readonly isRoot: boolean;
  /** For a child: the root under whose epoch it works and takes its own children. */
  readonly root?: Pick<RunOwner, "runId" | "epoch">;
  /** Works on a child until it ends, waits, or can't continue here. */
  readonly workOnChild: (work: RunWork, child: TakenRun) => Promise<void>;
  /** Reports progress to the runs above, so that they are not suspected of killing processes. */
  readonly progressed?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  /** Fires the signal. */
  readonly stop: (reason: StopReason) => void;
};

/** One run in this process, from its take to its end, wait or loss. Its fields follow what is committed. */
export type RunWork = WorkOptions & {
  readonly owner: RunOwner;
  /** The root run; for a root, the run itself. */
  readonly root: Pick<RunOwner, "runId" | "epoch">;
  /** The run's own items. */
  items: Item[];
  /** The branch of the thread that a prompt is made of. */
  readonly branch: Item[];
  /** Set once the run's end or wait is committed: nothing is left to do here. */
  left: "ended" | "waiting" | undefined;
  /** Messages of the thread that wait for this run's end. */
  pending: number;
  /** How many messages that arrived during the run are in `items`. */
  steered: number;
  /** Whether processes died while working on it, with no progress since. */
  isSuspect: boolean;
  /** The step whose answer is being read; its partial text is kept if the run ends meanwhile. */
  current: { readonly key: string; readonly answer: ModelAnswer; readonly reserved: ReservedStep } | undefined;
  /** A step that is reserved already, and how many messages had been said while the run worked. */
  ahead: { readonly reservation: string; readonly steered: number } | undefined;
  /** The step whose calls were taken from the limits with its answer. */
  countedCallsOf: string | undefined;
  /** The model name that was looked up last. */
  asked: string | undefined;
  /** Computed from the items on demand, and cleared when they change. */
  fold: Fold | undefined;
  basis: RunBasis | undefined;
};

/** `history`: the branch, as far as it was read; all of the run's own items. */
export function createWork(options: WorkOptions, history: readonly Item[]): RunWork {
  const { runId, epoch, threadId, steered, takeovers } = options.taken;
  const owner = { runId, epoch, threadId };
  return {
    ...options,
    owner,
    root: options.root ?? owner,
    items: history.filter((item) => item.runId === runId),
    branch: [...history],
    left: undefined,
    pending: 0,
    steered,
    isSuspect: takeovers > 0,
    current: undefined,
    ahead: options.taken.ahead,
    countedCallsOf: undefined,
    asked: undefined,
    fold: undefined,
    basis: undefined,
  };
}

/** Returns what is done and what is open, from the run's items. */
export function foldIn(work: RunWork): Fold {
  return (work.fold ??= foldOf(work.items));
}
