import { messageOf } from "../../protocol/base/errors.ts";
import { graceMs } from "../../store/driver/deadline.ts";
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
 * in time gives its runs up by its own clock, whatever became of what it said, and comes back when the database answers.
 */
export function beginHeartbeat(runtime: Runtime, { everyMs = 1500, againMs = 500 } = {}): Heartbeat {
  const { log, active, database } = runtime;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let lease: NodeJS.Timeout | undefined;
  let renewedAt: number;
  let isLost = false;

  function renew(at: number): void {
    renewedAt = at;
    if (isLost) log.info({}, "The database is back; taking runs again.");
    isLost = false;
    clearTimeout(lease);
    // An embedded database has no other process that could take them; it is only busy.
    if (database.kind === "pglite" || stopped) return;
    // In two parts, so that a process which stood still first hears what it was answered meanwhile.
    const leftMs = at + leaseMs - graceMs - performance.now();
    lease = setTimeout(() => {
      lease = setTimeout(giveUp, graceMs).unref();
    }, leftMs).unref();
  }

  function giveUp(): void {
    isLost = true;
    log.error(
      { silentMs: Math.round(performance.now() - renewedAt), runs: active.size },
      "Could not renew the leases in time: the database did not answer. The runs continue on a process that reaches it.",
    );
    for (const run of active.values()) run.stop("gave-up");
  }

  async function round(): Promise<void> {
    const began = performance.now();
    try {
      await beat(runtime);
      renew(began);
    } catch (error) {
      if (stopped) return;
      const silentMs = Math.round(performance.now() - renewedAt);
      log.warn({ error: messageOf(error), silentMs }, "heartbeat failed");
    }
  }

  const next = (waitMs: number) => {
    if (stopped) return;
    timer = setTimeout(() => {
      const began = performance.now();
      void round().finally(() => next(renewedAt >= began ? everyMs : againMs));
    }, waitMs);
  };
  renew(performance.now());
  next(everyMs);
  return {
    isLost: () => isLost,
    stop() {
      stopped = true;
      clearTimeout(timer);
      clearTimeout(lease);
    },
  };
}

/** Waits for no lock: whoever holds a row of one run must not make all others look dead. */
async function beat(runtime: Runtime): Promise<void> {
  const working = [...runtime.active.values()];
  await runtime.engine.touch(working.flatMap((run) => run.job ?? []));
  const owned = await runtime.database.pulse.query<{ id: string; cancel_asked: boolean }>(
    `with mine as (select * from unnest($1::uuid[], $2::integer[]) as m (id, epoch)),
     alive as (select r.id, r.root_run, r.cancel_asked from runs r join mine on r.id = mine.id and r.epoch = mine.epoch and r.status = 'running'),
     free as (select root_run from budgets where root_run in (select root_run from alive) and deadline is not null for no key update skip locked),
     b as (update budgets set left_ms = greatest(0, extract(epoch from deadline - now()) * 1000)::bigint
           from free where budgets.root_run = free.root_run and deadline is not null)
     select id, cancel_asked from alive`,
    [working.map((run) => run.runId), working.map((run) => run.epoch)],
  );
  const byId = new Map(owned.map((run) => [run.id, run]));
  for (const run of working) {
    const row = byId.get(run.runId);
    // Runs that ended meanwhile are no longer active; active ones that are not ours were taken over.
    if (!row && runtime.active.get(run.runId) === run) run.stop("lost");
    else if (row?.cancel_asked) run.stop("cancelled");
  }
}
