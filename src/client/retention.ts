import { ask, queryOf, type Server } from "./request.ts";

/** How long a kind of things is kept; `days` null: for ever. */
export type RetentionView = {
  readonly kind: string;
  readonly what: string;
  readonly days: number | null;
  readonly default: number | null;
  /** `admin`, `default`, or where the configuration says it. */
  readonly source: string;
  readonly readOnly: boolean;
  readonly lastAt: string | null;
  readonly lastRemoved: number | null;
  readonly lastError: string | null;
};

/** For admins only. */
export type RetentionClient = {
  list(signal?: AbortSignal): Promise<readonly RetentionView[]>;
  set(kind: string, days: number | null, signal?: AbortSignal): Promise<RetentionView>;
  /** As by default again. */
  reset(kind: string, signal?: AbortSignal): Promise<void>;
  /** How much would go now, by the rules or by one that might be; removes nothing. */
  preview(
    rule?: { readonly kind?: string; readonly days?: number },
    signal?: AbortSignal,
  ): Promise<readonly { readonly kind: string; readonly days: number; readonly count: number }[]>;
  removeNow(
    signal?: AbortSignal,
  ): Promise<readonly { readonly kind: string; readonly removed: number; readonly error: string | null }[]>;
};

export function createRetentionClient(server: Server): RetentionClient {
  const answer = async <Answer>(path: string, asking: Parameters<typeof ask>[2]) =>
    (await (await ask(server, `/api/admin/retention${path}`, asking)).json()) as Answer;
  const list = async <Entry>(path: string, asking: Parameters<typeof ask>[2]) =>
    (await answer<{ data: readonly Entry[] }>(path, asking)).data;
  return {
    list: (signal) => list("", { signal }),
    set: (kind, days, signal) => answer(`/${kind}`, { method: "PUT", body: { days }, signal }),
    async reset(kind, signal) {
      await ask(server, `/api/admin/retention/${kind}`, { method: "DELETE", signal });
    },
    preview: (rule = {}, signal) => list(`/preview${queryOf(rule)}`, { signal }),
    removeNow: (signal) => list("/run", { method: "POST", signal }),
  };
}
