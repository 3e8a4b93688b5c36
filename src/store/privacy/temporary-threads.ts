import type { Query } from "../../protocol/agents/tools.ts";

/** SQL: where a temporary conversation that was closed stands among those that expire. */
export const closedAt = "'-infinity'::timestamptz";

/**
 * Uploads that messages of these threads brought and no other thread holds. Those of a thread that is just being written to are
 * not seen: whoever sends a file in two conversations at once may lose it in the second.
 */
export async function uploadsOnlyIn(query: Query, threadIds: readonly string[]): Promise<readonly string[]> {
  const rows = await query<{ id: string }>(
    `select distinct u.id from items i cross join lateral jsonb_array_elements(i.body -> 'files') f join uploads u on u.id = (f ->> 'id')::uuid
     where i.thread_id = any ($1::uuid[]) and i.kind = 'message' and i.body ? 'files' and u.user_id = i.user_id
       and not exists (select from threads t join items o on o.thread_id = t.id and o.kind = 'message' and o.body ? 'files'
         where t.user_id = u.user_id and t.id <> all ($1) and o.body -> 'files' @> jsonb_build_array(jsonb_build_object('id', u.id::text)))
       and not exists (select from room_people p join items o on o.thread_id = p.thread_id and o.kind = 'message' and o.body ? 'files'
         where p.user_id = u.user_id and o.body -> 'files' @> jsonb_build_array(jsonb_build_object('id', u.id::text)))
       and not exists (select from pending p where p.user_id = u.user_id and p.thread_id <> all ($1) and p.start -> 'items' @>
         jsonb_build_array(jsonb_build_object('body', jsonb_build_object('files', jsonb_build_array(jsonb_build_object('id', u.id::text))))))`,
    [threadIds],
  );
  return rows.map(({ id }) => id);
}

/**
 * Removes what stands beside threads that go and holds their words: how their runs were made, questions to collections, what
 * providers said of errors. What was used, and who asked when, stays. In the transaction that removes the threads.
 */
export async function removeTextOf(query: Query, threadIds: readonly string[]): Promise<void> {
  const rows = await query<{ id: string }>(
    `with own as (select id from runs where thread_id = any ($1::uuid[]))
     select id from own union select r.id from runs r join own on r.root_run = own.id where r.parent_run is not null`,
    [threadIds],
  );
  const runs = rows.map(({ id }) => id);
  await query(
    `delete from run_definitions d using threads t
     where t.id = any ($1::uuid[]) and d.user_id = t.user_id and d.body ->> 'temporary' = t.id::text`,
    [threadIds],
  );
  await query("delete from rag_traces where run_id = any ($1::uuid[])", [runs]);
  await query("update model_calls set error = split_part(error, ':', 1) where run_id = any ($1::uuid[])", [runs]);
  await query("update deliveries set body = body #- '{error,message}' where body ->> 'thread' = any ($1::text[])", [
    threadIds,
  ]);
}
