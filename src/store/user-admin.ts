import type { Role } from "../protocol/callers.ts";
import { type ApiKey, createApiKey, type KeyFinder, listApiKeys, revokeApiKey } from "./api-keys.ts";
import type { Database } from "./database.ts";
import { changeUser, createUser, existingUser, listUsers, type User, type UserChange } from "./users.ts";

/** What an admin does with accounts; whoever calls these has made sure that the caller is one. Keys are told only when made. */
export type UserAdmin = {
  list(): Promise<readonly User[]>;
  /** With a first key. Throws Conflict `user_exists`. */
  add(user: { readonly name: string; readonly role: Role }): Promise<{ readonly user: User; readonly key: string }>;
  /** Throws NotFound, and Conflict `last_admin` or `owner_is_admin`. */
  change(id: string, change: UserChange): Promise<User>;
  /** Those that are revoked too. Throws NotFound. */
  keys(userId: string): Promise<readonly ApiKey[]>;
  addKey(userId: string, label: string): Promise<{ readonly key: ApiKey; readonly text: string }>;
  /** Throws NotFound. */
  revokeKey(id: string): Promise<void>;
};

/** `keys` forgets what it knew after each change; on other nodes a revoked key may be honoured for as long as it is remembered. */
export function createUserAdmin({ query, transaction }: Database, keys: Pick<KeyFinder, "forget">): UserAdmin {
  return {
    list: () => listUsers(query),
    add: (input) =>
      transaction(async (within) => {
        const user = await createUser(within, input);
        const { text } = await createApiKey(within, { userId: user.id, label: "first" });
        return { user, key: text };
      }),
    async change(id, change) {
      const user = await transaction((within) => changeUser(within, { id, ...change }));
      keys.forget();
      return user;
    },
    async keys(userId) {
      await existingUser(query, userId);
      return listApiKeys(query, userId);
    },
    async addKey(userId, label) {
      await existingUser(query, userId);
      return createApiKey(query, { userId, label });
    },
    async revokeKey(id) {
      await revokeApiKey(query, { id });
      keys.forget();
    },
  };
}
