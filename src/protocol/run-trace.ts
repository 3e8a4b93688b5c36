import type { Item, ItemKind } from "./items.ts";
import type { RunRecord } from "./runs.ts";

/** What a list of runs tells beside how each stands. */
export type RunAbout = {
  /** The first words of what it was asked, or the call that it is of. */
  readonly text: string | null;
  /** By it and all that it delegated. */
  readonly used: {
    readonly steps: number;
    readonly toolCalls: number;
    readonly tokens: number;
    readonly cost: number;
  } | null;
};

/** A process took the run; `over`: from one that had died over it. */
export type Take = {
  readonly epoch: number;
  readonly node: string;
  readonly at: string;
  readonly over: boolean;
};

/** An item without its bulk: the beginning of its text, and what says how it stands. */
export type TracedItem = Pick<Item, "id" | "runId" | "seq" | "step" | "index" | "attempt" | "author" | "createdAt"> & {
  readonly kind: ItemKind;
  readonly text: string | null;
  /** There is more of it. */
  readonly cut: boolean;
  readonly facts: Readonly<Record<string, unknown>>;
};

export type TracedModelCall = {
  readonly id: string;
  readonly runId: string;
  readonly step: string | null;
  readonly attempt: number | null;
  readonly asked: string;
  readonly model: string;
  readonly provider: string;
  readonly startedAt: string;
  readonly firstPartMs: number | null;
  readonly totalMs: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cost: number | null;
  readonly finish: string | null;
  readonly error: string | null;
};

export type LedgerRow = {
  readonly runId: string;
  readonly step: string;
  readonly index: number;
  readonly tool: string;
  readonly status: "executing" | "done" | "failed" | "unknown";
  /** The idempotency key that the tool was given. */
  readonly key: string;
  /** Before it nobody asks or repeats. */
  readonly until: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
};

export type Spent = { readonly used: number; readonly max: number | null };

/** Of a whole tree of runs. */
export type BudgetUse = { readonly [Limit in "steps" | "toolCalls" | "writes" | "tokens" | "cost"]: Spent } & {
  readonly leftMs: number;
};

/** A run as whoever looks after it sees it. */
export type AdminRun = RunRecord & {
  readonly userName: string;
  /** The process that took it last; undefined: none has. */
  readonly node: string | null;
  readonly waitUntil: string | null;
  readonly cancelAsked: boolean;
};
