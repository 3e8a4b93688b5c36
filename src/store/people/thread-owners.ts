import type { Query } from "../../protocol/agents/tools.ts";

/** Whose these threads are, by their ids; those that are gone are left out. */
export async function ownersOfThreads(query: Query, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await query<{ id: string; user_id: string }>(
    "select id, user_id from threads where id = any($1::uuid[])",
    [ids],
  );
  return new Map(rows.map(({ id, user_id }) => [id, user_id]));
}
