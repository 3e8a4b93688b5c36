import type { GroupView, MemberView } from "../../protocol/people/accounts.ts";
import { NotFound } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";

/** Everybody is in it, and nobody can be put out of it: what it grants is what each user may. */
const everyone = "everyone";

const noUser = "00000000-0000-0000-0000-000000000000";

/** Lists groups by name; `everyone` first, with `members` 0. */
export async function listGroups(query: Query): Promise<readonly GroupView[]> {
  return query<GroupView>(
    `select $1 as name, permissions_of($2, 'user') as permissions, 0 as members
     union all
     (select g.name, g.permissions, count(m.user_id)::integer as members
      from groups g left join group_members m on m.group_name = g.name where g.name <> $1 group by g.name order by g.name)`,
    [everyone, noUser],
  );
}

/** Makes the group or sets what it grants. */
export async function saveGroup(query: Query, name: string, permissions: readonly string[]): Promise<void> {
  await query(
    `insert into groups (name, permissions) values ($1, $2::jsonb)
     on conflict (name) do update set permissions = excluded.permissions`,
    [name, JSON.stringify([...new Set(permissions)])],
  );
}

/** Removes a group; `everyone` is reset to its initial permissions instead. Throws NotFound. */
export async function removeGroup(query: Query, name: string): Promise<void> {
  const rows = await query("delete from groups where name = $1 returning name", [name]);
  if (rows.length === 0 && name !== everyone) throw noGroup(name);
}

export async function groupsOf(query: Query, userId: string): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(
    "select group_name as name from group_members where user_id = $1 order by group_name",
    [userId],
  );
  return rows.map(({ name }) => name);
}

/** Throws NotFound. */
export async function listMembers(query: Query, group: string): Promise<readonly MemberView[]> {
  await existingGroup(query, group);
  return query<MemberView>(
    "select users.id, users.name from group_members m join users on users.id = m.user_id where m.group_name = $1 order by users.name",
    [group],
  );
}

/** Throws NotFound for a group that is not there; the user must be. */
export async function addMember(query: Query, group: string, userId: string): Promise<void> {
  await existingGroup(query, group);
  await query(
    `insert into group_members (group_name, user_id) values ($1, $2)
     on conflict (group_name, user_id) do update set issuer = null`,
    [group, userId],
  );
}

export async function removeMember(query: Query, group: string, userId: string): Promise<void> {
  await query("delete from group_members where group_name = $1 and user_id = $2", [group, userId]);
}

/** In a transaction. Puts a user into just those groups there are among `names`, as far as this issuer has a say in it. */
export async function setMemberships(
  query: Query,
  { userId, issuer, names }: { readonly userId: string; readonly issuer: string; readonly names: readonly string[] },
): Promise<void> {
  await query("delete from group_members where user_id = $1 and issuer = $2 and group_name <> all ($3::text[])", [
    userId,
    issuer,
    names,
  ]);
  await query(
    `insert into group_members (group_name, user_id, issuer)
     select name, $1, $2 from groups where name = any ($3::text[]) and name <> $4 on conflict do nothing`,
    [userId, issuer, names, everyone],
  );
}

/** Throws NotFound. Nobody is put into `everyone`, so it is none of these. */
async function existingGroup(query: Query, name: string): Promise<void> {
  const rows = name === everyone ? [] : await query("select 1 from groups where name = $1", [name]);
  if (rows.length === 0) throw noGroup(name);
}

function noGroup(name: string): NotFound {
  return new NotFound(`Group ${name} not found.`, { code: "group_not_found" });
}
