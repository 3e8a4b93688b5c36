import { Conflict, AccessDenied } from "../protocol/base/errors.ts";
import type { Query } from "../protocol/agents/tools.ts";
import type { Database } from "../store/driver/database.ts";
import { setMemberships } from "../store/people/groups.ts";
import { addIdentity, findByIdentity, type Identity } from "../store/people/identities.ts";
import { changeUser, createUser, existingUser, type User } from "../store/people/users.ts";

/** Whom an identity provider has vouched for. */
export type OidcUser = Identity & { readonly name: string; readonly groups: readonly string[] };

export type OidcMapping = {
  /** Whether whoever comes for the first time gets an account. */
  readonly signup: boolean;
  /** Groups there whose members may come in; empty: all. */
  readonly allowedGroups: readonly string[];
  /** Groups there whose members are admins here, and nobody else who comes in this way; empty: roles are given here. */
  readonly adminGroups: readonly string[];
};

/** The account of a person whom the provider knows, with the groups and the role that it has for them now. */
export function logInByOidc({ transaction }: Database, mapping: OidcMapping) {
  const { allowedGroups, adminGroups, signup } = mapping;
  return async ({ groups, ...newcomer }: OidcUser, userId?: string): Promise<User> => {
    const isIn = (wanted: readonly string[]) => groups.some((group) => wanted.includes(group));
    if (allowedGroups.length > 0 && !isIn(allowedGroups))
      throw new AccessDenied(403, "None of your groups may log in here.", { code: "group_refused" });
    return transaction(async (query) => {
      if (userId !== undefined) await connect(query, newcomer, userId);
      const known = (await findByIdentity(query, newcomer)) ?? (signup ? await addAccount(query, newcomer) : undefined);
      if (!known)
        throw new AccessDenied(403, "You don't have an account here, and this server doesn't create new ones.", {
          code: "signup_closed",
        });
      if (known.disabled) throw new AccessDenied(401, "This account is disabled.", { code: "account_disabled" });
      await setMemberships(query, { userId: known.id, issuer: newcomer.issuer, names: groups });
      if (adminGroups.length > 0) await setRole(query, known, isIn(adminGroups));
      return existingUser(query, known.id);
    });
  };
}

/** Throws Conflict if the person there has another account here. */
async function connect(query: Query, identity: Identity, userId: string): Promise<void> {
  const other = await findByIdentity(query, identity);
  if (!other) return addIdentity(query, identity, userId);
  if (other.id !== userId)
    throw new Conflict(`This login already belongs to the account ${other.name}.`, { code: "identity_taken" });
}

/** Never an account that is there already: whoever may choose their name at the provider could take it over. */
async function addAccount(query: Query, { name, ...identity }: Omit<OidcUser, "groups">): Promise<User> {
  const user = await createUser(query, { name, role: "user" });
  await addIdentity(query, identity, user.id);
  return user;
}

/** The last admin, and the owner, stay what they are: somebody must be able to undo it. */
async function setRole(query: Query, user: User, isAdmin: boolean): Promise<void> {
  const role = isAdmin ? "admin" : "user";
  if (role === user.role) return;
  try {
    await changeUser(query, { id: user.id, role });
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
  }
}
