import {
  type AuthProvider,
  extractWWWAuthenticateParams,
  OAuthError,
  OAuthErrorCode,
} from "@modelcontextprotocol/client";
import { setTimeout as sleep } from "node:timers/promises";
import type { GuardedFetch } from "../../../egress/guarded-fetch.ts";
import { messageOf, Unavailable } from "../../../protocol/base/errors.ts";
import type { CredentialPlace, McpCredentials } from "../../../store/secrets/mcp-credentials.ts";
import { type McpLogin, loginIn, renew } from "./flow.ts";
import { SignInNeeded } from "../failures.ts";

export type UserLoginOptions = {
  readonly place: CredentialPlace;
  readonly credentials: McpCredentials;
  /** Works with the network; what is opened for that is closed after. */
  readonly online: <Value>(work: (fetch: GuardedFetch["fetch"]) => Promise<Value>) => Promise<Value>;
};

/** How long a login that was read counts; another node may have changed it. */
const keptMs = 5000;
/** Before they end, but not as soon as they are there. */
const renewedBeforeMs = 60_000;
/** A server that refuses new tokens too is not asked for more of them. */
const shortestBetweenRefusalsMs = 60_000;
const pollMs = 100;
const patienceMs = 15_000;
const over: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
];

/**
 * One user's login at one server, as the transports use it: tokens are renewed before they end, and once if the server
 * refuses them before that; by one caller at a time, of all nodes.
 */
export class UserLogin implements AuthProvider {
  private readonly options: UserLoginOptions;
  private kept: { readonly login: McpLogin | undefined; readonly until: number } | undefined;
  private renewing: Promise<McpLogin> | undefined;
  private refusedAt = -Infinity;
  private missingScope: string | undefined;

  constructor(options: UserLoginOptions) {
    this.options = options;
  }

  /** Undefined: the server is asked without one; some tell strangers something too. */
  async token(): Promise<string | undefined> {
    const login = await this.login();
    if (!login) return undefined;
    const { tokens, expiresAt = Infinity } = login;
    const lifeMs = (tokens.expires_in ?? Infinity) * 1000;
    if (Date.now() < expiresAt - Math.min(renewedBeforeMs, lifeMs / 5)) return tokens.access_token;
    if (tokens.refresh_token !== undefined) {
      try {
        return (await this.renewed(login)).tokens.access_token;
      } catch (error) {
        if (error instanceof SignInNeeded || Date.now() >= expiresAt) throw error;
        return tokens.access_token;
      }
    }
    return Date.now() < expiresAt ? tokens.access_token : undefined;
  }

  /** The transport asks once more after it, and never again. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const { scope } = extractWWWAuthenticateParams(response);
    if (scope !== undefined) this.missingScope = scope;
    const login = await this.login();
    if (!login) throw new SignInNeeded("nobody has signed in");
    if (login.tokens.refresh_token === undefined) throw new SignInNeeded("the login has ended");
    if (this.renewing) return void (await this.renewing);
    // Those who were on their way meanwhile have the new tokens by now.
    if (performance.now() - this.refusedAt < shortestBetweenRefusalsMs) return;
    this.refusedAt = performance.now();
    await this.renewed(login);
  }

  /** Scopes that the server missed. */
  get wanted(): string | undefined {
    return this.missingScope;
  }

  /** Hears which scopes a call was refused for. */
  watch(fetch: GuardedFetch["fetch"]): GuardedFetch["fetch"] {
    return async (url, init) => {
      const response = await fetch(url, init);
      if (response.status === 403) {
        const { error, scope } = extractWWWAuthenticateParams(response);
        if (error === "insufficient_scope" && scope !== undefined) {
          const granted = (await this.login())?.tokens.scope?.split(" ") ?? [];
          this.missingScope = [...new Set([...granted, ...scope.split(" ")])].join(" ");
        }
      }
      return response;
    };
  }

  /** Another login counts from now on. */
  forget(): void {
    this.kept = undefined;
    this.refusedAt = -Infinity;
    this.missingScope = undefined;
  }

  private async login(): Promise<McpLogin | undefined> {
    if (this.kept && this.kept.until > performance.now()) return this.kept.login;
    const { credentials, place } = this.options;
    return this.keep(loginIn(await credentials.login(place)));
  }

  private keep<Kept extends McpLogin | undefined>(login: Kept): Kept {
    this.kept = { login, until: performance.now() + keptMs };
    return login;
  }

  private renewed(login: McpLogin): Promise<McpLogin> {
    this.renewing ??= this.renew(login).finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async renew(known: McpLogin): Promise<McpLogin> {
    const { credentials, place, online } = this.options;
    const taken = await credentials.takeForRenewal(place);
    const before = loginIn(taken?.text);
    if (!taken || !before) return this.keep(await this.renewedByOthers(known));
    const end = (login: string | null | "unchanged") => credentials.endRenewal(place, taken.sealed, login);
    if (before.tokens.access_token !== known.tokens.access_token) {
      await end("unchanged");
      return this.keep(before);
    }
    try {
      const login = await online((fetch) => renew(before, fetch));
      await end(JSON.stringify(login));
      return this.keep(login);
    } catch (error) {
      const isOver = error instanceof OAuthError && over.includes(error.code);
      await end(isOver ? null : "unchanged");
      this.kept = undefined;
      if (isOver) throw new SignInNeeded("the login has ended", { cause: error });
      throw new Unavailable(`The login can't be renewed now: ${messageOf(error).slice(0, 300)}`, { cause: error });
    }
  }

  private async renewedByOthers(known: McpLogin): Promise<McpLogin> {
    const { credentials, place } = this.options;
    for (const end = performance.now() + patienceMs; performance.now() < end; await sleep(pollMs)) {
      const login = loginIn(await credentials.login(place));
      if (!login) throw new SignInNeeded("the login has ended");
      if (login.tokens.access_token !== known.tokens.access_token) return login;
    }
    throw new Unavailable("The login is being renewed, which takes too long.");
  }
}
