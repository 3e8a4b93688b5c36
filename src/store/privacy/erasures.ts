import type { ErasureStep, ErasureView } from "../../protocol/people/accounts.ts";
import { Conflict, InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../driver/database.ts";
import { existingUser, isGuest } from "../people/users.ts";

/** A person that goes, or went. No name: that somebody was erased is kept, who it was is not. */
export type Erasure = Omit<ErasureView, "begunAt" | "doneAt"> & {
  readonly begunAt: Date;
  readonly doneAt: Date | null;
};

const columns = `id, user_id as "userId", asked_by as "askedBy", begun_at as "begunAt", step, problem, done_at as "doneAt"`;

/**
 * From here on the account can't come in, and it will go. In a transaction. Throws NotFound, InvalidInput `wrong_name` if
 * `confirm` is not its name, Conflict for the owner and for the last admin. Asked again it is the same erasure.
 */
export async function beginErasure(
  query: Query,
  { userId, confirm, askedBy }: { readonly userId: string; readonly confirm: string; readonly askedBy: string },
): Promise<Erasure> {
  // Locked, or two admins could erase each other at the same time.
  const admins = await query<{ id: string }>(
    "select id from users where role = 'admin' and not disabled order by id for no key update",
  );
  const user = isId(userId) ? await existingUser(query, userId) : undefined;
  if (!user) throw new NotFound(`User ${userId} not found.`, { code: "user_not_found" });
  if (confirm !== user.name)
    throw new InvalidInput("Erasing an account can't be undone. Send its exact name as confirm.", {
      code: "wrong_name",
      param: "confirm",
    });
  const [isOwner] = await query("select 1 from users where id = $1 and is_owner", [userId]);
  if (isOwner)
    throw new Conflict("The owner can't be erased: commands on this machine use this account.", {
      code: "owner_stays",
    });
  if (isGuest(userId))
    throw new Conflict("The account for guests can't be erased. Retention deletes what its conversations hold.", {
      code: "guest_stays",
    });
  if (admins.length === 1 && admins[0]!.id === userId)
    throw new Conflict(`${user.name} is the last active admin.`, { code: "last_admin" });
  await query("update users set disabled = true, password_hash = null where id = $1", [userId]);
  for (const table of ["web_sessions", "api_keys", "identities", "account_links"])
    await query(`delete from ${table} where user_id = $1`, [userId]);
  await query("insert into erasures (id, user_id, asked_by) values ($1, $2, $3) on conflict (user_id) do nothing", [
    newId(),
    userId,
    askedBy,
  ]);
  const [erasure] = await query<Erasure>(`select ${columns} from erasures where user_id = $1`, [userId]);
  return erasure!;
}

/** Throws NotFound. */
export async function getErasure(query: Query, id: string): Promise<Erasure> {
  const [erasure] = isId(id) ? await query<Erasure>(`select ${columns} from erasures where id = $1`, [id]) : [];
  if (!erasure) throw new NotFound(`Erasure ${id} not found.`, { code: "erasure_not_found" });
  return erasure;
}

/** The newest first. */
export function listErasures(query: Query): Promise<readonly Erasure[]> {
  return query<Erasure>(`select ${columns} from erasures order by begun_at desc limit 500`);
}

const leaseSeconds = 60;

/** One that nobody works on, for this node, with the name that is needed until its end. */
export async function takeErasure(
  query: Query,
  id?: string,
): Promise<
  (Pick<Erasure, "id" | "userId"> & { readonly name: string; readonly touched: readonly string[] }) | undefined
> {
  const [row] = await query<{ id: string; userId: string; name: string | null; touched: readonly string[] }>(
    `update erasures e set leased_until = now() + $2 * interval '1 second'
     where id = (select id from erasures where done_at is null and (leased_until is null or leased_until < now())
       and ($1::uuid is null or id = $1) order by begun_at limit 1 for update skip locked)
     returning id, user_id as "userId", (select name from users u where u.id = e.user_id) as name, touched`,
    [id ?? null, leaseSeconds],
  );
  return row && { ...row, name: row.name ?? "" };
}

/** Somebody still works on it. */
export async function keepErasure(query: Query, id: string): Promise<void> {
  await query("update erasures set leased_until = now() + $2 * interval '1 second' where id = $1", [id, leaseSeconds]);
}

export async function noteStep(query: Query, id: string, step: ErasureStep): Promise<void> {
  await query("update erasures set step = $2, problem = null where id = $1", [id, step]);
}

/** Threads of others that are being changed: their files of the session are to be written anew. */
export async function noteTouched(query: Query, id: string, threads: readonly string[]): Promise<void> {
  await query("update erasures set touched = $2::jsonb where id = $1", [id, JSON.stringify(threads)]);
}

/** It is tried again later. */
export async function leaveErasure(query: Query, id: string, problem: string): Promise<void> {
  await query("update erasures set problem = $2, leased_until = now() + interval '15 seconds' where id = $1", [
    id,
    problem.slice(0, 500),
  ]);
}

const together = 5000;

/** Logs keep what happened, without the person; then the account itself goes, and with it all rows that are only its own. */
export async function eraseAccount(
  { query, transaction }: Pick<Database, "query" | "transaction">,
  { id, userId, name }: { readonly id: string; readonly userId: string; readonly name: string },
): Promise<void> {
  await inBatches(
    query,
    `with part as (select id from model_calls where user_id = $1 limit ${together})
     update model_calls c set user_id = null from part where c.id = part.id returning 1`,
    [userId],
  );
  await inBatches(
    query,
    `with part as (select id from audit_log where user_id = $1 or user_name = $2 limit ${together})
     update audit_log a set user_id = null, user_name = '', address = '', path = regexp_replace(path, '/(files|sessions|history)/.+$', '/\\1/…')
     from part where a.id = part.id returning 1`,
    [userId, name],
  );
  await transaction(async (within) => {
    // In other people's rooms and threads: rows that tell whose a write or a limit was, with the write's result.
    await within(
      `update ledger l set user_id = t.user_id, result = case when l.result is not null then '{"content": ""}'::jsonb end
       from runs r join threads t on t.id = r.thread_id where r.id = l.run_id and l.user_id = $1 and t.user_id <> $1`,
      [userId],
    );
    await within(
      `update budgets b set user_id = t.user_id from runs r join threads t on t.id = r.thread_id
       where r.id = b.root_run and b.user_id = $1 and t.user_id <> $1`,
      [userId],
    );
    // The person's runs in other people's threads become the thread owner's, with what they began with.
    await within(
      `with moved as (
         update runs r set user_id = t.user_id, caller = r.caller || jsonb_build_object('userId', t.user_id, 'name', '') from threads t
         where t.id = r.thread_id and r.user_id = $1 and t.user_id <> $1 returning r.user_id, r.definition_hash)
       insert into run_definitions (user_id, hash, body) select distinct moved.user_id, d.hash, d.body from moved
         join run_definitions d on d.user_id = $1 and d.hash = moved.definition_hash on conflict (user_id, hash) do update set used_at = now()`,
      [userId],
    );
    await within("delete from users where id = $1", [userId]);
    await within("update erasures set step = 'done', problem = null, touched = '[]', done_at = now() where id = $1", [
      id,
    ]);
  });
}

async function inBatches(query: Query, sql: string, values: readonly unknown[]): Promise<void> {
  while ((await query(sql, values)).length === together);
}
