import type { StartedRun } from "../protocol/threads/run-shapes.ts";
import { newId } from "../protocol/base/ids.ts";
import type { ListedAdminRun } from "../protocol/threads/run-trace.ts";
import type { RunListFilter } from "./run-details.ts";
import { ask, askJson, askList, queryOf, type ServerAccess } from "./request.ts";

export type AdminRunFilter = Omit<RunListFilter, "thread"> & {
  /** Id or name. */
  readonly user?: string;
};

/** Runs of all users. Admins only. */
export type AdminRunClient = {
  /** Newest first. */
  list(filter?: AdminRunFilter, signal?: AbortSignal): Promise<readonly ListedAdminRun[]>;
  cancel(id: string, signal?: AbortSignal): Promise<void>;
  /** Settles a write with an unknown outcome. */
  resolve(
    id: string,
    write: { readonly step: string; readonly index: number; readonly status: "done" | "failed" },
    signal?: AbortSignal,
  ): Promise<void>;
  /** Sends the message of a failed or cancelled run again, as a new run. */
  retry(id: string, signal?: AbortSignal): Promise<StartedRun>;
};

export function createAdminRunClient(server: ServerAccess): AdminRunClient {
  const path = "/api/admin/runs";
  return {
    list: (filter = {}, signal) => askList(server, path + queryOf(filter), { signal }),
    async cancel(id, signal) {
      await ask(server, `${path}/${id}/cancel`, { method: "POST", signal });
    },
    async resolve(id, { step, index, status }, signal) {
      await ask(server, `${path}/${id}/ledger/${encodeURIComponent(step)}/${index}`, {
        method: "POST",
        body: { status },
        signal,
      });
    },
    retry: (id, signal) =>
      askJson(server, `${path}/${id}/retry`, { method: "POST", headers: { "idempotency-key": newId() }, signal }),
  };
}
