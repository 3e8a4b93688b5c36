import type { Query } from "../../protocol/agents/tools.ts";

/** Ids of threads that were removed and whose files may still be there, the oldest first. */
export async function listRemovedThreads(query: Query, limit: number): Promise<readonly string[]> {
  const rows = await query<{ thread_id: string }>(
    "select thread_id from removed_threads where remove_at <= now() order by remove_at limit $1",
    [limit],
  );
  return rows.map((row) => row.thread_id);
}

/** Its files are gone. */
export async function forgetRemovedThread(query: Query, threadId: string): Promise<void> {
  await query("delete from removed_threads where thread_id = $1", [threadId]);
}

/** Its files can't be removed now: others come first. */
export async function postponeRemovedThread(query: Query, threadId: string, minutes: number): Promise<void> {
  await query("update removed_threads set remove_at = now() + $2 * interval '1 minute' where thread_id = $1", [
    threadId,
    minutes,
  ]);
}
