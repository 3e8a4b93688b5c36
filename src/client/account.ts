import type { OwnShareView } from "../protocol/threads/shares.ts";
import type { BudgetView } from "../protocol/people/budgets.ts";
import type { BrowserKey, KeyView, LoginView, MadeKey, OpenCode } from "../protocol/people/accounts.ts";
import type { UsageGroup, UsageView } from "../protocol/people/overview.ts";
import type { McpServerState } from "../protocol/agents/mcp-servers.ts";
import { addressAt, ask, askJson, askList, queryOf, type ServerAccess } from "./request.ts";

export type KeyInput = {
  readonly label: string;
  /** All that it may; `*`: all that the account may. */
  readonly scopes: readonly string[];
  readonly expiresInDays?: number;
};

/** What everybody sees and changes of their own account. */
export type AccountClient = {
  keys(signal?: AbortSignal): Promise<readonly KeyView[]>;
  /** `text` is the key, told this once. */
  addKey(key: KeyInput, signal?: AbortSignal): Promise<MadeKey>;
  /** Says what it may, or calls it something else. */
  changeKey(
    id: string,
    change: { readonly label?: string; readonly scopes?: readonly string[] },
    signal?: AbortSignal,
  ): Promise<KeyView>;
  revokeKey(id: string, signal?: AbortSignal): Promise<void>;
  logins(signal?: AbortSignal): Promise<readonly LoginView[]>;
  endLogin(id: string, signal?: AbortSignal): Promise<void>;
  /** For a link that lets a browser in, in local mode. */
  makeOpenCode(signal?: AbortSignal): Promise<OpenCode>;
  endOtherLogins(signal?: AbortSignal): Promise<void>;
  /** All other logins end. */
  changePassword(current: string, password: string, signal?: AbortSignal): Promise<void>;
  budgets(signal?: AbortSignal): Promise<readonly BudgetView[]>;
  usage(
    question: { readonly by: Exclude<UsageGroup, "user">; readonly from?: string },
    signal?: AbortSignal,
  ): Promise<readonly UsageView[]>;
  mcpServers(signal?: AbortSignal): Promise<readonly McpServerState[]>;
  /** Where one signs in. */
  signIn(server: string, signal?: AbortSignal): Promise<string>;
  signOut(server: string, signal?: AbortSignal): Promise<void>;
  shares(signal?: AbortSignal): Promise<readonly OwnShareView[]>;
  withdrawShare(id: string, signal?: AbortSignal): Promise<void>;
  /** Where all that the server holds of one is, as an archive. */
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

/** Turns the code of a link into a key for this browser. */
export function logInByCode(server: ServerAccess, code: string): Promise<BrowserKey> {
  return askJson(server, "/api/auth/open", { method: "POST", body: { code } });
}

/** Where there is a login, it ends. */
export async function logOut(server: ServerAccess): Promise<void> {
  await ask(server, "/api/auth/logout", { method: "POST" });
}
