import { randomBytes } from "node:crypto";
import type { Config } from "./config.ts";
import type { Access, ServerSettings } from "./http/services.ts";
import { callerOf } from "./protocol/callers.ts";
import type { Log } from "./protocol/log.ts";
import { createKeyFinder } from "./store/api-keys.ts";
import type { Database } from "./store/database.ts";
import { shareCounts, type SharedCounts } from "./store/shared-counts.ts";
import { createUserAdmin, type UserAdmin } from "./store/user-admin.ts";
import type { User } from "./store/users.ts";

export type OpenAccess = {
  readonly access: Access;
  readonly users: UserAdmin;
  /** What a command on this machine shows to come in as the owner. */
  readonly token: string;
  /** The secret part of the link that makes the first admin; undefined: none is needed. */
  setupToken(): Promise<string | undefined>;
  /** What all nodes count of requests; undefined where one process is alone. */
  readonly counts?: SharedCounts | undefined;
  /** What is remembered of users and keys is asked again. */
  forget(): void;
  close(): Promise<void>;
};

/** Who may come in, and how accounts are kept. */
export async function openAccess(
  config: Config,
  {
    database,
    secret,
    owner,
    log,
  }: { readonly database: Database; readonly secret: string; readonly owner: User; readonly log: Log },
): Promise<OpenAccess> {
  const token = database.token ?? randomBytes(32).toString("hex");
  const keys = createKeyFinder(database.query);
  const caller = callerOf(owner, "local");
  if (config.auth.mode === "local")
    return {
      access: { mode: "local", owner: caller },
      users: createUserAdmin(database, keys),
      token,
      setupToken: async () => undefined,
      forget: keys.forget,
      close: async () => {},
    };
  // What hashes passwords and signs tokens takes a tenth of a second to load, and only accounts need it.
  const { openAccounts } = await import("./main-accounts.ts");
  const { accounts, setupToken, close } = openAccounts(config, { database, secret, log });
  const counts = config.auth.requestsPerMinute > 0 ? await shareCounts(database, log) : undefined;
  const forget = (): void => {
    keys.forget();
    accounts.forget();
  };
  return {
    access: { mode: "accounts", findByKey: keys.findByKey, accounts, local: { token, owner: caller } },
    users: createUserAdmin(database, { forget }),
    token,
    setupToken,
    counts,
    forget,
    async close() {
      await counts?.close();
      await close();
    },
  };
}

/** What is configured of the server, as the routes want it. */
export function serverSettingsOf({ server, auth }: Config, sharedCounts?: SharedCounts): ServerSettings {
  const { bodyLimitBytes: bodyLimit, publicUrl, basePath, trustProxy, corsOrigins, hosts, streamsPerUser } = server;
  const limits = auth.mode === "accounts" ? { requestsPerMinute: auth.requestsPerMinute, sharedCounts } : {};
  return { corsOrigins, hosts, bodyLimit, publicUrl, basePath, trustProxy, streamsPerUser, ...limits };
}
