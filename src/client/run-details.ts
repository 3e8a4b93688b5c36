import type { ThreadView } from "../protocol/threads.ts";
import type { Item } from "../protocol/items.ts";
import type {
  AdminRun,
  BudgetUse,
  LedgerRow,
  RunAbout,
  Take,
  TracedItem,
  TracedModelCall,
} from "../protocol/run-trace.ts";
import type { RunStatus } from "../protocol/runs.ts";
import type { ListedTool } from "../protocol/tools-api.ts";
import type { RunView } from "./client.ts";
import type { QuestionView } from "./questions.ts";
import { askJson, askList, queryOf, type Server } from "./request.ts";

export type ListedRunView = RunView & RunAbout;

export type TracedRunView = RunView & {
  /** Which call of its parent it stands for: `step.index`. */
  readonly parentCall: string | null;
  readonly takes: readonly Take[];
};
export type RunDetailsView = {
  readonly run: AdminRun & RunAbout;
  readonly questions: readonly QuestionView[];
  readonly job: { readonly state: string; readonly heartbeatSeconds: number | null } | null;
  readonly budget: BudgetUse | null;
  /** It and those that it delegated. */
  readonly runs: readonly TracedRunView[];
  readonly items: readonly TracedItem[];
  readonly modelCalls: readonly TracedModelCall[];
  readonly ledger: readonly LedgerRow[];
  /** Nothing was left out. */
  readonly whole: boolean;
  /** The time of the server. */
  readonly now: string;
};
export type RunListFilter = {
  readonly thread?: string;
  readonly status?: RunStatus;
  readonly agent?: string;
  /** Only those that no other run began. */
  readonly root?: "true";
  /** The last id of the page before. */
  readonly before?: string;
  readonly limit?: number;
};

/** Runs as those see them who want to know what happened in them. */
export type RunInsideClient = {
  /** Newest first. */
  list(filter?: RunListFilter, signal?: AbortSignal): Promise<readonly ListedRunView[]>;
  /** Of each kind the newest `limit`. */
  details(id: string, limit?: number, signal?: AbortSignal): Promise<RunDetailsView>;
  item(runId: string, itemId: string, signal?: AbortSignal): Promise<Item>;
  /** A copy of the conversation up to this item. */
  fork(threadId: string, item: string, signal?: AbortSignal): Promise<ThreadView>;
  /** The tools that one may use; with `unavailable` those that can't be used here. */
  tools(signal?: AbortSignal): Promise<readonly ListedTool[]>;
};

export function createRunInsideClient(server: Server): RunInsideClient {
  return {
    list: (filter = {}, signal) => askList(server, "/api/runs" + queryOf(filter), { signal }),
    details: (id, limit, signal) => askJson(server, `/api/runs/${id}/details${queryOf({ limit })}`, { signal }),
    item: (runId, itemId, signal) => askJson(server, `/api/runs/${runId}/items/${itemId}`, { signal }),
    fork: (threadId, item, signal) =>
      askJson(server, `/api/threads/${threadId}/fork`, { method: "POST", body: { item }, signal }),
    tools: (signal) => askList(server, "/api/tools/list", { signal }),
  };
}
