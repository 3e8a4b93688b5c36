import type { Role } from "../protocol/callers.ts";
import type { FindingView } from "./client.ts";
import { askJson, askList, queryOf, type Server } from "./request.ts";

/** Who asks, and what they may do. */
export type MeView = {
  readonly id: string;
  readonly username: string;
  readonly role: Role;
  readonly permissions: readonly string[];
  readonly groups: readonly string[];
  readonly via: "local" | "api-key" | "session" | "system";
};

export type UsageGroup = "user" | "model" | "agent" | "day" | "hour";
/** Of requests to models. Latencies in milliseconds; null where nothing was measured. */
export type UsageView = {
  /** A name of a user, model or agent, or a time; empty: of nobody, outside of runs. */
  readonly key: string;
  readonly requests: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
  readonly runs: number;
  readonly firstPartP50: number | null;
  readonly firstPartP95: number | null;
  readonly totalP50: number | null;
  readonly totalP95: number | null;
};
export type UsageQuestion = {
  readonly by: UsageGroup;
  /** ISO 8601; 30 days before `to` when absent. */
  readonly from?: string;
  readonly to?: string;
  /** An account's id. */
  readonly user?: string;
  readonly model?: string;
};

export type SettingView = { readonly path: string; readonly value: unknown; readonly source: string };
export type AuditView = {
  readonly id: string;
  readonly at: string;
  readonly userId: string | null;
  readonly userName: string;
  readonly via: string;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly requestId: string;
};

export function readMe(server: Server, signal?: AbortSignal): Promise<MeView> {
  return askJson(server, "/api/auth/me", { signal });
}

/** How the server does; for admins only. */
export type OverviewClient = {
  usage(question: UsageQuestion, signal?: AbortSignal): Promise<readonly UsageView[]>;
  settings(signal?: AbortSignal): Promise<readonly SettingView[]>;
  /** Newest first. */
  audit(
    page?: { readonly user?: string; readonly before?: string; readonly limit?: number },
    signal?: AbortSignal,
  ): Promise<readonly AuditView[]>;
  examine(signal?: AbortSignal): Promise<readonly FindingView[]>;
};

export function createOverviewClient(server: Server): OverviewClient {
  const list = <Entry>(path: string, signal?: AbortSignal) => askList<Entry>(server, `/api/admin/${path}`, { signal });
  return {
    usage: (question, signal) => list(`usage${queryOf(question)}`, signal),
    settings: (signal) => list("settings", signal),
    audit: (page = {}, signal) => list(`audit${queryOf(page)}`, signal),
    examine: (signal) => list("doctor", signal),
  };
}
