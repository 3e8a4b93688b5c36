import type { MeView } from "../protocol/people/accounts.ts";
import type { UsageGroup, UsageView, SettingView, AuditView, Finding } from "../protocol/people/overview.ts";
import { askJson, askList, queryOf, type ServerAccess } from "./request.ts";

export type UsageQuery = {
  readonly by: UsageGroup;
  /** ISO 8601; 30 days before `to` when absent. */
  readonly from?: string;
  readonly to?: string;
  /** An account's id. */
  readonly user?: string;
  readonly model?: string;
  /** At most so many: those with the most requests, or the first times. */
  readonly limit?: number;
};

export function readMe(server: ServerAccess, signal?: AbortSignal): Promise<MeView> {
  return askJson(server, "/api/auth/me", { signal });
}

/** Usage, settings and health of the server. Admins only. */
export type OverviewClient = {
  usage(question: UsageQuery, signal?: AbortSignal): Promise<readonly UsageView[]>;
  settings(signal?: AbortSignal): Promise<readonly SettingView[]>;
  /** Newest first. */
  audit(
    page?: { readonly user?: string; readonly before?: string; readonly limit?: number },
    signal?: AbortSignal,
  ): Promise<readonly AuditView[]>;
  /** With `all` every row is read, however many there are. */
  examine(options?: { readonly all?: boolean }, signal?: AbortSignal): Promise<readonly Finding[]>;
};

export function createOverviewClient(server: ServerAccess): OverviewClient {
  const list = <Entry>(path: string, signal?: AbortSignal) => askList<Entry>(server, `/api/admin/${path}`, { signal });
  return {
    usage: (question, signal) => list(`usage${queryOf(question)}`, signal),
    settings: (signal) => list("settings", signal),
    audit: (page = {}, signal) => list(`audit${queryOf(page)}`, signal),
    examine: ({ all = false } = {}, signal) => list(`doctor${all ? "?all=true" : ""}`, signal),
  };
}
