import type { NewItem } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { isDatabaseFault } from "../../store/driver/sql-state.ts";
import { append, type AppendResult, type AppendExtras, type RunOwner } from "./append.ts";
import { type OutageRetryOptions, patiently } from "./patiently.ts";
import { itemColumns, toItem, type ItemRow } from "./rows.ts";

/**
 * Appends as `append` does, and goes on trying while the database is away: what these items hold has been paid for, or was
 * done outside. Ends when it is written, when the run is lost to another owner, or when the signal fires.
 */
export async function appendPatiently(
  query: Query,
  owner: RunOwner,
  {
    items,
    extras,
    ...patience
  }: { items: readonly NewItem[]; extras: AppendExtras } & Omit<OutageRetryOptions, "runId">,
): Promise<AppendResult> {
  // An earlier try is known by its items alone; what has none would become true twice.
  if (items.length === 0) return append(query, owner, items, extras);
  return patiently({ ...patience, runId: owner.runId }, async (tries) => {
    if (tries === 0) return append(query, owner, items, extras);
    const found = await findAppended(query, owner, items);
    if (found) return found;
    try {
      return await append(query, owner, items, extras);
    } catch (error) {
      if (isDatabaseFault(error)) throw error;
      // What refuses this try may be the earlier one, which came in between.
      const late = await findAppended(query, owner, items);
      if (late) return late;
      throw error;
    }
  });
}

/** What an earlier try of the same items has written: all of them or none. */
async function findAppended(
  query: Query,
  owner: RunOwner,
  items: readonly NewItem[],
): Promise<AppendResult | undefined> {
  const rows = await query<ItemRow & { pending: number }>(
    `select ${itemColumns}, (select pending from threads where threads.id = items.thread_id) as pending
     from items where items.thread_id = $1 and id = any($2::uuid[]) order by seq`,
    [owner.threadId, items.map(({ id }) => id)],
  );
  return rows.length === 0 ? undefined : { items: rows.map(toItem), pending: rows[0]!.pending };
}
