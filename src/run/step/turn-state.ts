import type { Item, NewItem } from "../../protocol/threads/items.ts";
import type { WaitReason } from "../../protocol/threads/runs.ts";
import type { AppendExtras, Owner, RunEnd } from "../log/append.ts";
import type { Job } from "../engine/engine.ts";
import type { Runtime } from "../contract/runtime.ts";
import type { ReservedStep } from "../limits/reservation.ts";
import type { Answer } from "../contract/answer.ts";
import type { Taken } from "../lifecycle/take-run.ts";
import type { Turn } from "../contract/turn.ts";

/** What becomes true together with a wait. */
export type AlsoWaiting = {
  readonly items?: readonly NewItem[];
  /** Why, as it would stand in its end. */
  readonly error?: RunEnd["error"];
  /** In so long it goes on by itself. */
  readonly retryMs?: number | undefined;
  /** Instead of how long such a wait may be. */
  readonly mostMs?: number;
} & Pick<AppendExtras, "ledger" | "modelCalls" | "settles" | "spent" | "deltasOf" | "inVain">;

/** One run in this process, from its take to its end, wait or loss: the turn a strategy works with, and what it stands on. */
export type Work = {
  readonly runtime: Runtime;
  readonly taken: Taken;
  /** A child run has none. */
  readonly job: Job | undefined;
  readonly owner: Owner;
  /** Under whose epoch children are taken; of a root run itself. */
  readonly root: Pick<Owner, "runId" | "epoch">;
  /** Until the child ends, waits, or can't go on here. */
  readonly workOnChild: (child: Taken) => Promise<void>;
  readonly signal: AbortSignal;
  readonly turn: Turn;
  /** The step that is being read; what there is of it is kept if the run ends over it. */
  current: { readonly key: string; readonly answer: Answer; readonly reserved: ReservedStep } | undefined;
  /** The name of the model that was looked for last. */
  asked: string | undefined;
  /** The run's own items. */
  readonly items: () => readonly Item[];
  /** The branch of the thread that a prompt is made of. */
  readonly branch: () => readonly Item[];
  /** Ended or waiting: committed, nothing is left to do here. */
  readonly left: () => "ended" | "waiting" | undefined;
  /** Messages of the thread that wait for this run's end. */
  readonly pending: () => number;
  /** How many messages that were said while it ran are in `items`. */
  readonly steered: () => number;
  /** Reads what was said since, given how many there are now (asks if not); true if there was something. */
  readonly takeIn: (steered?: number) => Promise<boolean>;
  readonly commit: (items: readonly NewItem[], extras?: AppendExtras) => Promise<void>;
  /** Over whatever is open: each open call gets a result that says so. */
  readonly end: (end: RunEnd) => Promise<void>;
  /** True: the run waits now. False: what it would wait for has come meanwhile, and the fold shows it. */
  readonly wait: (reason: WaitReason, text: string, also?: AlsoWaiting) => Promise<boolean>;
  /** The same for what the runs below wait for. False: one of them has work again, or has ended. */
  readonly waitForChildren: (options?: { readonly unlessSteered: true }) => Promise<boolean>;
  /** Something was done below it. */
  readonly progressed: () => Promise<void>;
  readonly committed: (items: readonly Item[]) => void;
};
