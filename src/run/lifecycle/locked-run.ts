import { Conflict, NotFound } from "../../protocol/base/errors.ts";
import type { Item, NewItem } from "../../protocol/threads/items.ts";
import type { RunDefinition, RunStatus } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { RunEnd } from "../log/append.ts";
import { wakeAncestors } from "./child-runs.ts";
import { endRun, type RunEndAppend } from "./end-run.ts";
import {
  insertItemsSql,
  isOfTree,
  itemColumns,
  itemsParameter,
  placeItems,
  toItem,
  type ItemRow,
  clearWaitSql,
} from "../log/rows.ts";
import { withoutWithdrawn } from "../log/standing.ts";
import type { Runtime } from "../contract/runtime.ts";
import { definitionSql } from "../log/run-definitions.ts";
import { deliveriesOf } from "./webhook-signals.ts";

/** A run whose row is locked by the transaction at hand: nobody can take, end, pause or decide it meanwhile. */
export type LockedRun = {
  readonly id: string;
  readonly threadId: string;
  readonly userId: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly epoch: number;
  /** It waits, longer than it may, and does not go on by itself. */
  readonly late: boolean;
  readonly definition: RunDefinition;
  /** The root of a child run, which is locked too. */
  readonly root: Omit<LockedRun, "root"> | undefined;
};

/**
 * Its root first, whoever's: in a room a turn works for one person within the run that another began. A statement of its own,
 * so that what is read after it is newer than any wait or decision. Undefined: not there, or not this user's.
 */
export async function lockRun(query: Query, runId: string, userId?: string): Promise<LockedRun | undefined> {
  const rows = await query<{
    id: string;
    thread_id: string;
    user_id: string;
    agent: string;
    status: RunStatus;
    epoch: number;
    late: boolean;
    definition: RunDefinition | null;
  }>(
    `select id, thread_id, user_id, agent, status, epoch, ${definitionSql("runs")} as definition, coalesce(wait_until < now() and retry_at is null, false) as late from runs
     where (id = $1 or id = (select root_run from runs where id = $1))
       and ($2::uuid is null or exists (select from runs mine where mine.id = $1 and mine.user_id = $2))
     order by parent_run is not null for update`,
    [runId, userId ?? null],
  );
  const missed = rows.filter(({ definition }) => definition === null).map(({ id }) => id);
  const since = missed.length > 0 ? await definitionsOf(query, missed) : new Map<string, RunDefinition>();
  const locked = rows.map((row) => ({
    id: row.id,
    threadId: row.thread_id,
    userId: row.user_id,
    agent: row.agent,
    status: row.status,
    epoch: row.epoch,
    late: row.status === "waiting" && row.late,
    definition: row.definition ?? since.get(row.id)!,
  }));
  const run = locked.find((row) => row.id === runId);
  return run && { ...run, root: locked.find((row) => row.id !== runId) };
}

/** Whoever held the lock before may have given a run a definition that a statement which waited for the lock does not see. */
async function definitionsOf(query: Query, runIds: readonly string[]): Promise<ReadonlyMap<string, RunDefinition>> {
  const rows = await query<{ id: string; definition: RunDefinition }>(
    `select id, ${definitionSql("runs")} as definition from runs where id = any ($1::uuid[])`,
    [runIds],
  );
  return new Map(rows.map(({ id, definition }) => [id, definition]));
}

export async function itemsOfRun(query: Query, runId: string): Promise<Item[]> {
  const rows = await query<ItemRow>(`select ${itemColumns} from items where run_id = $1 order by seq`, [runId]);
  return [...withoutWithdrawn(rows.map(toItem))];
}

/**
 * Reads a run's items without the bodies of messages and results, of which only marks are needed: otherwise a long run would be
 * read whole while its row is locked.
 */
export async function runOutline(query: Query, runId: string): Promise<readonly Item[]> {
  const marks = "jsonb_strip_nulls(jsonb_build_object('partial', body -> 'partial', 'outcome', body -> 'outcome'))";
  const rows = await query<ItemRow>(
    `select ${itemColumns.replace("body", `case when kind in ('message', 'result') then ${marks} else body end as body`)}
     from items where run_id = $1 and kind in ('message', 'result', 'question', 'decision', 'state') order by seq`,
    [runId],
  );
  return withoutWithdrawn(rows.map(toItem));
}

/** Reads questions and decisions of a run and, for a root, of the runs below it. */
export async function itemsOfTree(query: Query, runId: string): Promise<Item[]> {
  const rows = await query<ItemRow>(
    `select ${itemColumns} from items where kind in ('question', 'decision') and run_id in
       (select id from runs where ${isOfTree("$1")}) order by created_at, seq`,
    [runId],
  );
  return rows.map(toItem);
}

/** Appends to the thread of a locked run; the lock does for a fence. */
export async function appendLocked(
  query: Query,
  run: Pick<LockedRun, "id" | "threadId">,
  items: readonly NewItem[],
  {
    userId,
    after,
  }: {
    /** Who wrote them; whoever the thread belongs to when absent. */
    readonly userId?: string;
    /** The item they follow; default: the newest of the shown branch. */
    readonly after?: string | undefined;
  } = {},
): Promise<Item[]> {
  const time = new Date().toISOString();
  const placed = items.map((item) => ({ ...item, run: run.id }));
  const [row] = await query<{ first: number; parent: string | null }>(
    `with t as (update threads set next_seq = next_seq + $2, previous_leaf = leaf, leaf = $3, updated_at = now() where id = $1
       returning id, coalesce($6::uuid, user_id) as user_id, next_seq - $2 as first, coalesce($7::uuid, previous_leaf) as parent),
     i as (${insertItemsSql("$4", "$5")}) select first, parent from t`,
    [run.threadId, items.length, items.at(-1)!.id, itemsParameter(placed), time, userId ?? null, after ?? null],
  );
  return placeItems(placed, { threadId: run.threadId, firstSeq: row!.first, parent: row!.parent, time });
}

/** A waiting run has all it waited for: anybody may take it again. A child goes on when its root does, which may be at work. */
export async function requeueRun(query: Query, run: LockedRun): Promise<void> {
  if (run.root) {
    await wakeAncestors(query, run.id);
    if (run.root.status === "waiting") await queueRoot(query, run.root);
  } else await queueRoot(query, run);
}

async function queueRoot(query: Query, { id }: Pick<LockedRun, "id">): Promise<void> {
  await query(`update runs set status = 'queued', ${clearWaitSql}, handed_over = true where id = $1`, [id]);
}

/** Ends a locked run, also over somebody who works on it: each open call gets a result that says so. */
export async function endLocked(
  runtime: Runtime,
  query: Query,
  { run, end, before = [] }: { run: Omit<LockedRun, "root"> | LockedRun; end: RunEnd; before?: readonly NewItem[] },
): Promise<RunEndAppend> {
  const isChild = "root" in run && run.root !== undefined;
  await query("update runs set epoch = epoch + 1, status = 'running' where id = $1", [run.id]);
  const { callback } = run.definition.options;
  const signal = { runId: run.id, threadId: run.threadId, agent: run.agent, event: end.status, callback };
  const deliveries = isChild ? [] : deliveriesOf(runtime, { ...signal, ...(end.error ? { error: end.error } : {}) });
  const owner = { runId: run.id, epoch: run.epoch + 1, threadId: run.threadId };
  return endRun(query, owner, { end, before, extras: { deliveries } });
}

export function publishItems(runtime: Runtime, threadId: string, items: readonly Item[]): void {
  if (items.length === 0) return;
  runtime.feeds.publish(threadId, items);
  runtime.deltas.touch(threadId);
}

/** Publishes the end of a run and of the runs below it. */
export function publishEnd(runtime: Runtime, threadId: string, { items, below }: RunEndAppend): void {
  for (const child of below) publishItems(runtime, child.threadId, child.items);
  publishItems(runtime, threadId, items);
}

/** Another run of the thread is in the way. Undefined: it was, a moment ago. */
export function threadBusy(live: string | undefined): Conflict {
  const [who, how] = live === undefined ? ["A run", "cancel it"] : [`Run ${live}`, `POST /api/runs/${live}/cancel`];
  return new Conflict(`${who} of the thread has not ended. Wait for it, or end it first: ${how}`, {
    code: "thread_busy",
  });
}

export function noRun(runId: string): NotFound {
  return new NotFound(`Run ${runId} not found.`, { code: "run_not_found" });
}
