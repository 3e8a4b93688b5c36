import type { ThreadView } from "../protocol/threads/threads.ts";
import type { Item } from "../protocol/threads/items.ts";
import type { ListedRunView, RunDetailsView } from "../protocol/threads/run-trace.ts";
import type { StepPrompt } from "../protocol/threads/step-prompt.ts";
import type { RunStatus } from "../protocol/threads/runs.ts";
import type { ListedTool } from "../protocol/agents/tools-api.ts";
import { askJson, askList, queryOf, type ServerAccess } from "./request.ts";

export type RunListFilter = {
  readonly thread?: string;
  readonly status?: RunStatus;
  readonly agent?: string;
  /** Only runs that were not started by another run. */
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
  /** What a step asked its model; with `whole` no text is cut. */
  prompt(runId: string, step: string, whole: boolean, signal?: AbortSignal): Promise<StepPrompt>;
  /** A copy of the conversation up to this item. */
  fork(threadId: string, item: string, signal?: AbortSignal): Promise<ThreadView>;
  /** The tools that one may use; with `unavailable` those that can't be used here. */
  tools(signal?: AbortSignal): Promise<readonly ListedTool[]>;
};

export function createRunInsideClient(server: ServerAccess): RunInsideClient {
  return {
    list: (filter = {}, signal) => askList(server, "/api/runs" + queryOf(filter), { signal }),
    details: (id, limit, signal) => askJson(server, `/api/runs/${id}/details${queryOf({ limit })}`, { signal }),
    item: (runId, itemId, signal) => askJson(server, `/api/runs/${runId}/items/${itemId}`, { signal }),
    prompt: (runId, step, whole, signal) =>
      askJson(server, `/api/runs/${runId}/prompt${queryOf({ step, whole: String(whole) })}`, { signal }),
    fork: (threadId, item, signal) =>
      askJson(server, `/api/threads/${threadId}/fork`, { method: "POST", body: { item }, signal }),
    tools: (signal) => askList(server, "/api/tools/list", { signal }),
  };
}
