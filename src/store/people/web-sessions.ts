import { NotFound } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { type User, userColumns } from "./users.ts";

/** One login of a person, in a browser or a program. Its token carries its id, and counts no more once the row is gone. */
export type WebSession = {
  readonly id: string;
  readonly label: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
};

const columns = `id, label, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"`;

/** Logins of one account at a time; the one not used for longest gives way. */
const maxPerUser = 100;

/** In a transaction or alone. `label`: what the person sees in the list. */
export async function createWebSession(
  query: Query,
  { userId, label, lifeMs }: { readonly userId: string; readonly label: string; readonly lifeMs: number },
): Promise<WebSession> {
  const [session] = await query<WebSession>(
    `with over as (
       delete from web_sessions where user_id = $2 and (expires_at < now() or id in (
         select id from web_sessions where user_id = $2 order by last_used_at desc offset ${maxPerUser - 1}))
     )
     insert into web_sessions (id, user_id, label, expires_at)
     values ($1, $2, $3, now() + $4 * interval '1 millisecond') returning ${columns}`,
    [newId(), userId, label, lifeMs],
  );
  return session!;
}

/** Whose login this is, and notes once a minute that it was used; undefined: it is over. A disabled user is told as such. */
export async function findWebSession(query: Query, id: string): Promise<User | undefined> {
  const [user] = await query<User>(
    `with used as (
       update web_sessions set last_used_at = now() where id = $1 and last_used_at < now() - interval '1 minute'
     )
     select ${userColumns} from web_sessions s join users on users.id = s.user_id where s.id = $1 and s.expires_at > now()`,
    [id],
  );
  return user;
}

/** Last used first. */
export async function listWebSessions(query: Query, userId: string): Promise<readonly WebSession[]> {
  return query<WebSession>(
    `select ${columns} from web_sessions where user_id = $1 and expires_at > now() order by last_used_at desc, id desc`,
    [userId],
  );
}

/** Throws NotFound, also for one of somebody else. */
export async function endWebSession(query: Query, userId: string, id: string): Promise<void> {
  const rows = await query("delete from web_sessions where id = $1 and user_id = $2 returning id", [id, userId]);
  if (rows.length === 0) throw new NotFound(`Login ${id} not found.`, { code: "session_not_found" });
}

/** All logins of an account, but for one. */
export async function endWebSessions(query: Query, userId: string, except?: string): Promise<void> {
  await query("delete from web_sessions where user_id = $1 and id is distinct from $2::uuid", [userId, except ?? null]);
}

export async function removeOldWebSessions(query: Query): Promise<void> {
  await query("delete from web_sessions where expires_at < now()");
}
