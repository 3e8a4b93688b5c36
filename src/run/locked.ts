import { NotFound } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import type { Item, NewItem } from "../protocol/items.ts";
import type { RunDefinition, RunStatus } from "../protocol/runs.ts";
import type { Query } from "../protocol/tools.ts";
import type { Appended, RunEnd } from "./append.ts";
import { endRun } from "./end-run.ts";
import { insertItemsSql, itemColumns, itemsParameter, placeItems, toItem, type ItemRow } from "./rows.ts";
import type { Runtime } from "./runtime.ts";
import { deliveriesOf } from "./signals.ts";

/** A run whose row is locked by the transaction at hand: nobody can take, end, pause or decide it meanwhile. */
export type LockedRun = {
  readonly id: string;
  readonly threadId: string;
  readonly userId: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly epoch: number;
  /** It waits, and longer than it may. */
  readonly late: boolean;
  readonly definition: RunDefinition;
};

/** A statement of its own, so that what is read after it is newer than any wait or decision. Undefined: not there, or not this user's. */
export async function lockRun(query: Query, runId: string, userId?: string): Promise<LockedRun | undefined> {
  const [row] = await query<{
    thread_id: string;
    user_id: string;
    agent: string;
    status: RunStatus;
    epoch: number;
    late: boolean;
    definition: RunDefinition;
  }>(
    "select thread_id, user_id, agent, status, epoch, definition, coalesce(wait_until < now(), false) as late from runs where id = $1 and ($2::uuid is null or user_id = $2) for update",
    [runId, userId ?? null],
  );
  return (
    row && {
      id: runId,
      threadId: row.thread_id,
      userId: row.user_id,
      agent: row.agent,
      status: row.status,
      epoch: row.epoch,
      late: row.status === "waiting" && row.late,
      definition: row.definition,
    }
  );
}

export async function itemsOfRun(query: Query, runId: string): Promise<Item[]> {
  return (await query<ItemRow>(`select ${itemColumns} from items where run_id = $1 order by seq`, [runId])).map(toItem);
}

/** Appends to the thread of a locked run; the lock does for a fence. */
export async function appendLocked(
  query: Query,
  run: Pick<LockedRun, "id" | "threadId">,
  items: readonly NewItem[],
): Promise<Item[]> {
  const time = new Date().toISOString();
  const placed = items.map((item) => ({ ...item, run: run.id }));
  const [row] = await query<{ first: number; parent: string | null }>(
    `with t as (update threads set next_seq = next_seq + $2, previous_leaf = leaf, leaf = $3, updated_at = now() where id = $1
       returning id, user_id, next_seq - $2 as first, previous_leaf as parent),
     i as (${insertItemsSql("$4", "$5")}) select first, parent from t`,
    [run.threadId, items.length, items.at(-1)!.id, itemsParameter(placed), time],
  );
  return placeItems(placed, { threadId: run.threadId, firstSeq: row!.first, parent: row!.parent, time });
}

/** A waiting run has all it waited for: anybody may take it again. */
export async function queueAgain(runtime: Runtime, query: Query, run: LockedRun): Promise<void> {
  const jobId = newId();
  await query(
    "update runs set status = 'queued', wait_reason = null, wait_until = null, handed_over = true, job_id = $2 where id = $1",
    [run.id, jobId],
  );
  await runtime.engine.send(query, { id: jobId, runId: run.id, userId: run.userId });
}

/** Ends a locked run that nobody works on: each open call gets a result that says so. */
export async function endLocked(
  runtime: Runtime,
  query: Query,
  { run, end, before = [] }: { run: LockedRun; end: RunEnd; before?: readonly NewItem[] },
): Promise<Appended> {
  await query("update runs set epoch = epoch + 1, status = 'running' where id = $1", [run.id]);
  const signal = { runId: run.id, threadId: run.threadId, agent: run.agent, event: end.status };
  const deliveries = deliveriesOf(runtime, { ...signal, ...(end.error ? { error: end.error } : {}) });
  const owner = { runId: run.id, epoch: run.epoch + 1, threadId: run.threadId };
  return endRun(query, owner, { end, before, extras: { deliveries } });
}

export function publishItems(runtime: Runtime, threadId: string, items: readonly Item[]): void {
  if (items.length === 0) return;
  runtime.feeds.publish(threadId, items);
  runtime.deltas.touch(threadId);
}

export function noRun(runId: string): NotFound {
  return new NotFound(`There is no run ${runId}.`, { code: "run_not_found" });
}
