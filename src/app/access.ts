import { randomBytes } from "node:crypto";
import type { Config } from "../config/schema.ts";
import { canIdentifyPeers } from "../http/server/loopback-peer.ts";
import { createFileLinks } from "../http/files/file-links.ts";
import type { LocalOwner, ServerSettings, Services } from "../http/server/services.ts";
import { callerOf } from "../protocol/base/callers.ts";
import { askerScopes } from "../protocol/base/scopes.ts";
import { createLocalLogins } from "../people/local-logins.ts";
import { AccessDenied } from "../protocol/base/errors.ts";
import type { NodeNotices } from "../protocol/base/node-notices.ts";
import type { Log } from "../protocol/base/log.ts";
import { createKeyFinder } from "../store/people/api-keys.ts";
import type { Database } from "../store/driver/database.ts";
import { shareCounts, type SharedCounts } from "../store/metering/shared-counts.ts";
import { createUserAdmin } from "../store/people/user-admin.ts";
import { createLookupCache, type LookupCache } from "../store/people/lookup-cache.ts";
import { ensureGuest, findUser, type User } from "../store/people/users.ts";
import type { Store } from "./store.ts";

export type OpenAccess = {
  /** Token with which commands on this machine authenticate as the owner. */
  readonly token: string;
  /** Link that creates the first admin of the server at this URL; undefined if none is needed. */
  setupLink(url: string): Promise<string | undefined>;
  /** Makes codes for browsers of the owner; undefined: the system tells whose they are, or people log in. */
  codeMaker(): Promise<(() => Promise<string>) | undefined>;
  /** Request counts of all nodes; undefined with a single process. */
  readonly counts?: SharedCounts | undefined;
  /** Clears cached users and keys, on all nodes. */
  forget(): void;
  readonly services: Pick<Services, "access" | "users" | "fileLinks">;
  readonly close: () => Promise<void>;
};

/** Opens authentication and accounts. */
export async function openAccess(
  config: Config,
  {
    store: { database, secret, owner, notices },
    log,
  }: { readonly store: Pick<Store, "database" | "secret" | "owner" | "notices">; readonly log: Log },
): Promise<OpenAccess> {
  const token = database.token ?? `ct_${randomBytes(32).toString("base64url")}`;
  const keys = createKeyFinder(database.query);
  const caller = callerOf(owner, "local");
  if (config.auth.mode === "local") {
    const guests = createLookupCache((id) => findUser(database.query, id));
    const owning = await localOwning(config, { database, secret, owner, guests, token, findByKey: keys.findByKey });
    const forget = forgetEverywhere(notices, [keys.forget, guests.forget]);
    return {
      token,
      setupLink: async () => undefined,
      async codeMaker() {
        if (owning === "open" || (owning.rule === "auto" && (await canIdentifyPeers()))) return undefined;
        return async () => (await owning.logins.makeCode()).code;
      },
      forget,
      services: {
        access: { mode: "local", owner: caller, owning },
        users: createUserAdmin(database, { forget }),
        fileLinks: createFileLinks({ secret, isOpen: owning === "open" }),
      },
      close: async () => {},
    };
  }
  // What hashes passwords and signs tokens takes a tenth of a second to load, and only accounts need it.
  const { openAccounts } = await import("./accounts.ts");
  const { accounts, setupToken, close } = openAccounts(config, { database, secret, log, changed: () => forget() });
  const counts = config.auth.requestsPerMinute > 0 ? await shareCounts(database, log) : undefined;
  const forget = forgetEverywhere(notices, [keys.forget, accounts.forget]);
  return {
    token,
    async setupLink(url) {
      const setup = await setupToken();
      const { publicUrl, basePath } = config.server;
      return setup === undefined ? undefined : `${publicUrl ?? url}${basePath}/setup#${setup}`;
    },
    codeMaker: async () => undefined,
    counts,
    forget,
    services: {
      access: { mode: "accounts", findByKey: keys.findByKey, accounts, local: { token, owner: caller } },
      users: createUserAdmin(database, { forget }),
      fileLinks: createFileLinks({ secret, isOpen: false }),
    },
    async close() {
      await counts?.close();
      await close();
    },
  };
}

const forgetSubject = "forget-people";

/** What is remembered of people and keys is asked again after a change: here, and on the other nodes as soon as they hear of it. */
function forgetEverywhere(notices: NodeNotices, memories: readonly (() => void)[]): () => void {
  const forgetHere = () => memories.forEach((forget) => forget());
  notices.hear(forgetSubject, forgetHere);
  return () => {
    forgetHere();
    notices.tell(forgetSubject);
  };
}

async function localOwning(
  { auth }: Config,
  {
    database,
    secret,
    owner,
    guests,
    ...shown
  }: Pick<LocalOwner, "token" | "findByKey"> & {
    readonly database: Database;
    readonly guests: LookupCache<User>;
    readonly secret: string;
    readonly owner: User;
  },
): Promise<"open" | LocalOwner> {
  if (auth.local === "open") return "open";
  const logins = createLocalLogins(database, { secret, owner, lifeMs: auth.tokenHours * 60 * 60_000 });
  const { id } = await ensureGuest(database.query);
  const asker = async () => {
    const guest = await guests.find(id);
    if (!guest || guest.disabled)
      throw new AccessDenied(403, "The account for guests is disabled: only this server's owner may ask.", {
        code: "account_disabled",
      });
    return callerOf(guest, "local", askerScopes);
  };
  return { rule: auth.local, asker, logins, ...shown };
}

/** What is configured of the server, as the routes want it. */
export function serverSettingsOf(
  { server, auth, source, currency }: Config,
  sharedCounts?: SharedCounts,
): ServerSettings {
  const {
    bodyLimitBytes: bodyLimit,
    publicUrl,
    basePath,
    trustProxy,
    corsOrigins,
    hosts,
    streamsPerUser,
    ollamaPort,
  } = server;
  const limits = auth.mode === "accounts" ? { requestsPerMinute: auth.requestsPerMinute, sharedCounts } : {};
  const corsPaths = source.get("server.corsOrigins") === "default" ? "asking" : "all";
  return {
    currency,
    corsOrigins,
    hosts,
    bodyLimit,
    publicUrl,
    basePath,
    trustProxy,
    streamsPerUser,
    ollamaPort,
    corsPaths,
    ...limits,
  };
}
