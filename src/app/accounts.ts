import type { Config } from "../config/schema.ts";
import { type Accounts, createAccounts } from "../people/accounts.ts";
import { createOidcLogin } from "../people/oidc.ts";
import { logInByOidc } from "../people/log-in-by-oidc.ts";
import { createPasswords } from "../people/passwords.ts";
import { createTokens } from "../people/tokens.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import { ensureSetupLink, linkToken, removeOldLinks } from "../store/people/account-links.ts";
import type { Database } from "../store/driver/database.ts";
import { removeOldFailures } from "../store/people/login-failures.ts";
import { lacksAdmin } from "../store/people/users.ts";
import { removeOldWebSessions } from "../store/people/web-sessions.ts";

const hourMs = 60 * 60_000;
const tidyEveryMs = 10 * 60_000;
const setupMs = 24 * hourMs;

export type OpenAccounts = {
  readonly accounts: Accounts;
  /** Secret part of the link that creates the first admin; undefined if there is one. */
  setupToken(): Promise<string | undefined>;
  close(): Promise<void>;
};

/** Opens everything for `auth.mode: accounts`; local mode never loads this file. */
export function openAccounts(
  { auth }: Config,
  {
    database,
    secret,
    log,
    changed,
  }: {
    readonly database: Database;
    readonly secret: string;
    readonly log: Log;
    /** Called when what is remembered of people may be wrong. */
    readonly changed: () => void;
  },
): OpenAccounts {
  const { query } = database;
  const tokenLifeMs = auth.tokenHours * hourMs;
  const tokens = createTokens(query, { secret, lifeMs: tokenLifeMs });
  const oidc = auth.oidc && createOidcLogin(auth.oidc, { secret, enter: logInByOidc(database, auth.oidc) });
  const accounts = createAccounts(database, {
    secret,
    signup: auth.signup,
    tokenLifeMs,
    passwords: createPasswords(),
    tokens,
    changed,
    ...(oidc && { oidc }),
  });

  async function tidy(): Promise<void> {
    await tokens.rotate();
    await removeOldWebSessions(query);
    await removeOldLinks(query);
    await removeOldFailures(query);
  }
  const timer = setInterval(() => {
    tidy().catch((error: unknown) => log.warn({ error: messageOf(error) }, "old logins could not be removed"));
  }, tidyEveryMs).unref();

  return {
    accounts,
    async setupToken() {
      if (!(await lacksAdmin(query))) return undefined;
      return linkToken(secret, await database.transaction((within) => ensureSetupLink(within, setupMs)));
    },
    async close() {
      clearInterval(timer);
      await oidc?.close();
    },
  };
}
