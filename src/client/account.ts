import type { OwnShareView } from "../protocol/threads/shares.ts";
import type { BudgetView } from "../protocol/people/budgets.ts";
import type { BrowserKey, KeyView, LoginView, MadeKey, OpenCode } from "../protocol/people/accounts.ts";
import type { UsageGroup, UsageView } from "../protocol/people/overview.ts";
import type { McpServerState } from "../protocol/agents/mcp-servers.ts";
import { addressAt, ask, askJson, askList, queryOf, type ServerAccess } from "./request.ts";

export type KeyInput = {
  readonly label: string;
  /** Scopes of the key; `*`: everything the account can do. */
  readonly scopes: readonly string[];
  readonly expiresInDays?: number;
};

/** A user's own account: profile, keys and logins. */
export type AccountClient = {
  keys(signal?: AbortSignal): Promise<readonly KeyView[]>;
  /** Creates a key. `text` is the key itself and is returned only here. */
  addKey(key: KeyInput, signal?: AbortSignal): Promise<MadeKey>;
  /** Changes a key's scopes or label. */
  changeKey(
    id: string,
    change: { readonly label?: string; readonly scopes?: readonly string[] },
    signal?: AbortSignal,
  ): Promise<KeyView>;
  revokeKey(id: string, signal?: AbortSignal): Promise<void>;
  logins(signal?: AbortSignal): Promise<readonly LoginView[]>;
  endLogin(id: string, signal?: AbortSignal): Promise<void>;
  /** Creates the code for a link that authorizes a browser, in local mode. */
  makeOpenCode(signal?: AbortSignal): Promise<OpenCode>;
  endOtherLogins(signal?: AbortSignal): Promise<void>;
  /** Changes the password and ends all other logins. */
  changePassword(current: string, password: string, signal?: AbortSignal): Promise<void>;
  budgets(signal?: AbortSignal): Promise<readonly BudgetView[]>;
  usage(
    question: { readonly by: Exclude<UsageGroup, "user">; readonly from?: string },
    signal?: AbortSignal,
  ): Promise<readonly UsageView[]>;
  mcpServers(signal?: AbortSignal): Promise<readonly McpServerState[]>;
  /** Starts signing in to an MCP server; returns the URL to open. */
  signIn(server: string, signal?: AbortSignal): Promise<string>;
  signOut(server: string, signal?: AbortSignal): Promise<void>;
  shares(signal?: AbortSignal): Promise<readonly OwnShareView[]>;
  withdrawShare(id: string, signal?: AbortSignal): Promise<void>;
  /** URL of the archive with all of the user's data. */
  readonly archive: string;
};

export function createAccountClient(server: ServerAccess): AccountClient {
  const list = <Entry>(path: string, signal?: AbortSignal) => askList<Entry>(server, path, { signal });
  const remove = async (path: string, signal?: AbortSignal) => {
    await ask(server, path, { method: "DELETE", signal });
  };
  const signInOf = (name: string) => `/api/mcp/servers/${encodeURIComponent(name)}/sign-in`;
  return {
    keys: (signal) => list("/api/auth/keys", signal),
    addKey: (body, signal) => askJson(server, "/api/auth/keys", { method: "POST", body, signal }),
    changeKey: (id, body, signal) => askJson(server, `/api/auth/keys/${id}`, { method: "PATCH", body, signal }),
    revokeKey: (id, signal) => remove(`/api/auth/keys/${id}`, signal),
    logins: (signal) => list("/api/auth/sessions", signal),
    endLogin: (id, signal) => remove(`/api/auth/sessions/${id}`, signal),
    makeOpenCode: (signal) => askJson(server, "/api/auth/open-codes", { method: "POST", signal }),
    endOtherLogins: (signal) => remove("/api/auth/sessions", signal),
    async changePassword(current, password, signal) {
      await ask(server, "/api/auth/password", { method: "POST", body: { current, password }, signal });
    },
    budgets: (signal) => list("/api/budget", signal),
    usage: (question, signal) => list(`/api/usage${queryOf(question)}`, signal),
    mcpServers: (signal) => list("/api/mcp/servers", signal),
    signIn: async (name, signal) =>
      (await askJson<{ url: string }>(server, signInOf(name), { method: "POST", signal })).url,
    signOut: (name, signal) => remove(signInOf(name), signal),
    shares: (signal) => list("/api/shares", signal),
    withdrawShare: (id, signal) => remove(`/api/shares/${id}`, signal),
    archive: addressAt(server, "/api/auth/me/export"),
  };
}

/** Exchanges the code of a link for this browser's key. */
export function logInByCode(server: ServerAccess, code: string): Promise<BrowserKey> {
  return askJson(server, "/api/auth/open", { method: "POST", body: { code } });
}

/** Ends the current login, if there is one. */
export async function logOut(server: ServerAccess): Promise<void> {
  await ask(server, "/api/auth/logout", { method: "POST" });
}
