import type { Config } from "../config/schema.ts";
import type { Services } from "../http/server/services.ts";
import type { RightsSource, Tool } from "../protocol/agents/tools.ts";
import { readRunSecret, replaceRunSecret } from "../store/secrets/run-secrets.ts";
import type { Store } from "./store.ts";

export type OpenTaiga = {
  readonly tools: readonly Tool[];
  readonly rights: readonly RightsSource[];
  readonly services: Pick<Services, "taiga" | "taigaSessions">;
  readonly close?: () => Promise<void>;
};

/** The Taiga that the configuration names, if any. Tokens that callers hand over for a run are kept sealed beside it. */
export async function openTaiga(
  { taiga: configured }: Config,
  { store: { database, secret } }: { readonly store: Pick<Store, "database" | "secret"> },
): Promise<OpenTaiga> {
  if (!configured) return { tools: [], rights: [], services: {} };
  // Most servers have none.
  const { createTaiga } = await import("../tools/taiga/taiga.ts");
  const { taigaSystem } = await import("../tools/taiga/access.ts");
  const { username, password, token, ...settings } = configured;
  const name = taigaSystem;
  const { tools, access, desk, close } = createTaiga({
    ...settings,
    login: token !== undefined ? { token } : username && password ? { username, password } : undefined,
    secrets: {
      read: (runId) => readRunSecret(database.query, secret, { runId, name }),
      replace: (runId, text) => replaceRunSecret(database.query, secret, { runId, name, text }),
    },
  });
  return { tools, rights: [access], services: { taiga: access, taigaSessions: desk }, close };
}
