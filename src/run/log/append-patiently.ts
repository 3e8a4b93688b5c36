import { setTimeout as sleep } from "node:timers/promises";
import type { NewItem } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { isDatabaseFault } from "../../store/driver/sql-state.ts";
import { append, type Appended, type AppendExtras, type Owner } from "./append.ts";
import { itemColumns, toItem, type ItemRow } from "./rows.ts";

const firstWaitMs = 100;
const longestWaitMs = 1000;

/**
 * Appends as `append` does, and goes on trying while the database is away: what these items hold has been paid for, or was
 * done outside. Ends when it is written, when the run is lost to another owner, or when the signal fires.
 */
export async function appendPatiently(
  query: Query,
  owner: Owner,
  { items, extras, signal }: { items: readonly NewItem[]; extras: AppendExtras; signal: AbortSignal },
): Promise<Appended> {
  let refused = false;
  for (let tries = 0; ; tries++) {
    try {
      // The answer to an earlier try may have been lost on its way, after it was committed.
      const found = tries > 0 ? await findAppended(query, owner, items) : undefined;
      return found ?? (await append(query, owner, items, extras));
    } catch (error) {
      if (signal.aborted) throw error;
      if (!isDatabaseFault(error)) {
        // What refuses a later try may be the earlier one, which came in between: one more look.
        if (tries === 0 || refused) throw error;
        refused = true;
        continue;
      }
      await sleep(Math.min(firstWaitMs * 2 ** tries, longestWaitMs), undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}

/** What an earlier try of the same items has written: all of them or none. */
async function findAppended(query: Query, owner: Owner, items: readonly NewItem[]): Promise<Appended | undefined> {
  const rows = await query<ItemRow & { pending: number }>(
    `select ${itemColumns}, (select pending from threads where threads.id = items.thread_id) as pending
     from items where items.thread_id = $1 and id = any($2::uuid[]) order by seq`,
    [owner.threadId, items.map(({ id }) => id)],
  );
  return rows.length === 0 ? undefined : { items: rows.map(toItem), pending: rows[0]!.pending };
}
