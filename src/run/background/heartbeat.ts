import { messageOf } from "../../protocol/base/errors.ts";
import type { Runtime } from "../contract/runtime.ts";

/** How long after it last said that it is alive a process may go on with its runs; then others take them. */
const leaseMs = 10_000;

export type Heartbeat = {
  /** The database has not answered for longer than others wait for a sign of life: nothing begins here until it does. */
  readonly isLost: () => boolean;
  stop(): void;
};

/**
 * Says every one and a half seconds, in two statements for all runs of this process, that it is alive; writes their remaining time
 * back, hears who is to be cancelled, and stops work on runs that somebody else has taken. A process that could not say so
 * in time gives its runs up by itself, and comes back when the database answers.
 */
export function beginHeartbeat(runtime: Runtime, { everyMs = 1500, againMs = 500 } = {}): Heartbeat {
  const { log, active, database } = runtime;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let renewedAt = performance.now();
  let isLost = false;

  async function round(): Promise<void> {
    const began = performance.now();
    try {
      await beat(runtime);
      renewedAt = began;
      if (isLost) log.info({}, "The database answers again; this process takes runs again.");
      isLost = false;
    } catch (error) {
      if (stopped) return;
      const silentMs = Math.round(performance.now() - renewedAt);
      log.warn({ error: messageOf(error), silentMs }, "heartbeat failed");
      // An embedded database has no other process that could take them; it is only busy.
      if (isLost || silentMs < leaseMs || database.kind === "pglite") return;
      isLost = true;
      log.error(
        { silentMs, runs: active.size },
        "The database could not be told for too long that this process is alive: its runs are given up, and go on wherever the database answers.",
      );
      for (const run of active.values()) run.stop("gave-up");
    }
  }

  const next = (waitMs: number) => {
    if (stopped) return;
    timer = setTimeout(() => {
      const began = performance.now();
      void round().finally(() => next(renewedAt >= began ? everyMs : againMs));
    }, waitMs);
  };
  next(everyMs);
  return {
    isLost: () => isLost,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

async function beat(runtime: Runtime): Promise<void> {
  const held = [...runtime.active.values()];
  await runtime.engine.touch(held.flatMap((run) => run.job ?? []));
  const owned = await runtime.database.query<{ id: string; cancel_asked: boolean }>(
    `with held as (select * from unnest($1::uuid[], $2::integer[]) as h (id, epoch)),
     alive as (select r.id, r.root_run, r.cancel_asked from runs r join held h on r.id = h.id and r.epoch = h.epoch and r.status = 'running'),
     b as (update budgets set left_ms = greatest(0, extract(epoch from deadline - now()) * 1000)::bigint
           from alive where budgets.root_run = alive.root_run and deadline is not null)
     select id, cancel_asked from alive`,
    [held.map((run) => run.runId), held.map((run) => run.epoch)],
  );
  const byId = new Map(owned.map((run) => [run.id, run]));
  for (const run of held) {
    const row = byId.get(run.runId);
    // What ended meanwhile is no longer active; what is active but not ours was taken.
    if (!row && runtime.active.get(run.runId) === run) run.stop("lost");
    else if (row?.cancel_asked) run.stop("cancelled");
  }
}
