import type { GroupView, MemberView } from "../../protocol/people/accounts.ts";
import type { Role } from "../../protocol/base/callers.ts";
import { Conflict } from "../../protocol/base/errors.ts";
import { type AccountLink, createLink, listInvites, removeInvite } from "./account-links.ts";
import {
  type ApiKey,
  changeApiKey,
  countLiveKeys,
  createApiKey,
  type KeyChange,
  listApiKeys,
  type NewKey,
  roleOfKey,
  revokeApiKey,
} from "./api-keys.ts";
import type { Database } from "../driver/database.ts";
import { addMember, groupsOf, listGroups, listMembers, removeGroup, removeMember, saveGroup } from "./groups.ts";
import { changeUser, createUser, existingUser, listUsers, type User, type UserChange, type UserPage } from "./users.ts";
import { endWebSessions } from "./web-sessions.ts";

const dayMs = 24 * 60 * 60_000;
const resetMs = dayMs;
const maxKeysOfUser = 100;

/**
 * Administers accounts, keys, groups and links. Callers must have checked that the user may do it. Keys are shown only when they
 * are created.
 */
export type UserAdmin = {
  list(page: UserPage): Promise<readonly User[]>;
  /** Throws NotFound. */
  roleOf(userId: string): Promise<Role>;
  /** Role of the key's owner. Throws NotFound. */
  roleOfKey(keyId: string): Promise<Role>;
  /** With a first key. Throws Conflict `user_exists`. */
  add(
    user: { readonly name: string; readonly role: Role },
    key: Pick<NewKey, "scopes" | "expiresAt">,
  ): Promise<{ readonly user: User; readonly key: ApiKey; readonly text: string }>;
  /** Throws NotFound, and Conflict `last_admin` or `owner_is_admin`. Who is disabled is logged out. */
  change(id: string, change: UserChange): Promise<User>;
  /** Those that are revoked too. Throws NotFound. */
  keys(userId: string): Promise<readonly ApiKey[]>;
  /** Throws NotFound, and Conflict `too_many_keys`. */
  addKey(key: NewKey): Promise<{ readonly key: ApiKey; readonly text: string }>;
  /** Throws NotFound. */
  changeKey(change: KeyChange): Promise<ApiKey>;
  /** Throws NotFound; with `userId` also for a key of somebody else. */
  revokeKey(id: string, userId?: string): Promise<void>;
  /** A link to set a new password, for a day. Throws NotFound. */
  reset(userId: string): Promise<AccountLink>;
  /** All logins of a user end. Throws NotFound. */
  logOut(userId: string): Promise<void>;
  /** A link to make an account. */
  invite(to: { readonly role: Role; readonly groups: readonly string[]; readonly days: number }): Promise<AccountLink>;
  invites(): Promise<readonly AccountLink[]>;
  removeInvite(id: string): Promise<void>;
  groups(): Promise<readonly GroupView[]>;
  groupsOf(userId: string): Promise<readonly string[]>;
  saveGroup(name: string, permissions: readonly string[]): Promise<void>;
  removeGroup(name: string): Promise<void>;
  members(group: string): Promise<readonly MemberView[]>;
  addMember(group: string, userId: string): Promise<void>;
  removeMember(group: string, userId: string): Promise<void>;
};

/** `forget`: what is remembered of users and keys is asked again; other nodes may honour it for as long as they remember it. */
export function createUserAdmin(
  { query, transaction }: Database,
  { forget }: { readonly forget: () => void },
): UserAdmin {
  const forgetting = async <Value>(work: Promise<Value>): Promise<Value> => {
    try {
      return await work;
    } finally {
      forget();
    }
  };
  return {
    list: (page) => listUsers(query, page),
    roleOf: async (userId) => (await existingUser(query, userId)).role,
    roleOfKey: (keyId) => roleOfKey(query, keyId),
    add: (input, key) =>
      transaction(async (within) => {
        const user = await createUser(within, input);
        return { user, ...(await createApiKey(within, { ...key, userId: user.id, label: "first" })) };
      }),
    change: (id, change) =>
      forgetting(
        transaction(async (within) => {
          const user = await changeUser(within, { id, ...change });
          if (user.disabled) await endWebSessions(within, id);
          return user;
        }),
      ),
    async keys(userId) {
      await existingUser(query, userId);
      return listApiKeys(query, userId);
    },
    async addKey(key) {
      await existingUser(query, key.userId);
      if ((await countLiveKeys(query, key.userId)) >= maxKeysOfUser)
        throw new Conflict(`There are ${maxKeysOfUser} keys; revoke one first.`, { code: "too_many_keys" });
      return createApiKey(query, key);
    },
    changeKey: (change) => forgetting(changeApiKey(query, change)),
    revokeKey: (id, userId) => forgetting(revokeApiKey(query, { id, ...(userId === undefined ? {} : { userId }) })),
    async reset(userId) {
      await existingUser(query, userId);
      return createLink(query, { purpose: "reset", userId, lifeMs: resetMs });
    },
    async logOut(userId) {
      await existingUser(query, userId);
      await forgetting(endWebSessions(query, userId));
    },
    invite: async ({ days, ...to }) => {
      for (const group of to.groups) await listMembers(query, group);
      return createLink(query, { ...to, purpose: "invite", lifeMs: days * dayMs });
    },
    invites: () => listInvites(query),
    removeInvite: (id) => removeInvite(query, id),
    groups: () => listGroups(query),
    groupsOf: (userId) => groupsOf(query, userId),
    saveGroup: (name, permissions) => forgetting(saveGroup(query, name, permissions)),
    removeGroup: (name) => forgetting(removeGroup(query, name)),
    members: (group) => listMembers(query, group),
    async addMember(group, userId) {
      await existingUser(query, userId);
      await forgetting(addMember(query, group, userId));
    },
    removeMember: (group, userId) => forgetting(removeMember(query, group, userId)),
  };
}
