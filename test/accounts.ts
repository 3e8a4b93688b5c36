import assert from "node:assert/strict";
import { type AccountsOptions, createAccounts } from "../src/people/accounts.ts";
import { createPasswords } from "../src/people/passwords.ts";
import { createTokens } from "../src/people/tokens.ts";
import type { Services } from "../src/http/server/services.ts";
import { createModels } from "../src/models/registry.ts";
import { callerOf } from "../src/protocol/base/callers.ts";
import { newId } from "../src/protocol/base/ids.ts";
import { createKeyFinder } from "../src/store/people/api-keys.ts";
import type { Database } from "../src/store/driver/database.ts";
import { createUserAdmin } from "../src/store/people/user-admin.ts";
import { ensureOwner } from "../src/store/people/users.ts";
import { serve, servicesWith } from "./serve.ts";

export const secret = "a secret of tests";
export const machineToken = "token-of-this-machine";
const hourMs = 60 * 60_000;

/** The part of a server's services that knows accounts, with passwords that are hashed fast. */
export async function accountServices(
  database: Database,
  options: Partial<AccountsOptions> & { readonly cost?: number } = {},
): Promise<Pick<Services, "users" | "access">> {
  const { cost = 4, tokenLifeMs = hourMs } = options;
  const keys = createKeyFinder(database.query);
  const accounts = createAccounts(database, {
    secret,
    signup: "open",
    tokenLifeMs,
    passwords: createPasswords({ cost }),
    tokens: createTokens(database.query, { secret, lifeMs: tokenLifeMs }),
    ...options,
  });
  const forget = (): void => {
    keys.forget();
    accounts.forget();
  };
  return {
    users: createUserAdmin(database, { forget }),
    access: {
      mode: "accounts",
      findByKey: keys.findByKey,
      accounts,
      local: { token: machineToken, owner: callerOf(await ensureOwner(database.query), "local") },
    },
  };
}

/** Asks a server as a program does: JSON in, JSON out. */
export function asker(url: string) {
  return async <Body = Record<string, unknown>>(
    method: string,
    path: string,
    { token, body, headers }: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; headers: Headers; body: Body }> => {
    const response = await fetch(url + path, {
      method,
      redirect: "manual",
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as Body };
  };
}

export const password = "correct horse";

export type LoginBody = {
  readonly access_token: string;
  readonly expires_in: number;
  readonly token_type: string;
  readonly user: { readonly id: string; readonly username: string };
};

/** The code of a refusal. */
export const codeOf = ({ body }: { body: unknown }) => (body as { error: { code: string } }).error.code;

/** A server of accounts on a database, and what tests do with it. */
export async function serveAccounts(database: Database, options: Parameters<typeof accountServices>[1] = {}) {
  const services = servicesWith({
    models: createModels({ models: [] }),
    ...(await accountServices(database, options)),
  });
  const server = await serve(services);
  const ask = asker(server.url);
  return {
    ...server,
    services,
    ask,
    /** The status of asking who one is. */
    me: async (token: string) => (await ask("GET", "/api/auth/me", { token })).status,
    logIn: (username: string, text = password) =>
      ask<LoginBody>("POST", "/api/auth/login", { body: { username, password: text } }),
    async signUp(username = `user-${newId()}`): Promise<LoginBody["user"] & { readonly token: string }> {
      const { status, body } = await ask<LoginBody>("POST", "/api/auth/signup", { body: { username, password } });
      assert.equal(status, 201);
      return { ...body.user, token: body.access_token };
    },
  };
}
