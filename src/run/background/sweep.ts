import { messageOf } from "../../protocol/base/errors.ts";
import { isEnded } from "../../protocol/threads/runs.ts";
import { endIdleRun } from "../lifecycle/cancel.ts";
import { endLocked, lockRun, publishEnd } from "../lifecycle/locked-run.ts";
import { startNext } from "../lifecycle/message-queue.ts";
import { epochSql } from "../log/standing.ts";
import { resumeRequests } from "../verbs/start-within.ts";
import { isIdle } from "../../store/privacy/retention.ts";
import { removeOldSpending } from "../../store/metering/spending.ts";
import { removeTemporary } from "../threads/temporary-threads.ts";
import type { Runtime } from "../contract/runtime.ts";

const batch = 200;

/** Every wait has an end. One that goes on by itself ends by its last try, which may be about to be taken. */
export async function expireWaits(runtime: Runtime): Promise<void> {
  const late = await runtime.database.query<{ id: string; wait_reason: string }>(
    "select id, wait_reason from runs where status = 'waiting' and parent_run is null and wait_until < now() and retry_at is null limit $1",
    [batch],
  );
  for (const run of late) {
    const error = { code: "expired", message: `Nobody answered in time: the run waited (${run.wait_reason}).` };
    try {
      await endIdleRun(runtime, { runId: run.id, expired: true }, { status: "failed", error });
    } catch (fault) {
      // One that can't be ended must not keep the others waiting.
      runtime.log.warn({ runId: run.id, error: String(fault) }, "a run that waited too long could not be ended");
    }
  }
}

/** Child runs whose root ended without them: its process did not know of them, since another one began them. */
export async function endOrphans(runtime: Runtime): Promise<void> {
  const rows = await runtime.database.query<{ id: string }>(
    `select distinct c.id from runs c join runs root on root.id = c.root_run join runs parent on parent.id = c.parent_run
     where c.parent_run is not null and c.status in ('queued', 'running', 'waiting')
       and (root.status in ('done', 'failed', 'cancelled') or parent.status in ('done', 'failed', 'cancelled')) limit $1`,
    [batch],
  );
  for (const { id } of rows) {
    const done = await runtime.database.transaction(async (query) => {
      const run = await lockRun(query, id);
      if (!run || isEnded(run.status)) return undefined;
      return { run, ended: await endLocked(runtime, query, { run, end: { status: "cancelled" } }) };
    });
    if (!done) continue;
    publishEnd(runtime, done.run.threadId, done.ended);
    runtime.active.get(id)?.stop("lost");
  }
}

/** Messages whose thread has become free without anybody starting them: the process that ended the run died. */
export async function startForgotten(runtime: Runtime): Promise<void> {
  const rows = await runtime.database.query<{ thread_id: string }>(
    `select distinct p.thread_id from pending p where not exists
       (select from runs r where r.thread_id = p.thread_id and r.parent_run is null and r.status in ('queued', 'running', 'waiting')) limit $1`,
    [batch],
  );
  for (const row of rows)
    await startNext(runtime, row.thread_id).catch((error: unknown) =>
      // Those behind it must not wait for it.
      runtime.log.warn({ threadId: row.thread_id, error: messageOf(error) }, "a waiting message could not be started"),
    );
}

/** How long somebody may still be told what was said last: whoever lost an answer asks for it again within a minute. */
const toldMinutes = 5;

/** Removes expired data. Never removes a thread with a live run. */
export async function removeExpired(runtime: Runtime): Promise<void> {
  const { query, transaction } = runtime.database.listing;
  await transaction(async (locked) => {
    // In a statement of its own: the next one then sees a run that was accepted meanwhile.
    const expired = await locked<{ id: string }>(
      `select id from threads t where expires_at < now() and not temporary and updated_at < now() - $2 * interval '1 minute' and ${isIdle}
       limit $1 for update skip locked`,
      [batch, toldMinutes],
    );
    if (expired.length === 0) return;
    await locked(`delete from threads t where id = any ($1::uuid[]) and ${isIdle}`, [expired.map(({ id }) => id)]);
  });
  await query("delete from idempotency_keys where created_at < now() - $1 * interval '1 hour'", [
    runtime.retention.idempotencyHours,
  ]);
  await removeOldSpending(query);
  await query(
    `delete from deltas d where not exists (select from runs r where r.id = d.run_id and r.status = 'running' and r.epoch = ${epochSql("d.attempt")})`,
  );
}

/** Removes what no run began with any more. It looks at all runs, so it comes once an hour. */
export async function removeDefinitions({ database }: Runtime): Promise<void> {
  await database.listing.query(
    `delete from run_definitions d where used_at < now() - interval '1 day' and not exists
       (select from runs r where r.user_id = d.user_id and r.definition_hash = d.hash)`,
  );
}

/** What is done in the rounds, and in every how manieth. */
const duties: readonly (readonly [(runtime: Runtime) => Promise<void>, number])[] = [
  [expireWaits, 1],
  [endOrphans, 1],
  [resumeRequests, 1],
  [startForgotten, 1],
  [removeExpired, 6],
  [removeTemporary, 6],
  [removeDefinitions, 360],
];

type SweepOptions = {
  readonly everyMs?: number;
  /** Done in each round, after all others. */
  readonly also?: readonly (() => Promise<void>)[];
};

/** Does the rounds until stopped; each by itself, so that a fault in one does not keep the others from theirs. */
export function beginSweeping(runtime: Runtime, { everyMs = 10_000, also = [] }: SweepOptions = {}): { stop(): void } {
  let busy = false;
  let stopped = false;
  let turn = 0;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    void round().finally(() => {
      busy = false;
    });
  }, everyMs);
  async function round(): Promise<void> {
    const now = turn++;
    for (const [duty, every] of [...duties, ...also.map((duty) => [duty, 1] as const)]) {
      if (now % every !== 0) continue;
      if (stopped) return;
      try {
        await duty(runtime);
      } catch (error) {
        // The database may be closed under the last one.
        if (!stopped)
          runtime.log.warn({ error: String(error), duty: duty.name }, "maintenance failed; retrying at the next round");
      }
    }
  }
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
