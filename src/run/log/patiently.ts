import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import { isDatabaseFault } from "../../store/driver/sql-state.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { append, type AppendResult, type AppendExtras, type RunOwner } from "./append.ts";
import { itemColumns, toItem, type ItemRow } from "./rows.ts";

const firstWaitMs = 100;
const longestWaitMs = 1000;

export type OutageRetryOptions = {
  /** Fires when the run is not this process's to write any more, its lease included. */
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly log: Log;
};

/**
 * Goes on trying while the database is away. `tries`: those before this one, any of which may have been committed though its
 * answer never came, so an attempt must find that or do the same again.
 */
export async function retryThroughOutage<Value>(
  { signal, runId, log }: OutageRetryOptions,
  attempt: (tries: number) => Promise<Value>,
): Promise<Value> {
  const began = performance.now();
  for (let tries = 0; ; tries++) {
    try {
      const value = await attempt(tries);
      if (tries > 0)
        log.info({ runId, waitedMs: Math.round(performance.now() - began) }, "the database is accepting writes again");
      return value;
    } catch (error) {
      if (signal.aborted || !isDatabaseFault(error)) throw error;
      if (tries === 0)
        log.warn({ runId, error: messageOf(error) }, "the database does not accept the writes of a run; retrying");
      await sleep(Math.min(firstWaitMs * 2 ** tries, longestWaitMs), undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}

/**
 * Appends as `append` does, and goes on trying while the database is away: what these items hold has been paid for, or was
 * done outside. Ends when it is written, when the run is lost to another owner, or when the signal fires.
 */
export async function appendThroughOutage(
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
  return retryThroughOutage({ ...patience, runId: owner.runId }, async (tries) => {
    if (tries === 0) return append(query, owner, items, extras);
    const found = await findAppended(query, owner, { items, extras });
    if (found) return found;
    try {
      return await append(query, owner, items, extras);
    } catch (error) {
      if (isDatabaseFault(error)) throw error;
      // This attempt may be refused because an earlier one was committed in between.
      const late = await findAppended(query, owner, { items, extras });
      if (late) return late;
      throw error;
    }
  });
}

/** Finds the items if an earlier attempt has written them: all or none. */
async function findAppended(
  query: Query,
  owner: RunOwner,
  { items, extras }: { readonly items: readonly NewItem[]; readonly extras: AppendExtras },
): Promise<AppendResult | undefined> {
  const rows = await query<ItemRow & { pending: number; reserved_at: number | null }>(
    `select ${itemColumns}, (select pending from threads where threads.id = items.thread_id) as pending,
       (select r.steered from runs r join budgets b on b.root_run = r.root_run
        where r.id = $3 and b.unsettled #> array[$3::uuid::text, $4::text] is not null) as reserved_at
     from items where items.thread_id = $1 and id = any($2::uuid[]) order by seq`,
    [owner.threadId, items.map(({ id }) => id), owner.runId, extras.reservesNext ?? null],
  );
  const [first] = rows;
  if (!first) return undefined;
  const { pending, reserved_at: reservedAt } = first;
  // Reads that were counted are asked for again, which counts nothing twice.
  return { items: rows.map(toItem), pending, ...(reservedAt === null ? {} : { reservedAt }) };
}
