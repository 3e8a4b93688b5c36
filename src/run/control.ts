import type { Caller } from "../protocol/callers.ts";
import { InvalidInput, NotFound } from "../protocol/errors.ts";
import { isId, newId } from "../protocol/ids.ts";
import { itemIdOfCall, type Item, type NewItem } from "../protocol/items.ts";
import type { RunRecord } from "../protocol/runs.ts";
import type { Query } from "../protocol/tools.ts";
import type { RunEnd } from "./append.ts";
import { resultItem, type Call } from "./call-item.ts";
import { endRun } from "./end-run.ts";
import { foldOf } from "./fold.ts";
import { endPending, startNext } from "./pending.ts";
import {
  itemColumns,
  placeItems,
  insertItemsSql,
  itemsParameter,
  runColumns,
  toItem,
  toRun,
  type ItemRow,
  type RunRow,
} from "./rows.ts";
import type { Started } from "./runs.ts";
import type { Runtime } from "./runtime.ts";

/** Stops a run: at once if it is queued or waits, else its owner is told. A run that has ended stays as it is. */
export async function cancelRun(runtime: Runtime, caller: Caller, runId: string): Promise<RunRecord> {
  if (!isId(runId)) throw noRun(runId);
  const which = { runId, userId: caller.userId };
  let ended = await endIdleRun(runtime, which, { status: "cancelled" });
  if (ended === "none" && !(await endPending(runtime, which, { status: "cancelled" }))) {
    // It may have left `pending` for its turn between the two looks.
    ended = await endIdleRun(runtime, which, { status: "cancelled" });
  }
  if (ended === "running") {
    runtime.active.get(runId)?.stop("cancelled");
    runtime.deltas.tellStop(runId);
  }
  const [row] = await runtime.database.query<RunRow>(`select ${runColumns} from runs where id = $1`, [runId]);
  if (!row) throw noRun(runId);
  return toRun(row);
}

export type IdleRun = {
  readonly runId: string;
  readonly userId?: string;
  /** Only if it still waits, and too long. */
  readonly expired?: true;
};

/**
 * Ends a run that nobody works on. `running`: its owner was asked to cancel it instead. The run is locked by a statement of
 * its own, so that what is read after it is newer than any wait or decision.
 */
export async function endIdleRun(
  runtime: Runtime,
  { runId, userId, expired }: IdleRun,
  end: RunEnd,
): Promise<"ended" | "running" | "none"> {
  const done = await runtime.database.transaction(async (query) => {
    const [run] = await query<{ status: string; thread_id: string; epoch: number; late: boolean }>(
      "select status, thread_id, epoch, coalesce(wait_until < now(), false) as late from runs where id = $1 and ($2::uuid is null or user_id = $2) for update",
      [runId, userId ?? null],
    );
    if (!run || (expired && !(run.status === "waiting" && run.late))) return "none";
    if (run.status === "running") {
      await query("update runs set cancel_asked = true where id = $1", [runId]);
      return "running";
    }
    if (run.status !== "queued" && run.status !== "waiting") return "ended";
    await query("update runs set epoch = epoch + 1, status = 'running' where id = $1", [runId]);
    const owner = { runId, epoch: run.epoch + 1, threadId: run.thread_id };
    return { threadId: run.thread_id, appended: await endRun(query, owner, { end }) };
  });
  if (typeof done === "string") return done;
  publish(runtime, done.threadId, done.appended.items);
  if (done.appended.pending > 0) await startNext(runtime, done.threadId);
  return "ended";
}

export type BroughtResult = { readonly callId: string; readonly content: string; readonly isError?: boolean };

/** Appends results of the caller's own tools; the run is queued again when none of its calls is open any more. */
export async function bringResults(
  runtime: Runtime,
  caller: Caller,
  results: readonly BroughtResult[],
): Promise<Started> {
  const byCall = new Map(results.map((result) => [itemIdOfCall(result.callId) ?? "", result]));
  const found = await runtime.database.query<ItemRow>(
    `select ${itemColumns} from items where id = any ($1::uuid[]) and user_id = $2 and kind = 'call' and body ->> 'target' = 'client' and run_id is not null`,
    [[...byCall.keys()].filter(Boolean), caller.userId],
  );
  const calls = found.map(toItem) as Call[];
  if (calls.length === 0 || calls.length < byCall.size)
    throw new InvalidInput("A tool result names a tool_call_id that no run of yours is waiting for.", {
      param: "messages",
    });
  const runId = calls[0]!.runId!;
  if (calls.some((call) => call.runId !== runId))
    throw new InvalidInput("The tool results belong to different runs.", { param: "messages" });

  const done = await runtime.database.transaction(async (query) => {
    const [run] = await query<{ status: string; thread_id: string; user_id: string }>(
      "select status, thread_id, user_id from runs where id = $1 for update",
      [runId],
    );
    if (!run) throw noRun(runId);
    const items = await itemsOfRun(query, runId);
    const open = new Set(foldOf(items).openCalls.map((call) => call.id));
    const fresh = calls
      .filter((call) => open.has(call.id))
      .map((call) => ({ ...resultItem(call, byCall.get(call.id)!), run: runId }));
    if (fresh.length === 0) return { run, items: [], seq: firstResult(items, calls) };
    const appended = await appendUnowned(query, run.thread_id, fresh);
    const stillOpen = open.size - fresh.length;
    if (run.status === "waiting" && stillOpen === 0) {
      const jobId = newId();
      await query(
        "update runs set status = 'queued', wait_reason = null, wait_until = null, handed_over = true, job_id = $2 where id = $1",
        [runId, jobId],
      );
      await runtime.engine.send(query, { id: jobId, runId, userId: run.user_id });
    }
    return { run, items: appended, seq: appended[0]!.seq };
  });
  if (done.items.length > 0) {
    publish(runtime, done.run.thread_id, done.items);
    runtime.engine.wake();
  }
  return {
    runId,
    threadId: done.run.thread_id,
    cursor: { seq: done.seq - 1, live: [] },
    pending: false,
    replayed: done.items.length === 0,
  };
}

function firstResult(items: readonly Item[], calls: readonly Call[]): number {
  const result = items.find(
    (item) => item.kind === "result" && calls.some((call) => call.step === item.step && call.index === item.index),
  );
  return result?.seq ?? items.at(-1)!.seq;
}

/** The caller holds the run's lock, which does for a fence. */
async function appendUnowned(
  query: Query,
  threadId: string,
  items: readonly (NewItem & { readonly run: string })[],
): Promise<Item[]> {
  const time = new Date().toISOString();
  const [row] = await query<{ first: number; parent: string | null }>(
    `with t as (update threads set next_seq = next_seq + $2, previous_leaf = leaf, leaf = $3, updated_at = now() where id = $1
       returning id, user_id, next_seq - $2 as first, previous_leaf as parent),
     i as (${insertItemsSql("$4", "$5")}) select first, parent from t`,
    [threadId, items.length, items.at(-1)!.id, itemsParameter(items), time],
  );
  return placeItems(items, { threadId, firstSeq: row!.first, parent: row!.parent, time });
}

async function itemsOfRun(query: Query, runId: string): Promise<Item[]> {
  return (await query<ItemRow>(`select ${itemColumns} from items where run_id = $1 order by seq`, [runId])).map(toItem);
}

function publish(runtime: Runtime, threadId: string, items: readonly Item[]): void {
  runtime.feeds.publish(threadId, items);
  runtime.deltas.touch(threadId);
}

function noRun(runId: string): NotFound {
  return new NotFound(`There is no run ${runId}.`, { code: "run_not_found" });
}
