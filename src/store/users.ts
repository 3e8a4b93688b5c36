import type { Role } from "../protocol/callers.ts";
import { Conflict, NotFound } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import type { Query } from "../protocol/tools.ts";
import { sqlState, uniqueViolation } from "./sql-state.ts";

export type User = {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly disabled: boolean;
  readonly createdAt: Date;
};

const owner = "owner";
const columns = `id, name, role, disabled, created_at as "createdAt"`;

/** Throws Conflict `user_exists` if the name is taken. */
export async function createUser(
  query: Query,
  { name, role }: { readonly name: string; readonly role: Role },
): Promise<User> {
  try {
    const [user] = await query<User>(`insert into users (id, name, role) values ($1, $2, $3) returning ${columns}`, [
      newId(),
      name,
      role,
    ]);
    return user!;
  } catch (cause) {
    if (sqlState(cause) !== uniqueViolation) throw cause;
    throw new Conflict(`There is already a user named ${name}.`, { code: "user_exists", cause });
  }
}

/** Local mode's one user; the same row at every start. */
export async function ensureOwner(query: Query): Promise<User> {
  await query("insert into users (id, name, role) values ($1, $2, 'admin') on conflict (name) do nothing", [
    newId(),
    owner,
  ]);
  return (await findUserByName(query, owner))!;
}

export async function findUser(query: Query, id: string): Promise<User | undefined> {
  return (await query<User>(`select ${columns} from users where id = $1`, [id]))[0];
}

export async function findUserByName(query: Query, name: string): Promise<User | undefined> {
  return (await query<User>(`select ${columns} from users where name = $1`, [name]))[0];
}

export async function listUsers(query: Query): Promise<readonly User[]> {
  return query<User>(`select ${columns} from users order by name`);
}

/** Throws NotFound. */
export async function existingUser(query: Query, id: string): Promise<User> {
  const user = await findUser(query, id);
  if (!user) throw new NotFound(`There is no user ${id}.`, { code: "user_not_found" });
  return user;
}

export type UserChange = { readonly disabled?: boolean; readonly role?: Role };

/**
 * In a transaction. A disabled user can't come in any more. Throws NotFound, and Conflict where nobody would be left who could
 * undo it: for the last enabled admin, and for the role of the owner, who is the caller of local mode.
 */
export async function changeUser(query: Query, { id, disabled, role }: UserChange & Pick<User, "id">): Promise<User> {
  // Locked, or two admins could take each other's rights at the same time.
  const admins = await query<{ id: string }>(
    "select id from users where role = 'admin' and not disabled order by id for update",
  );
  const user = await existingUser(query, id);
  if (role === "user" && user.name === owner)
    throw new Conflict("The owner stays an admin: commands on this machine come in as this account.", {
      code: "owner_is_admin",
    });
  if ((role === "user" || disabled) && admins.length === 1 && admins[0]!.id === id)
    throw new Conflict(`${user.name} is the last admin who is not disabled.`, { code: "last_admin" });
  const [changed] = await query<User>(
    `update users set disabled = coalesce($2, disabled), role = coalesce($3, role) where id = $1 returning ${columns}`,
    [id, disabled ?? null, role ?? null],
  );
  return changed!;
}
