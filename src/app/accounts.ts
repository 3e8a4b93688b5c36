import type { Config } from "./config.ts";
import { type Accounts, createAccounts } from "./http/accounts/accounts.ts";
import { createOidcLogin } from "./http/accounts/oidc.ts";
import { enterByOidc } from "./http/accounts/oidc-accounts.ts";
import { createPasswords } from "./http/accounts/passwords.ts";
import { createTokens } from "./http/accounts/tokens.ts";
import { messageOf } from "./protocol/errors.ts";
import type { Log } from "./protocol/log.ts";
import { ensureSetupLink, linkToken, removeOldLinks } from "./store/account-links.ts";
import type { Database } from "./store/database.ts";
import { removeOldFailures } from "./store/login-failures.ts";
import { lacksAdmin } from "./store/users.ts";
import { removeOldWebSessions } from "./store/web-sessions.ts";

const hourMs = 60 * 60_000;
const tidyEveryMs = 10 * 60_000;
const setupMs = 24 * hourMs;

export type OpenAccounts = {
  readonly accounts: Accounts;
  /** The secret part of the link that makes the first admin; undefined: there is one. */
  setupToken(): Promise<string | undefined>;
  close(): Promise<void>;
};

/** Everything behind `auth.mode: accounts`; local mode never loads it. */
export function openAccounts(
  { auth }: Config,
  { database, secret, log }: { readonly database: Database; readonly secret: string; readonly log: Log },
): OpenAccounts {
  const { query } = database;
  const tokenLifeMs = auth.tokenHours * hourMs;
  const tokens = createTokens(query, { secret, lifeMs: tokenLifeMs });
  const oidc = auth.oidc && createOidcLogin(auth.oidc, { secret, enter: enterByOidc(database, auth.oidc) });
  const accounts = createAccounts(database, {
    secret,
    signup: auth.signup,
    tokenLifeMs,
    passwords: createPasswords(),
    tokens,
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
