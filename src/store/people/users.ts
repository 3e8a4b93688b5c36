import type { Rights, Role } from "../../protocol/base/callers.ts";
import { Conflict, NotFound } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { looksOf } from "../schema/name-looks.ts";
import { sqlState, uniqueViolation } from "../driver/sql-state.ts";

/** An account, with what it may do by its role and groups. */
export type User = Rights & {
  readonly id: string;
  readonly name: string;
  readonly disabled: boolean;
  readonly createdAt: Date;
};

/** Its name until somebody claims the account. */
const owner = "owner";

/** Columns of the table `users`, which a statement must not alias. */
export const userColumns = `users.id, users.name, users.role, users.disabled, users.created_at as "createdAt",
  permissions_of(users.id, users.role) as permissions`;

export type NewUser = { readonly name: string; readonly role: Role; readonly passwordHash?: string };

/** Throws Conflict: `user_exists` if the name is taken, be it in other letter case, `name_alike` if it looks like one that is. */
export async function createUser(query: Query, { name, role, passwordHash }: NewUser): Promise<User> {
  try {
    const [user] = await query<User>(
      `insert into users (id, name, looks, role, password_hash, password_set_at)
       select $1::uuid, $2::text, $5::text, $3::text, $4::text, case when $4::text is not null then now() end
       where not exists (select from users where lower(name) = lower($2) or looks = $5) returning ${userColumns}`,
      [newId(), name, role, passwordHash ?? null, looksOf(name)],
    );
    if (!user) throw (await takenBy(query, name)) ?? nameTaken(name);
    return user;
  } catch (cause) {
    if (sqlState(cause) !== uniqueViolation) throw cause;
    throw nameTaken(name, cause);
  }
}

/** Local mode's one user; the same row at every start, whatever its name is by now. */
export async function ensureOwner(query: Query): Promise<User> {
  await query(
    "insert into users (id, name, looks, role, is_owner) values ($1, $2, $3, 'admin', true) on conflict do nothing",
    [newId(), owner, looksOf(owner)],
  );
  const [user] = await query<User>(`select ${userColumns} from users where is_owner`);
  return user!;
}

/** Fixed in every installation, so that no node creates a second one. */
const guestId = "00000000-0000-7000-8000-000000000001";

/**
 * The account of whoever asks in local mode without being known as the owner; the same row at every start. It has threads, tasks
 * and files of its own, and no way to log in.
 */
export async function ensureGuest(query: Query): Promise<User> {
  // The name may be somebody's, from when there were accounts.
  for (const name of ["guest", `guest-${newId().slice(-12)}`]) {
    await query("insert into users (id, name, looks, role) values ($1, $2, $3, 'user') on conflict do nothing", [
      guestId,
      name,
      looksOf(name),
    ]);
    const guest = await findUser(query, guestId);
    if (guest) return guest;
  }
  throw new Error("The account for guests could not be made.");
}

/** Whether asking without a login is done in its name. */
export function isGuest(userId: string): boolean {
  return userId === guestId;
}

/**
 * Makes the owner the account of a person, with all that there is of local mode, once. In a transaction. Throws Conflict
 * `user_exists`, `name_alike` or `already_set_up`.
 */
export async function claimOwner(
  query: Query,
  { name, passwordHash }: { readonly name: string; readonly passwordHash: string },
): Promise<User> {
  const { id } = await ensureOwner(query);
  const taken = await takenBy(query, name, id);
  if (taken) throw taken;
  const [user] = await query<User>(
    `update users set name = $2, looks = $4, alike = false, password_hash = $3, password_set_at = now(), disabled = false
     where id = $1 and password_hash is null returning ${userColumns}`,
    [id, name, passwordHash, looksOf(name)],
  );
  if (!user) throw new Conflict("This server already has its first admin.", { code: "already_set_up" });
  return user;
}

/** Whether no admin can log in in any way, so that the first start has to offer one. */
export async function lacksAdmin(query: Query): Promise<boolean> {
  const rows = await query(
    `select 1 from users u where u.role = 'admin' and not u.disabled and (
       u.password_hash is not null
       or exists (select from identities i where i.user_id = u.id)
       or exists (select from api_keys k where k.user_id = u.id and k.revoked_at is null
                  and (k.expires_at is null or k.expires_at > now()))) limit 1`,
  );
  return rows.length === 0;
}

export async function findUser(query: Query, id: string): Promise<User | undefined> {
  return (await query<User>(`select ${userColumns} from users where id = $1`, [id]))[0];
}

export async function findUserByName(query: Query, name: string): Promise<User | undefined> {
  return (await query<User>(`select ${userColumns} from users where name = $1`, [name]))[0];
}

/** A page in the order of names, after one of them. */
export type UserPage = { readonly after?: string | undefined; readonly limit?: number | undefined };

export async function listUsers(query: Query, { after = "", limit = 500 }: UserPage = {}): Promise<readonly User[]> {
  return query<User>(`select ${userColumns} from users where name > $1 order by name limit $2`, [after, limit]);
}

/** Throws NotFound. */
export async function existingUser(query: Query, id: string): Promise<User> {
  const user = await findUser(query, id);
  if (!user) throw new NotFound(`User ${id} not found.`, { code: "user_not_found" });
  return user;
}

/** Finds a user by name, in any letter case. Undefined: there is no such user. `hash` is null for an account without a password. */
export async function findPassword(
  query: Query,
  name: string,
): Promise<{ readonly user: User; readonly hash: string | null } | undefined> {
  const [row] = await query<User & { hash: string | null }>(
    `select ${userColumns}, users.password_hash as hash from users where lower(name) = lower($1) order by name = $1 desc limit 1`,
    [name],
  );
  if (!row) return undefined;
  const { hash, ...user } = row;
  return { user, hash };
}

export async function setPassword(query: Query, userId: string, passwordHash: string): Promise<void> {
  await query("update users set password_hash = $2, password_set_at = now() where id = $1", [userId, passwordHash]);
}

export type UserChange = { readonly disabled?: boolean; readonly role?: Role };

/**
 * In a transaction. A disabled user can't come in any more. Throws NotFound, and Conflict where nobody would be left who could
 * undo it: for the last enabled admin, and for the role of the owner, who is the caller of local mode.
 */
export async function changeUser(query: Query, { id, disabled, role }: UserChange & Pick<User, "id">): Promise<User> {
  // Locked, or two admins could take each other's rights at the same time.
  const admins = await query<{ id: string }>(
    "select id from users where role = 'admin' and not disabled order by id for no key update",
  );
  const user = await existingUser(query, id);
  const [isOwner] = await query("select 1 from users where id = $1 and is_owner", [id]);
  if (role === "user" && isOwner)
    throw new Conflict("The owner must stay an admin: commands on this machine use this account.", {
      code: "owner_is_admin",
    });
  if ((role === "user" || disabled) && admins.length === 1 && admins[0]!.id === id)
    throw new Conflict(`${user.name} is the last active admin.`, { code: "last_admin" });
  const [changed] = await query<User>(
    `update users set disabled = coalesce($2, disabled), role = coalesce($3, role) where id = $1 returning ${userColumns}`,
    [id, disabled ?? null, role ?? null],
  );
  return changed!;
}

/** Why another account than this one keeps a name from being taken. */
async function takenBy(query: Query, name: string, id?: string): Promise<Conflict | undefined> {
  const [other] = await query<{ same: boolean }>(
    `select lower(name) = lower($1) as same from users
     where (lower(name) = lower($1) or looks = $2) and id is distinct from $3::uuid order by same desc limit 1`,
    [name, looksOf(name), id ?? null],
  );
  if (!other) return undefined;
  if (other.same) return nameTaken(name);
  return new Conflict(`The name ${name} is too similar to another account's name. Choose another one.`, {
    code: "name_alike",
  });
}

function nameTaken(name: string, cause?: unknown): Conflict {
  return new Conflict(`There is already a user named ${name}.`, { code: "user_exists", cause });
}
