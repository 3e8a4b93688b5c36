import type { UserView, KeyView, ErasureView, ResetLink, MadeKey, MadeUser } from "../protocol/people/accounts.ts";
import type { Role } from "../protocol/base/callers.ts";
import type { KeyInput } from "./account.ts";
import { addressAt, ask, type ClientRequest, askJson, askList, queryOf, type ServerAccess } from "./request.ts";

/** The most that the server gives at once. */
const pageLength = 500;

/** Accounts and their keys; for admins only. */
export type UserClient = {
  /** All of them, by their names. */
  list(signal?: AbortSignal): Promise<readonly UserView[]>;
  /** The key is told this once. It may all that the account may, for 90 days, unless it is said otherwise; null: for ever. */
  add(
    user: {
      readonly name: string;
      readonly role: Role;
      readonly scopes?: readonly string[] | undefined;
      readonly expiresInDays?: number | null | undefined;
    },
    signal?: AbortSignal,
  ): Promise<MadeUser>;
  change(
    id: string,
    change: { readonly disabled?: boolean; readonly role?: Role },
    signal?: AbortSignal,
  ): Promise<UserView>;
  /** A link with which a person sets a new password, once. */
  reset(id: string, signal?: AbortSignal): Promise<ResetLink>;
  setPassword(token: string, password: string, signal?: AbortSignal): Promise<void>;
  keys(id: string, signal?: AbortSignal): Promise<readonly KeyView[]>;
  /** Creates a key. `text` is the key itself and is returned only here. */
  addKey(id: string, key: KeyInput, signal?: AbortSignal): Promise<MadeKey>;
  revokeKey(keyId: string, signal?: AbortSignal): Promise<void>;
  /** Can't be undone; `confirm` is the account's name. Goes on by itself: `erasure` tells how far it is. */
  erase(id: string, confirm: string, signal?: AbortSignal): Promise<ErasureView>;
  erasure(erasureId: string, signal?: AbortSignal): Promise<ErasureView>;
  erasures(signal?: AbortSignal): Promise<readonly ErasureView[]>;
  /** Ends all logins of an account. */
  logOut(id: string, signal?: AbortSignal): Promise<void>;
  /** Where all that the server holds of a person is, as an archive. */
  archiveOf(id: string): string;
};

export function createUserClient(server: ServerAccess): UserClient {
  const answer = <Answer>(path: string, asking: ClientRequest) => askJson<Answer>(server, `/api/admin/${path}`, asking);
  const list = <Entry>(path: string, signal?: AbortSignal) => askList<Entry>(server, `/api/admin/${path}`, { signal });
  return {
    async list(signal) {
      const all: UserView[] = [];
      for (;;) {
        const page = await list<UserView>(`users${queryOf({ limit: pageLength, after: all.at(-1)?.name })}`, signal);
        all.push(...page);
        if (page.length < pageLength) return all;
      }
    },
    add: (user, signal) => answer("users", { method: "POST", body: user, signal }),
    change: (id, change, signal) => answer(`users/${id}`, { method: "PATCH", body: change, signal }),
    reset: (id, signal) => answer(`users/${id}/reset`, { method: "POST", signal }),
    async setPassword(token, password, signal) {
      await ask(server, "/api/auth/reset", { method: "POST", body: { token, password }, signal });
    },
    keys: (id, signal) => list(`users/${id}/keys`, signal),
    addKey: (id, body, signal) => answer(`users/${id}/keys`, { method: "POST", body, signal }),
    erase: (id, confirm, signal) => answer(`users/${id}/erase`, { method: "POST", body: { confirm }, signal }),
    erasure: (erasureId, signal) => answer(`erasures/${erasureId}`, { signal }),
    erasures: (signal) => list("erasures", signal),
    async logOut(id, signal) {
      await ask(server, `/api/admin/users/${id}/sessions`, { method: "DELETE", signal });
    },
    archiveOf: (id) => addressAt(server, `/api/admin/users/${id}/export`),
    async revokeKey(keyId, signal) {
      await ask(server, `/api/admin/keys/${keyId}`, { method: "DELETE", signal });
    },
  };
}
