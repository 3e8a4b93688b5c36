import type { RetentionView, DueView, RoundResult } from "../protocol/people/retention.ts";
import { ask, askJson, askList, queryOf, type ServerAccess } from "./request.ts";

/** For admins only. */
export type RetentionClient = {
  list(signal?: AbortSignal): Promise<readonly RetentionView[]>;
  set(kind: string, days: number | null, signal?: AbortSignal): Promise<RetentionView>;
  /** Resets a rule to the default. */
  reset(kind: string, signal?: AbortSignal): Promise<void>;
  /** Dry run: how much would be deleted now, by the current rules or the given one. */
  preview(rule?: { readonly kind?: string; readonly days?: number }, signal?: AbortSignal): Promise<readonly DueView[]>;
  removeNow(signal?: AbortSignal): Promise<readonly RoundResult[]>;
};

export function createRetentionClient(server: ServerAccess): RetentionClient {
  const path = "/api/admin/retention";
  return {
    list: (signal) => askList(server, path, { signal }),
    set: (kind, days, signal) => askJson(server, `${path}/${kind}`, { method: "PUT", body: { days }, signal }),
    async reset(kind, signal) {
      await ask(server, `${path}/${kind}`, { method: "DELETE", signal });
    },
    preview: (rule = {}, signal) => askList(server, `${path}/preview${queryOf(rule)}`, { signal }),
    removeNow: (signal) => askList(server, `${path}/run`, { method: "POST", signal }),
  };
}
