import { newId } from "../protocol/ids.ts";
import type { RunRecord, RunStatus } from "../protocol/runs.ts";
import { ask, queryOf, type Server } from "./request.ts";

/** A run of anybody. */
export type AdminRunView = RunRecord & {
  readonly userName: string;
  /** The process that took it last. */
  readonly node: string | null;
  readonly waitUntil: string | null;
  readonly cancelAsked: boolean;
};
export type AdminRunFilter = {
  readonly status?: RunStatus;
  /** Id or name. */
  readonly user?: string;
  readonly agent?: string;
  /** The last id of the page before. */
  readonly before?: string;
  readonly limit?: number;
};

/** Everybody's runs; for admins only. */
export type AdminRunClient = {
  /** Newest first. */
  list(filter?: AdminRunFilter, signal?: AbortSignal): Promise<readonly AdminRunView[]>;
  cancel(id: string, signal?: AbortSignal): Promise<void>;
  /** The message of one that failed or was cancelled once more, as a new run. */
  retry(id: string, signal?: AbortSignal): Promise<{ readonly id: string; readonly threadId: string }>;
};

export function createAdminRunClient(server: Server): AdminRunClient {
  const path = "/api/admin/runs";
  return {
    list: async (filter = {}, signal) =>
      ((await (await ask(server, path + queryOf(filter), { signal })).json()) as { data: AdminRunView[] }).data,
    async cancel(id, signal) {
      await ask(server, `${path}/${id}/cancel`, { method: "POST", signal });
    },
    retry: async (id, signal) =>
      (await (
        await ask(server, `${path}/${id}/retry`, {
          method: "POST",
          headers: { "idempotency-key": newId() },
          signal,
        })
      ).json()) as { id: string; threadId: string },
  };
}
