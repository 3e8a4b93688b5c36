import type { Item, NewItem } from "../../protocol/threads/items.ts";
import type { AppendExtras, RunOwner, RunEnd } from "../log/append.ts";
import type { Job } from "../engine/engine.ts";
import { foldOf, type Fold } from "../log/fold.ts";
import type { Runtime, StopReason } from "../contract/runtime.ts";
import type { ReservedStep } from "../contract/reserved-step.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import type { TakenRun } from "../lifecycle/take-run.ts";
import type { RunBasis } from "../contract/turn.ts";

/** What becomes true together with a wait. */
export type WaitExtras = {
  readonly items?: readonly NewItem[];
  /** Why, as it would stand in its end. */
  readonly error?: RunEnd["error"];
  /** In so long it goes on by itself. */
  readonly retryMs?: number | undefined;
  /** Instead of how long such a wait may be. */
  readonly maxMs?: number;
} & Pick<AppendExtras, "ledger" | "modelCalls" | "settles" | "spent" | "deltasOf" | "uncounted">;

/** What the work on a run is given once, and keeps. */
export type WorkOptions = {
  readonly runtime: Runtime;
  readonly taken: TakenRun;
  /** A child run has none. */
  readonly job: Job | undefined;
  /** Of a child: under whose epoch it works, and its own children are taken. */
  readonly root?: Pick<RunOwner, "runId" | "epoch">;
  /** Until the child ends, waits, or can't go on here. */
  readonly workOnChild: (work: RunWork, child: TakenRun) => Promise<void>;
  /** Tells the runs above that there was progress, so that they are not taken for what kills processes. */
  readonly progressed?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  /** Fires the signal. */
  readonly stop: (reason: StopReason) => void;
};

/** One run in this process, from its take to its end, wait or loss. What changes of it, changes with what is committed. */
export type RunWork = WorkOptions & {
  readonly owner: RunOwner;
  /** Of a root run itself. */
  readonly root: Pick<RunOwner, "runId" | "epoch">;
  /** The run's own items. */
  items: Item[];
  /** The branch of the thread that a prompt is made of. */
  readonly branch: Item[];
  /** Ended or waiting: committed, nothing is left to do here. */
  left: "ended" | "waiting" | undefined;
  /** Messages of the thread that wait for this run's end. */
  pending: number;
  /** How many messages that were said while it ran are in `items`. */
  steered: number;
  /** Processes died over it, and nothing was done since. */
  isSuspect: boolean;
  /** The step that is being read; what there is of it is kept if the run ends over it. */
  current: { readonly key: string; readonly answer: ModelAnswer; readonly reserved: ReservedStep } | undefined;
  /** The name of the model that was looked for last. */
  asked: string | undefined;
  /** Made of the items when somebody asks; undefined again when they change. */
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
    asked: undefined,
    fold: undefined,
    basis: undefined,
  };
}

/** What there is to do, by the run's items. */
export function foldIn(work: RunWork): Fold {
  return (work.fold ??= foldOf(work.items));
}
