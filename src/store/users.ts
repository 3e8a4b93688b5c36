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
  await query("insert into users (id, name, role) values ($1, 'owner', 'admin') on conflict (name) do nothing", [
    newId(),
  ]);
  return (await findUserByName(query, "owner"))!;
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

/** A disabled user can't come in any more. Throws NotFound. */
export async function setDisabled(query: Query, { id, disabled }: Pick<User, "id" | "disabled">): Promise<User> {
  const [user] = await query<User>(`update users set disabled = $2 where id = $1 returning ${columns}`, [id, disabled]);
  if (!user) throw new NotFound(`There is no user ${id}.`);
  return user;
}
