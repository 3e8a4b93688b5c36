import type { Query } from "../../protocol/agents/tools.ts";

/**
 * SQL condition: the person with ID `$1` and name `$2`, or a run of theirs, wrote the item `i` in another user's thread `t`. In a
 * room people are known by a handle; after they left, by their name, unless it is another person's handle by now.
 */
export const messagesElsewhereSql = `t.user_id <> $1 and i.body <> '{"erased": true}'::jsonb and (
  i.user_id = $1
  or (i.kind = 'decision' or i.kind = 'message' and i.body ->> 'role' = 'user') and case
    when exists (select from rooms m where m.thread_id = i.thread_id) then
      exists (select from room_people p where p.thread_id = i.thread_id and p.user_id = $1 and p.handle = i.author)
      or i.author = $2 and not exists (select from room_people p where p.thread_id = i.thread_id and p.handle = i.author)
    else i.author = $2 end
  or exists (select from room_callers c where c.message_id = i.id and c.user_id = $1)
  or exists (select from runs r where r.id = i.run_id and r.user_id = $1))`;

/** Threads of others in which the person said something. */
export async function threadsSpokenIn(query: Query, userId: string, name: string): Promise<readonly string[]> {
  const rows = await query<{ id: string }>(
    `select distinct i.thread_id as id from items i join threads t on t.id = i.thread_id where ${messagesElsewhereSql}`,
    [userId, name],
  );
  return rows.map(({ id }) => id);
}

/** Yields the person's messages in another user's thread, a page at a time. */
export async function* messagesInThread(
  query: Query,
  userId: string,
  { name, threadId }: { name: string; threadId: string },
) {
  for (let after = 0; ;) {
    const rows = await query<{ seq: number; body: unknown }>(
      `select i.id, i.thread_id, i.seq, i.kind, i.run_id, i.body - 'opaque' - 'state' as body, i.created_at
       from items i join threads t on t.id = i.thread_id where ${messagesElsewhereSql} and i.thread_id = $3 and i.seq > $4 order by i.seq limit 50`,
      [userId, name, threadId, after],
    );
    if (rows.length > 0) yield rows;
    if (rows.length < 50) return;
    after = rows.at(-1)!.seq;
  }
}
