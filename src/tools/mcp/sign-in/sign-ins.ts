import { createHash, randomBytes } from "node:crypto";
import { createGuardedFetch, type GuardedFetch } from "../../../egress/guarded-fetch.ts";
import type { Caller } from "../../../protocol/base/callers.ts";
import { ColloquyError, InvalidInput, messageOf, Unavailable } from "../../../protocol/base/errors.ts";
import type { McpServerConfig, OAuthConfig } from "../../../protocol/agents/mcp-servers.ts";
import type { CredentialPlace, McpCredentials } from "../../../store/secrets/mcp-credentials.ts";
import type { UserSignIn, NamedServer } from "../mcp-servers.ts";
import { type PendingSignIn, beginSignIn, finishSignIn, loginIn } from "./flow.ts";
import { type Revocation, revoke } from "./revoke.ts";
import { readTicket, signTicket, type SignInTicket } from "./ticket.ts";
import { UserLogin } from "./user-login.ts";

export type SignInsOptions = {
  readonly credentials: McpCredentials;
  /** Signs what comes back through browsers. */
  readonly secret: string;
  /** Where browsers reach this server: an origin. */
  readonly base: () => string;
  /** Instead of the network. */
  readonly fetch?: GuardedFetch["fetch"];
};

/** What a browser brings back from where the user signed in. */
export type OAuthCallback = {
  readonly state: string;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
  readonly iss?: string | undefined;
};

export type SignIns = ReturnType<typeof createSignIns>;

const linkLifeMs = 60 * 60_000;
const signInLifeMs = 10 * 60_000;
const timeoutMs = 15_000;
const maxBytes = 1_000_000;
const maxLogins = 5000;
const linkPath = "/api/mcp/sign-in";

/** Users' own logins at servers that have `auth: oauth`. */
export function createSignIns({ credentials, secret, base, fetch }: SignInsOptions) {
  const logins = new Map<string, UserLogin>();
  const online: typeof onNetwork = (config, work) => (fetch ? work(fetch) : onNetwork(config, work));

  function loginOf(place: CredentialPlace, config: OAuthServer): UserLogin {
    const key = JSON.stringify([place, config.auth]);
    const known = logins.get(key);
    const login = known ?? new UserLogin({ place, credentials, online: (work) => online(config, work) });
    // The last one asked for is the last to go; all that is lost is a read.
    logins.delete(key);
    logins.set(key, login);
    if (logins.size > maxLogins) logins.delete(logins.keys().next().value!);
    return login;
  }

  function linkFor(userId: string, server: string): string {
    const ticket = signTicket(secret, { for: "begin", userId, server, until: Date.now() + linkLifeMs });
    return `${base()}${linkPath}?ticket=${ticket}`;
  }

  /** The address where the user signs in, for ten minutes. */
  async function begin({ name, config }: NamedServer, userId: string): Promise<string> {
    const server = oauthOf({ name, config });
    const place = credentialPlace(userId, name, server);
    const nonce = randomBytes(16).toString("base64url");
    const until = Date.now() + signInLifeMs;
    const state = signTicket(secret, { for: "return", userId, server: name, nonce, until });
    const scope = loginOf(place, server).wanted;
    const { url, begun } = await online(server, (fetch) =>
      beginSignIn({ url: server.url, config: server.auth, base: base(), fetch, state, scope }),
    ).catch((error: unknown) => {
      throw error instanceof ColloquyError ? error : failed(name, error);
    });
    await credentials.saveSignIn(place, JSON.stringify({ hash: hashOf(state), begun } satisfies PendingSignInRow));
    return url;
  }

  /** Signs in the user who began it. `serverOf` finds the server as it is configured now. */
  async function finish(returned: OAuthCallback, serverOf: (name: string) => NamedServer): Promise<SignInTicket> {
    const ticket = readTicket(secret, returned.state, "return");
    if (!ticket) throw new InvalidInput("This sign-in has expired or was not started here. Start again.");
    const { userId, server: name } = ticket;
    const server = oauthOf(serverOf(name));
    const place = credentialPlace(userId, name, server);
    const text = await credentials.takeSignIn(place);
    const kept = text === undefined ? undefined : (JSON.parse(text) as PendingSignInRow);
    if (kept?.hash !== hashOf(returned.state))
      throw new InvalidInput("This sign-in has ended, or a newer one was started. Start again.");
    const { code, iss, error } = returned;
    if (code === undefined) throw new InvalidInput(`${name} did not sign you in: ${error ?? "no reason was given"}.`);
    const login = await online(server, (fetch) => finishSignIn(kept.begun, { code, iss, fetch })).catch(
      (cause: unknown) => {
        throw failed(name, cause);
      },
    );
    await credentials.saveLogin(place, JSON.stringify(login));
    loginOf(place, server).forget();
    return ticket;
  }

  return {
    begin,
    finish,
    /** Whoever opened the link that was given to a user. */
    userOf(ticket: string): SignInTicket {
      const read = readTicket(secret, ticket, "begin");
      if (!read) throw new InvalidInput("This link has expired. Ask for a new one.");
      return read;
    },
    credentialsFor({ name, config }: NamedServer, { userId }: Caller): UserSignIn | undefined {
      if (!isOAuth(config)) return undefined;
      const login = loginOf(credentialPlace(userId, name, config), config);
      return {
        user: userId,
        auth: login,
        watch: (fetch) => login.watch(fetch),
        link: () => linkFor(userId, name),
      };
    },
    /** Deletes a login here whatever its giver says, who is asked to let it count no more. */
    async forget({ name, config }: NamedServer, userId: string): Promise<Revocation> {
      const server = oauthOf({ name, config });
      const place = credentialPlace(userId, name, server);
      const login = loginIn(await credentials.login(place));
      await credentials.forget({ userId, server: name });
      loginOf(place, server).forget();
      if (!login) return { revoked: false, reason: "You were not signed in." };
      try {
        const revoked = await online(server, (fetch) => revoke(login, fetch));
        return revoked ? { revoked } : { revoked, reason: `${new URL(login.server).host} takes no login back.` };
      } catch (error) {
        return { revoked: false, reason: messageOf(error).slice(0, 300) };
      }
    },
  };
}

type OAuthServer = McpServerConfig & { readonly url: string; readonly auth: OAuthConfig };
type PendingSignInRow = { readonly hash: string; readonly begun: PendingSignIn };

function isOAuth(config: McpServerConfig): config is OAuthServer {
  return config.auth !== undefined && config.url !== undefined && !config.disabled;
}

function oauthOf({ name, config }: NamedServer): OAuthServer {
  if (!isOAuth(config)) throw new InvalidInput(`${name} does not use sign-in.`, { code: "no_sign_in" });
  return config;
}

function credentialPlace(userId: string, server: string, { url }: OAuthServer): CredentialPlace {
  return { userId, server, url };
}

async function onNetwork<Value>(
  { url, auth: { issuer } }: OAuthServer,
  work: (fetch: GuardedFetch["fetch"]) => Promise<Value>,
): Promise<Value> {
  const origins = [url, ...(issuer === undefined ? [] : [issuer])].map((named) => new URL(named).origin);
  const web = createGuardedFetch({ origins, timeoutMs, maxBytes });
  try {
    return await work(web.fetch);
  } finally {
    await web.close();
  }
}

function failed(server: string, cause: unknown): Unavailable {
  return new Unavailable(`Sign-in to ${server} failed: ${messageOf(cause).slice(0, 300)}`, {
    code: "sign_in_failed",
    cause,
  });
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
